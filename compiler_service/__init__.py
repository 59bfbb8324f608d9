"""The compiler service: a snapshot of a branch and one turn's request in, provider-neutral turns out.

Compilation is a chain of named passes (``compiler_service.passes``), each a pure
function of a frozen state; a profile (``compiler_service.profiles``) is the list
of passes (ADR-0007).
"""

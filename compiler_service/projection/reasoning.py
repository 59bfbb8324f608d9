"""Reasoning as plain text, for endpoints that want it echoed."""

from __future__ import annotations

from collections.abc import Iterable

from compiler_service.native.turns import Part, ThinkingPart


def reasoning_of(parts: Iterable[Part]) -> str:
    """Return the reasoning of a turn's parts in one text, "" where none is known."""
    return "".join([part.thinking for part in parts if isinstance(part, ThinkingPart)])

"""The passes: pure functions from state to state, one a module.

A pass reads the state it is given and returns another; it reads no clock, draws
nothing at random and changes nothing. It raises where its rule is broken, and
adds a note to the report for everything it drops, moves, merges or leaves out.
"""

from __future__ import annotations

from collections.abc import Callable

from compiler_service.state import CompileState

Pass = Callable[[CompileState], CompileState]
"""One step of a compilation."""

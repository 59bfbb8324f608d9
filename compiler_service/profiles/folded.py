"""FOLDED: system text, retrieved context and action results fold into user turns (ADR-0007 D2)."""

from __future__ import annotations

from compiler_service.folded.compiling import compile_folded
from compiler_service.passes import Pass
from compiler_service.passes.select import select

FOLDED: tuple[Pass, ...] = (select, compile_folded)
"""The passes, in the order in which they run; the second one has its own, stretch by stretch."""

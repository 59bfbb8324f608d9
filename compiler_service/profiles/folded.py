"""FOLDED: system text, retrieved context and action results fold into user turns (ADR-0007 D2)."""

from __future__ import annotations

from compiler_service.passes import Pass
from compiler_service.passes.fold import fold
from compiler_service.passes.merge import merge
from compiler_service.passes.project import project
from compiler_service.passes.render import render
from compiler_service.passes.screen import screen
from compiler_service.passes.select import select

FOLDED: tuple[Pass, ...] = (select, screen, project, merge, fold, render)
"""The passes, in the order in which they run."""

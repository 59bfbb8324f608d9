"""NATIVE: real tool turns and signed reasoning, system text beside the turns."""

from __future__ import annotations

from compiler_service.native.drop import drop
from compiler_service.native.finish import finish
from compiler_service.native.merge import merge
from compiler_service.native.order import order
from compiler_service.native.pair import pair
from compiler_service.native.read import read
from compiler_service.native.synthesize import synthesize
from compiler_service.passes import Pass
from compiler_service.passes.screen import screen
from compiler_service.passes.select import select
from compiler_service.passes.summary import set_summary_apart

NATIVE: tuple[Pass, ...] = (
    select,
    screen,
    set_summary_apart,
    read,
    pair,
    drop,
    synthesize,
    order,
    merge,
    finish,
)
"""The passes, in the order in which they run."""

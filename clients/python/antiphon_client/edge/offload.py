"""Keeping large work off the event loop.

A service has one loop; work that takes long on it holds up every other call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

INLINE_BYTES = 64 * 1024
"""Input up to which work is done on the event loop, in bytes: some 4 ms of it."""


async def run_weighted(weight: int, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Do small work at once and large work in a thread, so that it does not hold up other calls.

    Args:
        weight: Bytes of input, as the measure of the work.
        work: Called with the other arguments; the current call is known to it.
        *args: Its arguments.
        **kwargs: Its keyword arguments.
    """
    if weight <= INLINE_BYTES:
        return work(*args, **kwargs)
    return await asyncio.to_thread(work, *args, **kwargs)

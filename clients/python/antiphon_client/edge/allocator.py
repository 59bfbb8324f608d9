"""The C library's allocator in a process that serves."""

from __future__ import annotations

import ctypes

_ARENA_MAX, _TRIM_THRESHOLD, _MMAP_THRESHOLD = -8, -1, -3
"""``M_ARENA_MAX``, ``M_TRIM_THRESHOLD`` and ``M_MMAP_THRESHOLD`` of glibc's ``mallopt``."""

SPARE_BYTES = 32 * 2**20
"""Freed memory that a process keeps for later instead of giving it back; also what is mapped on its own."""


def spare_pages() -> None:
    """Have memory that was freed serve again; call it before a process has threads.

    A new page costs some microseconds, and a call that moves a megabyte may take
    hundreds of them. What a call holds goes from thread to thread: the transport's,
    the event loop's, a reading or a folding one's. glibc gives each thread an arena of
    its own, where what another has freed is of no use, so all share one here. And it
    gives free memory at an arena's end back to the system, to fetch it again for the
    next large reply: up to ``SPARE_BYTES`` are kept. Protobuf gives back what is free at
    every 10,000th block of memory that it frees, whatever is set here.

    Does nothing where the C library is another.
    """
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    set_option(_ARENA_MAX, 1)
    set_option(_TRIM_THRESHOLD, SPARE_BYTES)
    set_option(_MMAP_THRESHOLD, SPARE_BYTES)

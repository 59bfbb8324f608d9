"""The C library's allocator in a process that serves."""

from __future__ import annotations

import ctypes

_ARENA_MAX = -8
"""``M_ARENA_MAX`` of glibc's ``mallopt``."""


def share_one_arena() -> None:
    """Have all threads allocate from one arena; call it before there are others.

    glibc gives each thread its own. What a call holds goes from thread to thread: the
    transport's, the event loop's, a reading or a folding one's. So memory that one has
    freed is none for the next, which takes new pages, at some microseconds each, and
    the process holds a multiple of what it uses. Little is lost: Python's lock lets
    one thread at a time allocate anyway.

    Does nothing where the C library is another.
    """
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    set_option(_ARENA_MAX, 1)

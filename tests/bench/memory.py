"""Freed memory serves again in every process of the bench, a peer's as well.

At its defaults glibc gives a large block back to the system when it is freed, or not,
by where other blocks happen to lie: a client then fetches some thousand pages for a
reply of two megabytes, or none, and a row tells of that and not of the work.
"""

from __future__ import annotations

import os

from antiphon_client.edge.allocator import SPARE_BYTES, spare_pages


def keep_freed_memory() -> None:
    """Have this process and all that it starts keep what they free; call it before there are threads."""
    spare_pages()
    os.environ.update(
        MALLOC_ARENA_MAX="1",
        MALLOC_TRIM_THRESHOLD_=str(SPARE_BYTES),
        MALLOC_MMAP_THRESHOLD_=str(SPARE_BYTES),
    )

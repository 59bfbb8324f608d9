"""Stores: where branches are kept, behind one port (``history_service.storage.port``)."""

from __future__ import annotations

from history_service.storage.port import HistoryStore

MEMORY_URL = "memory:"
SQLITE_SCHEME = "sqlite:"


def open_store(url: str) -> HistoryStore:
    """Make the store a URL names; it opens nothing before its ``start``.

    Args:
        url: ``memory:`` (lost with the process) or ``sqlite:PATH`` (one file).

    Raises:
        ValueError: The URL names no store.
    """
    # A store's library is imported only where that store is used.
    if url == MEMORY_URL:
        from history_service.storage.memory import MemoryStore

        return MemoryStore()
    path = url.removeprefix(SQLITE_SCHEME)
    if path and path != url:
        from history_service.storage.sqlite import open_sqlite_store

        return open_sqlite_store(path)
    raise ValueError(f"not a store: {url!r}; use memory: or sqlite:PATH")

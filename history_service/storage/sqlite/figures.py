"""What a SQLite store publishes about itself."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Callable, Iterator, Mapping

import apsw
from prometheus_client.core import HistogramMetricFamily

from antiphon_client.edge.metrics import Family, Figure, LabelledFigure
from history_service.storage.sqlite.connection import open_observer
from history_service.storage.sqlite.writer import GroupWriter

COUNTED_AT_MOST = 100_000
"""Leases and dead letters are counted up to this many, so that a scrape stays quick."""

_MAIL = (
    "SELECT coalesce(sum(message_count), 0),"
    " (SELECT count(*) FROM"
    f" (SELECT 1 FROM exchange_inbox WHERE lease_id IS NOT NULL LIMIT {COUNTED_AT_MOST})),"
    f" (SELECT count(*) FROM (SELECT 1 FROM exchange_dead_letter LIMIT {COUNTED_AT_MOST}))"
    " FROM exchange"
)


class StoreFigures:
    """The figures of one store: its file, its writer, its mail."""

    def __init__(self, path: str, writer: Callable[[], GroupWriter | None]) -> None:
        """Publish about the database at ``path``; ``writer`` returns its writer while it is open."""
        self._writer = writer
        self._figures = (
            Figure("antiphon_store_bytes", "Size of the database file.", lambda: _size(path)),
            Figure("antiphon_store_log_bytes", "Size of the write-ahead log.", lambda: _size(f"{path}-wal")),
            LabelledFigure(
                "antiphon_exchange_messages",
                "Messages in exchanges, by state.",
                ("state",),
                lambda: _mail(path),
            ),
        )

    def families(self) -> Iterator[Family]:
        """Yield the figures; see ``Published``."""
        for figure in self._figures:
            yield from figure.families()
        writer = self._writer()
        if writer is None:
            return
        yield from Figure(
            "antiphon_store_queued_writes",
            "Writes waiting for the store or under way.",
            lambda: writer.pending,
        ).families()
        seconds = HistogramMetricFamily(
            "antiphon_store_commit_seconds", "Time a commit takes to reach stable storage."
        )
        writer.commit_seconds.add_to(seconds)
        yield seconds
        works = HistogramMetricFamily("antiphon_store_commit_writes", "Writes that share a commit.")
        writer.commit_works.add_to(works)
        yield works


def _size(path: str) -> float:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0.0


def _mail(path: str) -> Mapping[tuple[str, ...], float]:
    """Count what is queued; a connection of its own each time, as scrapes come from any thread."""
    counts = (math.nan, math.nan, math.nan)
    with contextlib.suppress(apsw.Error), contextlib.closing(open_observer(path)) as connection:
        queued, leased, dead = next(iter(connection.execute(_MAIL)))
        counts = (queued - leased, leased, dead)
    return dict(zip((("queued",), ("leased",), ("dead",)), counts, strict=True))

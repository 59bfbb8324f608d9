"""One pass of a copy: make the destination as the source is, then compare both by their hashes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

from history_service.copying.comparing import Difference, Digest, counted, differences
from history_service.copying.destination import Destination, Row, open_destination
from history_service.copying.source import Source, open_source
from history_service.copying.tables import TABLES, Table

Moved = Callable[[int], object]
"""Is told how many more rows of the source were read."""
ShowProgress = Callable[[str, int], AbstractContextManager[Moved]]
"""Shows a progress: its title, and the rows there are."""

_BATCH_ROWS = 1000
_BATCH_BYTES = 4 * 2**20
"""Bounds of one transaction on the destination, and of the rows held in memory for it."""


@dataclass(frozen=True, slots=True)
class TableReport:
    """What a comparison of a table found.

    Attributes:
        table: Its name.
        source_rows: Rows in the source.
        source_sha256: Over those rows, in hexadecimal digits.
        destination_rows: Rows in the destination.
        destination_sha256: Over those.
        different: Keys whose rows are not the same.
    """

    table: str
    source_rows: int
    source_sha256: str
    destination_rows: int
    destination_sha256: str
    different: int

    @property
    def same(self) -> bool:
        """Whether both sides hold the same rows."""
        return self.different == 0 and self.source_sha256 == self.destination_sha256


@dataclass(frozen=True, slots=True)
class Report:
    """What a pass did.

    Attributes:
        changed: Rows written to the destination, or deleted there.
        tables: What the comparison found.
        compared_only: Whether the copy was finished before and nothing was to be written.
        finished: Whether services may serve the destination.
    """

    changed: int
    tables: list[TableReport]
    compared_only: bool
    finished: bool

    @property
    def same(self) -> bool:
        """Whether both sides hold the same rows in all tables."""
        return all(table.same for table in self.tables)


def copy_store(path: str, url: str, progress: ShowProgress, *, last: bool) -> Report:
    """Run one pass.

    A finished copy is compared and never written: it may have been served since.

    Args:
        path: The source's database file.
        url: The destination's libpq URL.
        progress: Shows how far it is.
        last: Whether this is the last pass: the source's service is stopped, no other can start
            until it is over, and a copy that is the same is finished.

    Returns:
        The report.

    Raises:
        CopyError: The source cannot be read, or the destination is not to be written.
    """
    with open_source(path, stopped=last) as source, open_destination(url, source.store_id) as destination:
        rows = source.count()
        changed = 0
        if not destination.finished:
            with progress("copying", rows) as moved:
                changed = sum(_copy_table(source, destination, table, moved) for table in TABLES)
        with progress("comparing", rows) as moved:
            tables = [_compare_table(source, destination, table, moved) for table in TABLES]
        if last and not destination.finished and all(table.same for table in tables):
            destination.finish()
            return Report(changed, tables, compared_only=False, finished=True)
        return Report(changed, tables, compared_only=destination.finished, finished=destination.finished)


def _copy_table(source: Source, destination: Destination, table: Table, moved: Moved) -> int:
    """Make a table of the destination as the source's is; return how many rows changed."""
    changed = 0
    if table.removed_first:
        changed = _write(destination, table, _only_removed(_differences(source, destination, table, _unseen)))
    inserted = _write(destination, table, _differences(source, destination, table, moved))
    # What was removed to be replaced is counted by its insertion.
    return max(changed, inserted)


def _unseen(more: int) -> None:
    """Report nothing: the rows are read again."""


def _only_removed(found: Iterator[Difference]) -> Iterator[Difference]:
    return (Difference(None, each.found) for each in found if each.found is not None)


def _write(destination: Destination, table: Table, found: Iterator[Difference]) -> int:
    """Write differences away; return how many they were."""
    batch = _Batch(destination, table)
    for each in found:
        batch.add(each)
    batch.flush()
    return batch.changed


def _differences(
    source: Source, destination: Destination, table: Table, moved: Moved
) -> Iterator[Difference]:
    rows = counted(source.rows(table), moved)
    return differences(rows, destination.rows(table), len(table.key_names))


class _Batch:
    """Rows on their way into one table, a transaction a batch."""

    def __init__(self, destination: Destination, table: Table) -> None:
        self._destination = destination
        self._table = table
        self._keys: list[Row] = []
        self._rows: list[Row] = []
        self._bytes = 0
        self.changed = 0

    def add(self, difference: Difference) -> None:
        """Have a row written as it is wanted."""
        self.changed += 1
        if difference.found is not None:
            self._keys.append(difference.found[: len(self._table.key_names)])
        if difference.wanted is not None:
            self._rows.append(difference.wanted)
            long = self._table.long_place
            self._bytes += 0 if long is None else len(difference.wanted[long])
        if len(self._keys) + len(self._rows) >= _BATCH_ROWS or self._bytes >= _BATCH_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what has gathered."""
        if not self._keys and not self._rows:
            return
        self._destination.write(self._table, self._keys, self._rows)
        self._keys, self._rows, self._bytes = [], [], 0


def _compare_table(source: Source, destination: Destination, table: Table, moved: Moved) -> TableReport:
    ours, theirs = Digest(), Digest()
    compared = ((row, row) for row in ours.of(row for row, _ in counted(source.rows(table), moved)))
    found = differences(compared, theirs.of(destination.rows(table)), len(table.key_names))
    different = sum(1 for _ in found)
    return TableReport(table.name, ours.rows, ours.hexdigest(), theirs.rows, theirs.hexdigest(), different)

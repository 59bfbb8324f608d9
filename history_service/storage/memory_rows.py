"""The memory store's rows: how they are kept in order and found again."""

from __future__ import annotations

import uuid
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from history_service.storage.memory_exchange import MemoryExchanges
from history_service.storage.port import AnchorNotFoundError, BranchRow, ChangeRow, Member, RecordedResponse


@dataclass(slots=True)
class Row:
    """A member row, or a view row, which has only the first four fields."""

    order_key: int
    message_id: str
    added: int
    removed: int | None = None
    kind: int = 0
    link_id: str | None = None
    interim: bool = False
    body: int = 0

    def lives_at(self, revision: int) -> bool:
        """Whether a branch holds it at a revision."""
        return self.added <= revision and (self.removed is None or self.removed > revision)

    def as_member(self) -> Member:
        """Return it as the port shows member rows."""
        return Member(
            self.message_id, self.order_key, self.kind, self.added, self.link_id, self.interim, self.body
        )


def order_key_of(row: Row) -> int:
    """Return a row's order key, for searches."""
    return row.order_key


class Rows:
    """Rows by order key, and the versions of each id by age."""

    def __init__(self) -> None:
        self.ordered: list[Row] = []
        self.versions: dict[str, list[Row]] = {}

    def add(self, row: Row) -> None:
        """Put in a row."""
        if not self.ordered or row.order_key >= self.ordered[-1].order_key:
            self.ordered.append(row)
        else:
            self.ordered.insert(bisect_right(self.ordered, row.order_key, key=order_key_of), row)
        self.versions.setdefault(row.message_id, []).append(row)

    def discard(self, row: Row) -> None:
        """Take out the row just put in."""
        self.ordered.remove(row)
        self.versions[row.message_id].remove(row)

    def only(self, kept: Callable[[Row], bool]) -> Rows:
        """Return these rows without some; the rows themselves are shared."""
        rows = Rows()
        rows.ordered = [row for row in self.ordered if kept(row)]
        for message_id, versions in self.versions.items():
            left = [row for row in versions if kept(row)]
            if left:
                rows.versions[message_id] = left
        return rows

    def live(self, message_id: str) -> Row | None:
        """Return the row of an id that has not ended."""
        versions = self.versions.get(message_id)
        return versions[-1] if versions and versions[-1].removed is None else None

    def at(self, message_id: str, revision: int) -> Row | None:
        """Return the row of an id that lives at a revision."""
        return next((row for row in self.versions.get(message_id, ()) if row.lives_at(revision)), None)

    def all_live(self) -> Iterator[Row]:
        """Yield the rows that have not ended, in order."""
        return (row for row in self.ordered if row.removed is None)

    def scan(self, revision: int, after: str | None, descending: bool = False) -> Iterator[Row]:
        """Yield the rows living at a revision, from the one after ``after`` on.

        Raises:
            AnchorNotFoundError: ``after`` is given and does not live at the revision.
        """
        low, high = 0, len(self.ordered)
        if after is not None:
            anchor = self.at(after, revision)
            if anchor is None:
                raise AnchorNotFoundError(after)
            if descending:
                high = bisect_left(self.ordered, anchor.order_key, key=order_key_of)
            else:
                low = bisect_right(self.ordered, anchor.order_key, key=order_key_of)
        positions: Iterable[int] = range(high - 1, low - 1, -1) if descending else range(low, high)
        rows = (self.ordered[position] for position in positions)
        return (row for row in rows if row.lives_at(revision))


@dataclass(slots=True)
class View:
    """A selected view and its rows; ``ended`` is the revision that let it go."""

    begun: int
    ended: int | None = None
    rows: Rows = field(default_factory=Rows)


@dataclass(slots=True)
class BranchRecord:
    """A branch with all that belongs to it."""

    row: BranchRow
    metadata: list[tuple[int, str]]
    members: Rows = field(default_factory=Rows)
    views: dict[int, View] = field(default_factory=dict)
    changes: list[ChangeRow] = field(default_factory=list)


class StoredBranches:
    """All that the memory store keeps.

    Attributes:
        branches: By tenant and branch id.
        bodies: By number.
        body_uses: How many member rows refer to each body.
        responses: By tenant and request id: when each was recorded, and what.
        exchanges: The exchanges.
        writer_id: The writer's name in commit positions.
    """

    def __init__(self) -> None:
        self.branches: dict[tuple[str, str], BranchRecord] = {}
        self.bodies: dict[int, bytes] = {}
        self.body_uses: Counter[int] = Counter()
        self._last_body = 0
        self.responses: dict[tuple[str, str], tuple[int, RecordedResponse]] = {}
        self.exchanges = MemoryExchanges()
        self.writer_id = str(uuid.uuid4())
        self._counter = 0

    def next_counter(self) -> int:
        """Return how many changes were recorded before this one."""
        self._counter += 1
        return self._counter - 1

    def add_body(self, body: bytes) -> int:
        """Keep a body; return its number."""
        self._last_body += 1
        self.bodies[self._last_body] = body
        return self._last_body

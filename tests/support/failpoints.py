"""A store whose transactions stop where a test says so: between any two primitives, or at the commit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from history_service.storage.port import HistoryStore, ReadTransaction, WriteTransaction
from history_service.storage.sqlite import SqliteStore
from history_service.storage.sqlite.writer import GroupWriter

T = TypeVar("T")


class Steps:
    """Counts the steps of writes, and does something at one of them.

    Attributes:
        names: The primitives reached so far, and ``end`` after each write's last.
    """

    def __init__(self, at: int, act: Callable[[], object]) -> None:
        """Do ``act`` at the step of that number, from 1."""
        self.names: list[str] = []
        self._at = at
        self._act = act

    def reach(self, name: str) -> None:
        """Count a step."""
        self.names.append(name)
        if len(self.names) == self._at:
            self._act()


class FailpointStore:
    """A store that tells a test of every step of its writes while ``steps`` is set.

    Attributes:
        steps: Is told of every primitive of a write and of its end.
        between: Called after every write, with its ``starts_commit``; not after those made in it.
        shared: As of the store.
    """

    def __init__(self, store: HistoryStore) -> None:
        self._store = store
        self.shared = store.shared
        self.steps: Steps | None = None
        self.between: Callable[[bool], Awaitable[None]] | None = None

    async def start(self) -> None:
        """Start the store."""
        await self._store.start()

    async def close(self) -> None:
        """Close the store."""
        await self._store.close()

    async def read(self, work: Callable[[ReadTransaction], T]) -> T:
        """Read as ever."""
        return await self._store.read(work)

    async def write(self, work: Callable[[WriteTransaction], T], *, starts_commit: bool = False) -> T:
        """Write, telling of every step."""
        result = await self._store.write(self._told(work), starts_commit=starts_commit)
        between, self.between = self.between, None
        if between is not None:
            await between(starts_commit)
            self.between = between
        return result

    def _told(self, work: Callable[[WriteTransaction], T]) -> Callable[[WriteTransaction], T]:
        steps = self.steps
        if steps is None:
            return work
        begun = len(steps.names)

        def told(tx: WriteTransaction) -> T:
            # A store may run a work again; then it fails at the same point again.
            del steps.names[begun:]
            traced: Any = _TracedTransaction(tx, steps.reach)
            result = work(traced)
            steps.reach("end")
            return result

        return told


class _Traced:
    """Tells of every method called."""

    def __init__(self, inner: Any, reach: Callable[[str], None]) -> None:
        self._inner = inner
        self._reach = reach

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)

        def call(*arguments: Any, **options: Any) -> Any:
            self._reach(name)
            return method(*arguments, **options)

        return call


class _TracedTransaction(_Traced):
    """A transaction, its exchange's part included."""

    @property
    def exchange(self) -> Any:
        return _Traced(self._inner.exchange, self._reach)


class CommitWriter(GroupWriter):
    """Calls back around each commit while the hooks are set."""

    before_commit: Callable[[], object] | None = None
    after_commit: Callable[[], object] | None = None

    def _commit(self, group: list[Any]) -> None:
        if self.before_commit is not None:
            self.before_commit()
        super()._commit(group)
        if self.after_commit is not None:
            self.after_commit()


def commit_store(path: str, writer: type[CommitWriter]) -> SqliteStore:
    """Return a SQLite store with that writer."""
    store = SqliteStore(path)
    store.writer_type = writer
    return store

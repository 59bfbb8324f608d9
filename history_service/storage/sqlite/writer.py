"""The one writer: a thread that drains a queue and commits in groups.

There is no commit timer. While one group is on its way to the disk the next
one gathers in the queue, so a lone caller waits for one sync and many callers
share it (history design, Storage; quality design, Speed).

Works come to the queue in bundles: what the event loop brings, until several
turns of it in a row have brought none. A writer woken by the first of many would
commit that one alone, and each commit takes the interpreter's lock from the loop
several times over. Where the last commit was of one work and nothing is under
way, the caller is alone and its work is handed over at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import apsw

from antiphon_client.edge.metrics import Buckets
from antiphon_client.errors import OverloadedError, ShuttingDownError
from history_service.storage.sqlite.failures import end_statements, translate
from history_service.storage.sqlite.transaction import SqliteTransaction

if TYPE_CHECKING:
    # Needs a package that only encrypted stores need.
    from history_service.storage.envelope import StoreKeys

Work = Callable[[Any], Any]

_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_WORKS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
"""Bounds of the buckets that commits are counted in, by how long they take and how many works they have."""

PATIENCE_SECONDS = 20.0
"""How long the writer does not wait for readers once it has waited in vain, ``BUSY_MILLISECONDS`` long."""
BUNDLE_WORKS = 16
"""Works with which a bundle is complete, whatever the loop still brings: the writer begins with them."""
QUIET_TURNS = 16
"""Turns of the event loop without a work after which a bundle is complete."""


@dataclass(frozen=True, slots=True)
class WriterLimits:
    """Bounds of the writer.

    Attributes:
        group_works: Works in one commit.
        group_bytes: Bytes after which a group is committed, whatever else is queued.
        queued_works: Works waiting or under way; one more is refused with OVERLOADED.
        checkpoint_pages: Pages in the write-ahead log from which on they are
            copied into the database.
        full_checkpoint_pages: Pages in the log from which on the writer waits
            for readers, so that the log starts anew and stays bounded.
    """

    group_works: int = 256
    group_bytes: int = 8 * 2**20
    queued_works: int = 4096
    checkpoint_pages: int = 4000
    full_checkpoint_pages: int = 32000


class _Job:
    __slots__ = ("failure", "future", "result", "starts_commit", "work")

    def __init__(self, work: Work, starts_commit: bool, future: asyncio.Future[Any]) -> None:
        self.work = work
        self.starts_commit = starts_commit
        self.future = future
        self.result: Any = None
        self.failure: BaseException | None = None


class GroupWriter:
    """Runs works one after another on its own thread and answers each after its commit.

    The public methods belong to the event loop on which the writer was made.

    Attributes:
        commit_seconds: How long commits took to reach stable storage.
        commit_works: How many works they had.
    """

    def __init__(
        self, connection: apsw.Connection, limits: WriterLimits, store_keys: StoreKeys | None = None
    ) -> None:
        """Start the thread.

        Args:
            connection: The writing connection, migrated; the writer's alone
                until ``close`` has returned.
            limits: Bounds of groups, queue and log.
            store_keys: The keys of an encrypted store.
        """
        self._connection = connection
        self._transaction = SqliteTransaction(connection, store_keys)
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._bundle: list[_Job] = []
        self._works_of_last = 1
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._pending = 0
        self._closed = False
        self._stopping = False
        self._first: _Job | None = None
        self._log_pages = 0
        self._checkpoint_at = limits.checkpoint_pages
        self._hurried_until = 0.0
        self.commit_seconds = Buckets(_SECONDS)
        self.commit_works = Buckets(_WORKS)
        connection.set_wal_hook(self._note_log_pages)
        self._thread = threading.Thread(target=self._run, name="history-writer", daemon=True)
        self._thread.start()

    def submit(self, work: Work, *, starts_commit: bool = False) -> asyncio.Future[Any]:
        """Queue a work; its result arrives after its commit is on stable storage.

        Args:
            work: Called on the writer's thread with the transaction.
            starts_commit: Whether it begins a group; those before it are answered first.

        Raises:
            OverloadedError: Too many works are queued already.
            ShuttingDownError: The store is closing.
        """
        if self._closed:
            raise ShuttingDownError("the store is closing")
        if self._pending >= self._limits.queued_works:
            raise OverloadedError(f"{self._pending} writes are waiting for the store")
        future: asyncio.Future[Any] = self._loop.create_future()
        self._pending += 1
        self._bundle.append(_Job(work, starts_commit, future))
        if self._pending == 1 and self._works_of_last == 1:
            self._queue_bundle()
        elif len(self._bundle) == 1:
            self._loop.call_soon(self._hand_over, 0, 0)
        return future

    @property
    def pending(self) -> int:
        """Works waiting or under way; from any thread."""
        return self._pending

    def _hand_over(self, known: int, quiet_turns: int) -> None:
        """Queue the bundle once it is complete; else look again when the loop has turned.

        Args:
            known: Works it had a turn ago.
            quiet_turns: Turns before this one that have brought none.
        """
        size = len(self._bundle)
        quiet_turns = quiet_turns + 1 if size == known else 0
        if size < BUNDLE_WORKS and quiet_turns < QUIET_TURNS:
            self._loop.call_soon(self._hand_over, size, quiet_turns)
        else:
            self._queue_bundle()

    def _queue_bundle(self) -> None:
        for job in self._bundle:
            self._queue.put(job)
        self._bundle.clear()

    async def close(self) -> None:
        """Refuse new works, finish the queued ones, end the thread."""
        if not self._closed:
            self._closed = True
            self._queue_bundle()
            self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    # On the thread

    def _run(self) -> None:
        while not self._stopping:
            job = self._first or self._queue.get()
            self._first = None
            if job is None:
                return
            group = [job]
            try:
                self._run_group(group)
            except BaseException as error:
                self._fail_group(group, error)
            self._deliver(group)
            self._checkpoint()

    def _run_group(self, group: list[_Job]) -> None:
        """Run the group's first work and those that queue up meanwhile, adding them to it; then commit."""
        limits, transaction = self._limits, self._transaction
        self._begin(careful=False)
        job: _Job | None = group[0]
        while job is not None:
            if not self._run_job(job):
                self._run_again(group)
            if len(group) >= limits.group_works or transaction.group_bytes >= limits.group_bytes:
                break
            job = self._take_queued()
            if job is not None and job.starts_commit:
                self._first = job
                break
            if job is not None:
                group.append(job)
        try:
            transaction.flush()
        except Exception:
            if not self._connection.in_transaction:
                raise
            self._run_again(group)
        started = time.perf_counter()
        self._commit(group)
        self.commit_seconds.observe(time.perf_counter() - started)
        self.commit_works.observe(len(group))

    def _begin(self, *, careful: bool) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        self._transaction.begin_group(careful=careful)

    def _take_queued(self) -> _Job | None:
        """The next work that is queued already; notes the end of the queue."""
        try:
            job = self._queue.get_nowait()
        except queue.Empty:
            return None
        self._stopping = job is None
        return job

    def _run_job(self, job: _Job) -> bool:
        """Run a work, keep its result or its failure; false when the group has to run again without it."""
        transaction = self._transaction
        transaction.begin_work()
        job.failure = None
        try:
            job.result = job.work(transaction)
            transaction.end_work()
        except BaseException as error:
            if not self._connection.in_transaction:
                raise  # SQLite gave the whole group up: a full disk, an I/O error.
            end_statements(error)
            job.failure = translate(error, self._connection)
            return transaction.undo_work()
        return True

    def _run_again(self, group: list[_Job]) -> None:
        """Start the group anew, now so that each work can be undone by itself."""
        self._connection.execute("ROLLBACK")
        self._transaction.forget()
        self._begin(careful=True)
        for job in group:
            self._run_job(job)

    def _commit(self, group: list[_Job]) -> None:
        """Put the group on stable storage; ``group`` is answered after this returns."""
        self._connection.execute("COMMIT")

    def _fail_group(self, group: list[_Job], error: BaseException) -> None:
        """Roll back and fail every work of the group.

        Also those that failed by themselves: it may have been over something
        that another work of the group did and that is now undone.
        """
        self._transaction.forget()
        for job in group:
            job.failure = translate(error, self._connection)
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except apsw.Error:
            # The next BEGIN meets the same trouble and tells its callers.
            return

    def _note_log_pages(self, _connection: apsw.Connection, _schema: str, pages: int) -> int:
        if pages < self._log_pages:
            self._checkpoint_at = self._limits.checkpoint_pages
        self._log_pages = pages
        return apsw.SQLITE_OK

    def _checkpoint(self) -> None:
        """Copy the log into the database once it is long; after the answers, so that nobody waits for it.

        And once something was erased, which still stands in the log.
        """
        may_wait = time.monotonic() >= self._hurried_until
        if self._transaction.erased and may_wait:
            self._empty_log()
            return
        if self._log_pages < self._checkpoint_at:
            return
        patient = may_wait and self._log_pages >= self._limits.full_checkpoint_pages
        mode = apsw.SQLITE_CHECKPOINT_RESTART if patient else apsw.SQLITE_CHECKPOINT_PASSIVE
        # Readers in the way: again once the log has grown by as much.
        self._checkpoint_at = self._log_pages + self._limits.checkpoint_pages
        self._copy_log(mode)

    def _empty_log(self) -> None:
        """Empty the log; where readers are in the way, a later group's end tries again."""
        if self._copy_log(apsw.SQLITE_CHECKPOINT_TRUNCATE):
            self._transaction.erased = False

    def _copy_log(self, mode: int) -> bool:
        """Copy the log into the database, and tell whether that went as the mode asks."""
        try:
            self._connection.wal_checkpoint(mode=mode)
        except apsw.BusyError:
            # Somebody reads for long, as a backup does: waiting after each group would stop all writes.
            self._hurried_until = time.monotonic() + PATIENCE_SECONDS
            return False
        except apsw.Error:
            return False
        return True

    def _deliver(self, group: list[_Job]) -> None:
        # The loop may be closed by now: then nobody is left to be told.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._resolve, group)

    # On the event loop

    def _resolve(self, group: list[_Job]) -> None:
        self._pending -= len(group)
        self._works_of_last = len(group)
        for job in group:
            if job.future.done():
                continue
            if job.failure is None:
                job.future.set_result(job.result)
            else:
                job.future.set_exception(job.failure)

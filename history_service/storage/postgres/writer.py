"""A replica's one writer: a thread that drains a queue and commits in groups.

There is no commit timer. While one group is on its way to the disk the next
one gathers in the queue, so a lone caller waits for one sync and many callers
share it (history design, Storage).

Groups are SERIALIZABLE transactions: to the domain, all works of all replicas
run one after another. A group that conflicts with another replica's has done
nothing and is run again as a whole, and in the end one work after another.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import random
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import errors

from antiphon_client.errors import OverloadedError, ShuttingDownError, StoreBusyError
from history_service.storage.postgres.connection import WRITE, Session
from history_service.storage.postgres.failures import (
    CONFLICTS,
    STILL_COMMITTING,
    UNKNOWN_OUTCOME,
    is_away,
    translate,
)
from history_service.storage.postgres.places import WriterPlace, take_place
from history_service.storage.postgres.transaction import PostgresTransaction
from history_service.storage.postgres_limits import PostgresLimits

if TYPE_CHECKING:
    # Needs a package that only encrypted stores need.
    from history_service.storage.envelope import StoreKeys

Work = Callable[[Any], Any]

_PAUSE_SECONDS = 0.002
_LONGEST_PAUSE_SECONDS = 0.05
_RECONNECTIONS = 1
"""How often a group whose connection was lost before its commit is tried on a new one."""
_DOUBLES = 3
"""How often a group is run again over a key that is there already; more than that is a defect of ours."""


class Job:
    """A work on its way through the writer."""

    __slots__ = ("failure", "future", "result", "starts_commit", "work")

    def __init__(self, work: Work, starts_commit: bool, future: asyncio.Future[Any]) -> None:
        """Set up; see ``GroupWriter.submit``."""
        self.work = work
        self.starts_commit = starts_commit
        self.future = future
        self.result: Any = None
        self.failure: BaseException | None = None


class GroupWriter:
    """Runs works one after another on its own thread and answers each after its commit.

    The public methods belong to the event loop on which the writer was made.
    """

    def __init__(
        self, connect: Callable[[], Session], limits: PostgresLimits, store_keys: StoreKeys | None = None
    ) -> None:
        """Start the thread.

        Args:
            connect: Opens a session; called on the thread, again after a loss.
            limits: Bounds of groups and queue.
            store_keys: The keys of an encrypted store.
        """
        self._keys = store_keys
        self._connect = connect
        self._limits = limits
        self._session: Session | None = None
        self._place: WriterPlace | None = None
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._pending = 0
        self._closed = False
        self._stopping = False
        self._first: Job | None = None
        self._thread = threading.Thread(target=self._run, name="history-writer", daemon=True)
        self._thread.start()

    def submit(self, work: Work, *, starts_commit: bool = False) -> asyncio.Future[Any]:
        """Queue a work; its result arrives after its commit is on stable storage.

        Args:
            work: Called on the writer's thread with the transaction, perhaps several times.
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
        self._queue.put(Job(work, starts_commit, future))
        return future

    async def close(self) -> None:
        """Refuse new works, finish the queued ones, end the thread and its connection."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    # On the thread

    def _run(self) -> None:
        while not self._stopping:
            job = self._first or self._queue.get()
            self._first = None
            if job is None:
                break
            group = [job]
            self._serve(group)
            self._deliver(group)
        self._disconnect()

    def _serve(self, group: list[Job]) -> None:
        """Run and commit a group, adding what is queued meanwhile; each work gets a result or a failure."""
        begin = time.monotonic()
        patience = self._limits.conflict_seconds
        try:
            self._persist(group, begin + patience / 2, gather=True)
        except (errors.UniqueViolation, *CONFLICTS):
            for job in group:
                self._serve_alone(job, begin + patience)
        except BaseException as error:
            _fail(group, error)

    def _serve_alone(self, job: Job, until: float) -> None:
        try:
            self._persist([job], until, gather=False)
        except BaseException as error:
            _fail([job], error)

    def _persist(self, group: list[Job], until: float, *, gather: bool) -> None:
        """Run and commit a group, again after conflicts and once after a lost connection.

        Raises:
            StoreBusyError: It is not known whether the group was committed.
            psycopg.Error: The group was not committed: by ``until`` others were
                in the way each time, or the database failed.
        """
        conflicts = losses = doubles = 0
        while True:
            try:
                self._attempt(group, gather=gather and conflicts == losses == doubles == 0)
            except errors.UniqueViolation:
                # Another replica has stored the same since this transaction began: the next one sees it.
                doubles += 1
                if doubles > _DOUBLES:
                    raise
            except CONFLICTS:
                conflicts += 1
                if time.monotonic() >= until:
                    raise
                longest = min(_LONGEST_PAUSE_SECONDS, _PAUSE_SECONDS * 2 ** min(conflicts, 10))
                time.sleep(random.uniform(0, longest))  # nosec B311: a pause, no secret
            except psycopg.Error:
                losses += 1
                if self._session is not None or losses > _RECONNECTIONS:
                    raise
            else:
                return

    def _attempt(self, group: list[Job], *, gather: bool) -> None:
        """Run a group in one transaction and commit it, or leave no trace of it."""
        session, place = self._connected()
        try:
            try:
                self._transact(session, place, group, gather=gather, careful=False)
            except (_RunAgainError, errors.IntegrityError):
                # A work has to be undone by itself, or a request id was not new after all.
                session.rollback()
                self._transact(session, place, group, gather=False, careful=True)
        except BaseException as error:
            self._clean_up(session, error)
            raise

    def _transact(
        self, session: Session, place: WriterPlace, group: list[Job], *, gather: bool, careful: bool
    ) -> None:
        session.begin(WRITE)
        transaction = PostgresTransaction(session, place, careful=careful, store_keys=self._keys)
        try:
            job: Job | None
            if gather:
                self._run_and_gather(session, transaction, group)
            else:
                for job in group:
                    self._run_job(session, transaction, job)
            transaction.flush()
            self._commit(session, group)
        except BaseException:
            transaction.give_up()
            raise

    def _run_and_gather(self, session: Session, transaction: PostgresTransaction, group: list[Job]) -> None:
        """Run the group's first work and those that queue up meanwhile, adding them to it."""
        limits = self._limits
        job: Job | None = group[0]
        while job is not None:
            self._run_job(session, transaction, job)
            if len(group) >= limits.group_works or transaction.group_bytes >= limits.group_bytes:
                return
            job = self._take_queued()
            if job is not None and job.starts_commit:
                self._first = job
                return
            if job is not None:
                group.append(job)

    def _take_queued(self) -> Job | None:
        """The next work that is queued already; notes the end of the queue."""
        try:
            job = self._queue.get_nowait()
        except queue.Empty:
            return None
        self._stopping = job is None
        return job

    def _run_job(self, session: Session, transaction: PostgresTransaction, job: Job) -> None:
        """Run a work and keep its result or its failure.

        Raises:
            psycopg.Error: The transaction is lost.
            _RunAgainError: The group has to run again, carefully.
        """
        transaction.begin_work()
        job.result = job.failure = None
        try:
            job.result = job.work(transaction)
            stands = transaction.end_work()
        except (errors.UniqueViolation, *CONFLICTS):
            raise
        except BaseException as error:
            if is_away(error, session.connection):
                raise
            job.failure = translate(error)
            stands = transaction.undo_work(error)
        if not stands:
            raise _RunAgainError

    def _commit(self, session: Session, group: list[Job]) -> None:
        """Put the group on stable storage; ``group`` is answered after this returns.

        Raises:
            StoreBusyError: It is not known whether it is there.
        """
        session.warnings.clear()
        try:
            session.commit()
        except psycopg.Error as error:
            if session.is_late or (is_away(error, session.connection) and not isinstance(error, CONFLICTS)):
                raise StoreBusyError(UNKNOWN_OUTCOME) from error
            raise
        # A standby that should have had it was not waited for, or the database doubts it otherwise.
        if session.warnings:
            raise StoreBusyError(f"{UNKNOWN_OUTCOME}: {session.warnings[0]}")

    # The connection

    def _connected(self) -> tuple[Session, WriterPlace]:
        """The session and the writer's place, made anew where there are none.

        Raises:
            StoreBusyError: The last commit has not been answered yet.
        """
        if self._session is not None and self._session.is_late:
            # It waits on at the database. One more would wait behind it, and so would what comes after.
            if not self._session.has_answered():
                raise StoreBusyError(STILL_COMMITTING)
            self._disconnect()
        if self._place is not None and self._place.is_used_up:
            self._disconnect()
        if self._session is None or self._place is None:
            session = self._connect()
            try:
                self._place = take_place(session)
            except BaseException:
                session.close()
                raise
            self._session = session
        return self._session, self._place

    def _clean_up(self, session: Session, error: BaseException) -> None:
        """End the transaction after an error; part with a connection that is of no use."""
        if session.is_late:
            return
        if not is_away(error, session.connection) and not session.connection.closed:
            try:
                session.rollback()
            except psycopg.Error:
                self._disconnect()
            return
        self._disconnect()

    def _disconnect(self) -> None:
        session, self._session = self._session, None
        self._place = None
        if session is not None:
            with contextlib.suppress(psycopg.Error):
                session.close()

    def _deliver(self, group: list[Job]) -> None:
        # The loop may be closed by now: then nobody is left to be told.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._resolve, group)

    # On the event loop

    def _resolve(self, group: list[Job]) -> None:
        self._pending -= len(group)
        for job in group:
            if job.future.done():
                continue
            if job.failure is None:
                job.future.set_result(job.result)
            else:
                job.future.set_exception(job.failure)


class _RunAgainError(Exception):
    """The group has to run again, carefully."""


def _fail(group: list[Job], error: BaseException) -> None:
    """Fail every work of a group.

    Also those that failed by themselves: it may have been over something that
    another work of the group did and that was undone.
    """
    for job in group:
        job.result, job.failure = None, translate(error)

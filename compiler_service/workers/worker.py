"""One worker of the service: a process, started again whenever it ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from antiphon_client.edge.logs import get_logger
from compiler_service.folded.division import Held
from compiler_service.workers.child import Child
from compiler_service.workers.frames import ABANDON, FINISH, READY, TAKE, FrameError, framed
from compiler_service.workers.held_form import held_from

START_SECONDS = 60.0
"""Time that a process has until it is ready."""
ANSWER_SECONDS = 2.0
"""Time that it has to take or to answer something, beside what the call's bytes take."""
BYTES_A_SECOND = 2 * 2**20
"""Bytes that it folds in a second at least: a tenth of what one core does."""
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.1, 30.0
"""Time before a process is started again; it doubles with every failure that follows another."""

_MOST_DOUBLINGS = 16

_log = get_logger("workers")

T = TypeVar("T")


class FoldingWorker:
    """A worker process and the thread that talks to it.

    The event loop asks and never waits: what it asks is done by the thread, in order.
    """

    def __init__(self) -> None:
        """Set up the worker; nothing happens before ``start``."""
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="folding-worker")
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._child: Child | None = None
        self._is_free = False
        self._calls = 0
        self._failures = 0

    def start(self) -> None:
        """Start the process, in the background."""
        self._thread.submit(self._start)

    def close(self) -> None:
        """End the process and wait until it is gone; from any thread. Cost: some milliseconds."""
        with self._lock:
            self._stopping.set()
            if self._child is not None:
                self._child.kill()
        self._thread.submit(self._let_go)
        self._thread.shutdown()

    @property
    def process_id(self) -> int | None:
        """Id of the process; None where there is none now. From any thread."""
        child = self._child
        return None if child is None else child.process_id

    @property
    def is_free(self) -> bool:
        """Whether it has nothing to do."""
        return self._is_free

    def lease(self) -> Lease | None:
        """Take it for a call, which finishes or abandons the lease, if it is free."""
        if not self._is_free:
            return None
        self._is_free = False
        child = self._child
        if child is None or child.process_id is None:
            self._thread.submit(self._fail, "it ended while it had nothing to do")
            return None
        self._calls += 1
        return Lease(self, child, self._calls)

    def submit(self, work: Callable[[Child], T], lease: Lease) -> Future[T | None]:
        """Have the thread do something for a lease.

        Returns:
            What it gives, in the future; None where the process has failed the lease,
            then or before.
        """
        if lease.is_sound:
            # Behind a start it would wait for that.
            with self._lock:
                if lease.is_sound and not self._stopping.is_set():
                    return self._thread.submit(self._attempt, work, lease)
        nothing: Future[T | None] = Future()
        nothing.set_result(None)
        return nothing

    def give_back(self) -> None:
        """Be free for the next call; the thread calls it, after a call that went well."""
        self._failures = 0
        self._is_free = True

    # What follows is done by the thread.

    def _attempt(self, work: Callable[[Child], T], lease: Lease) -> T | None:
        child = self._child
        if child is None or not lease.is_sound:
            return None
        try:
            return work(child)
        except Exception as error:
            # Whatever it is, the process cannot be relied on any more.
            with self._lock:
                lease.is_sound = False
            self._fail(type(error).__name__)
            return None

    def _start(self, pause: float = 0.0) -> None:
        self._stopping.wait(pause)
        try:
            with self._lock:
                if self._stopping.is_set():
                    return
                self._child = Child()
            if self._child.hear(START_SECONDS) != READY:
                raise FrameError("it began with something else")
        except Exception as error:
            self._fail(type(error).__name__)
        else:
            self._is_free = True

    def _fail(self, reason: str) -> None:
        """Let go of the process and have another one started, after a pause."""
        self._let_go()
        with self._lock:
            if self._stopping.is_set():
                return
            pause = min(FIRST_PAUSE_SECONDS * 2**self._failures, LONGEST_PAUSE_SECONDS)
            self._failures = min(self._failures + 1, _MOST_DOUBLINGS)
            self._thread.submit(self._start, pause)
        _log.warning("folding_worker_lost", reason=reason, pause_seconds=pause)

    def _let_go(self) -> None:
        with self._lock:
            child, self._child = self._child, None
        if child is not None:
            child.close()


class Lease:
    """A worker at the service of one call. Its methods return at once."""

    def __init__(self, worker: FoldingWorker, child: Child, call: int) -> None:
        """Begin; ``call`` is a number that no earlier call of the worker has."""
        self._worker = worker
        self._child = child
        self._call = call
        self._handed_bytes = 0
        self._waiting: Future[None] | None = None
        """The last of what the thread is to send."""
        self.is_sound = True
        """Whether the process is the one that it was and has done what it was told."""

    def take(self, start: int, message_ids: Sequence[str], messages: Sequence[bytes]) -> None:
        """Have the messages from an index on folded.

        Args:
            start: Index of the first one; see ``frames.TAKE``.
            message_ids: Their ids.
            messages: The messages, encoded.
        """
        self._handed_bytes += sum(map(len, messages))
        self._say((TAKE, self._call, start, message_ids, messages))

    def finish(self) -> Future[tuple[Held, ...] | None]:
        """Ask for what is folded, and give the worker back once it comes.

        Returns:
            The stretches, in the future; None where the process fails.
        """
        self._say((FINISH, self._call))

        def work(child: Child) -> tuple[Held, ...]:
            call, forms = child.hear(self._seconds)
            if call != self._call:
                raise FrameError("it answered another call")
            self._worker.give_back()
            return tuple(map(held_from, forms))

        return self._worker.submit(work, self)

    def abandon(self) -> None:
        """Let go of all that was told, and give the worker back once it has; instead of ``finish``."""
        frame = framed((ABANDON, self._call))

        def work(child: Child) -> None:
            child.tell(frame, ANSWER_SECONDS)
            self._worker.give_back()

        self._worker.submit(work, self)

    def _say(self, value: Any) -> None:
        """Send what fits into the socket; the thread sends the rest.

        To wake the thread takes longer than to send, and more so on cores that are in use.
        """
        frame, seconds = framed(value), self._seconds
        if self._waiting is None or self._waiting.done():
            with suppress(OSError):
                frame = self._child.offer(frame)
        if frame:
            self._waiting = self._worker.submit(lambda child: child.tell(frame, seconds), self)

    @property
    def _seconds(self) -> float:
        return ANSWER_SECONDS + self._handed_bytes / BYTES_A_SECOND

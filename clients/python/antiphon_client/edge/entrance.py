"""What a call has to pass before it is served."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from antiphon_client.edge.admission import Admission
from antiphon_client.edge.call import DeadlinePassedError, current_call
from antiphon_client.edge.client_streams import ClientStreams, client_of
from antiphon_client.edge.methods import Method


class Transport(Protocol):
    """What is used of a call's context."""

    def peer(self) -> str:
        """Return the caller's address."""
        ...


class Entrance:
    """The bounds on what is served at once; over one of them a call is refused and never waits.

    Attributes:
        calls: The bound on work in flight.
        watches: The bound on standing calls, which are no work in flight.
    """

    def __init__(
        self, calls: Admission, watches: Admission, streams: ClientStreams, *, commit_budget: float = 0.0
    ) -> None:
        """Set up.

        Args:
            calls: The bound on work in flight.
            watches: The bound on standing calls.
            streams: The bound on each caller's streams.
            commit_budget: Seconds that a write is given to be committed; one whose
                caller waits no longer than that is not begun. 0 begins every one.
        """
        self.calls = calls
        self.watches = watches
        self._streams = streams
        self._commit_budget = commit_budget

    def admission(self, method: Method) -> Admission:
        """Return the bound that a method's calls fall under."""
        return self.watches if method.standing else self.calls

    def arrive(self, method: Method) -> None:
        """Give the running task's call a place until the task ends; done before its request is read.

        Raises:
            ShuttingDownError: The server is stopping.
            OverloadedError: Too many calls are in flight.
        """
        self.admission(method).arrive(is_write=method.is_write)

    def serve(self, method: Method, size: int) -> None:
        """Begin to serve the current call, whose request holds ``size`` bytes.

        Raises:
            DeadlinePassedError: It is a write that could hardly be committed in time.
            OverloadedError: Too many bytes are in flight.
        """
        if method.is_write:
            self._check_deadline()
        self.admission(method).serve(size)

    @contextmanager
    def stream(self, method: Method, size: int, context: Transport) -> Iterator[None]:
        """Serve the current call, which is a stream, until the context ends.

        Raises:
            DeadlinePassedError: As ``serve``.
            OverloadedError: As ``serve``, or its caller has too many streams.
        """
        with self._streams.held(client_of(current_call().tenant_id, context.peer())):
            self.serve(method, size)
            yield

    def _check_deadline(self) -> None:
        deadline = current_call().deadline
        if deadline is not None and deadline - time.monotonic() < self._commit_budget:
            raise DeadlinePassedError(
                f"the deadline leaves less than the {self._commit_budget:g} s that a write is given to be "
                "committed; nothing was written"
            )

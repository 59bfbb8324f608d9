"""What becomes of a call: its log line and its figures."""

from __future__ import annotations

import asyncio
import logging
import time
from uuid import uuid4

from antiphon_client.edge.call import DeadlinePassedError, caller_ids, deadline_passed
from antiphon_client.edge.logs import get_logger
from antiphon_client.edge.metrics import RequestMetrics
from antiphon_client.errors import AntiphonError, InternalError

INTERNAL_MESSAGE = "internal error; the server's log has its cause under the correlation id"

_OPERATOR_CODES = frozenset({"INTERNAL", "UNAVAILABLE", "RESOURCE_EXHAUSTED", "DATA_LOSS"})
"""Codes that concern whoever runs the server, not only the caller."""


class CallObserver:
    """Logs and counts finished calls.

    Errors are logged at info, or at warning where the operator should see them;
    calls slower than ``slow_seconds`` at warning; all others at debug only.
    """

    def __init__(self, metrics: RequestMetrics, *, slow_seconds: float) -> None:
        """Record into ``metrics``; ``slow_seconds`` is the duration that makes a call slow."""
        self._metrics = metrics
        self._slow_seconds = slow_seconds
        self._log = get_logger("edge")

    def succeeded(self, method: str, started: float) -> None:
        """Record a call answered OK; ``started`` is on ``time.perf_counter()``'s clock."""
        seconds = time.perf_counter() - started
        self._metrics.finished(method, "OK", seconds)
        if seconds >= self._slow_seconds:
            self._log.warning(
                "slow_call", method=method, code="OK", seconds=round(seconds, 6), **caller_ids()
            )
        elif self._log.isEnabledFor(logging.DEBUG):
            self._log.debug("call", method=method, code="OK", seconds=round(seconds, 6), **caller_ids())

    def refused(
        self, method: str, started: float, error: AntiphonError, *, is_expected: bool = False
    ) -> None:
        """Record a call answered with an error; an expected one is no news to the operator."""
        seconds = time.perf_counter() - started
        self._metrics.finished(method, error.code, seconds)
        level = logging.WARNING if error.code in _OPERATOR_CODES and not is_expected else logging.INFO
        self._log.log(
            level,
            "call_failed",
            method=method,
            code=error.code,
            reason=error.reason,
            seconds=round(seconds, 6),
            **caller_ids(),
        )

    def given_up(self, method: str, started: float, code: str, *, cause: str = "") -> None:
        """Record a call that its caller cancelled or let time out; ``cause`` is how that showed, if known."""
        seconds = time.perf_counter() - started
        self._metrics.finished(method, code, seconds)
        if self._log.isEnabledFor(logging.DEBUG):
            self._log.debug(
                "call_given_up",
                method=method,
                code=code,
                seconds=round(seconds, 6),
                cause=cause,
                **caller_ids(),
            )

    def defect(self, method: str, cause: BaseException) -> InternalError:
        """Log an exception nobody foresaw and return the error that takes its place.

        The error says nothing of the cause but a correlation id, under which
        the log has it.
        """
        correlation_id = uuid4().hex
        self._log.error(
            "defect", method=method, correlation_id=correlation_id, exc_info=cause, **caller_ids()
        )
        return InternalError(INTERNAL_MESSAGE, metadata={"correlation_id": correlation_id})


def given_up_code(cause: BaseException) -> str | None:
    """Tell whether the current call ended because its caller no longer waits for it.

    Returns:
        ``CANCELLED``, ``DEADLINE_EXCEEDED``, or None when the cause lies in the
        server: a task that was cancelled in there does not cancel the call.
    """
    passed = deadline_passed()
    if isinstance(cause, asyncio.CancelledError):
        task = asyncio.current_task()
        if task is None or not task.cancelling():
            return None
        return "DEADLINE_EXCEEDED" if passed else "CANCELLED"
    if isinstance(cause, DeadlinePassedError) or (isinstance(cause, TimeoutError) and passed):
        return "DEADLINE_EXCEEDED"
    return None

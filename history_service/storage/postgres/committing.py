"""COMMIT, waited for no longer than one is told.

A commit that waits for a synchronous standby waits for as long as none answers:
the server's ``statement_timeout`` ends before it. Nor may it be cancelled, as it
would then be visible at the primary and perhaps nowhere else. So it is left
waiting, and its answer may come later, or never.
"""

from __future__ import annotations

import select
import time

import psycopg
from psycopg import errors, pq

_COMMIT = b"COMMIT"


class LateCommitError(psycopg.OperationalError):
    """A commit has not been answered in time. It is still under way."""


def commit(connection: psycopg.Connection, seconds: float) -> bool:
    """Send COMMIT and wait for its answer.

    Args:
        connection: Inside a transaction, outside of a pipeline.
        seconds: How long to wait.

    Returns:
        Whether it was committed; if not, it had failed before and was rolled back.

    Raises:
        LateCommitError: There is no answer yet. The connection can do nothing but ``has_answered``.
        psycopg.Error: It was not committed, or it is not known, where the connection is lost.
    """
    server = connection.pgconn
    server.send_query(_COMMIT)
    until = time.monotonic() + seconds
    results = []
    while (result := _next_result(server, until)) is not None:
        results.append(result)
    # One that is followed by another was followed by the loss of the connection.
    answer = results[0]
    if answer.status != pq.ExecStatus.COMMAND_OK:
        raise errors.error_from_result(answer, connection.info.encoding)
    return answer.command_status == _COMMIT


def has_answered(connection: psycopg.Connection) -> bool:
    """Tell, without waiting, whether a late commit has been answered or never will be."""
    server = connection.pgconn
    arrived = _readable(server)
    try:
        while server.is_busy() and arrived.poll(0):
            server.consume_input()
    except psycopg.OperationalError:
        return True
    return not server.is_busy()


def _next_result(server: pq.abc.PGconn, until: float) -> pq.abc.PGresult | None:
    """Wait for a result of what was sent; None after the last."""
    arrived = _readable(server)
    server.flush()
    while server.is_busy():
        left = until - time.monotonic()
        if left <= 0:
            raise LateCommitError("a commit has not been answered in time")
        arrived.poll(left * 1000)
        server.consume_input()
    return server.get_result()


def _readable(server: pq.abc.PGconn) -> select.poll:
    arrived = select.poll()
    arrived.register(server.socket, select.POLLIN)
    return arrived

"""Faults of a SQLite store that show when a request is sent again."""

from __future__ import annotations

from collections.abc import Callable

from history_service.storage.port import RecordedResponse
from history_service.storage.sqlite.writing import SqliteWriteTransaction


def _forget_all() -> None:
    """No request is recorded: each copy has its effect."""

    def record_response(
        self: SqliteWriteTransaction,
        tenant_id: str,
        request_id: str,
        recorded: RecordedResponse,
        recorded_at: int,
    ) -> None:
        return None

    SqliteWriteTransaction.record_response = record_response  # type: ignore[method-assign]


def _forget_at_the_end() -> None:
    """Requests are known to the process that answered them, and to no other."""
    known: dict[tuple[str, str], RecordedResponse] = {}

    def record_response(
        self: SqliteWriteTransaction,
        tenant_id: str,
        request_id: str,
        recorded: RecordedResponse,
        recorded_at: int,
    ) -> None:
        known[tenant_id, request_id] = recorded

    def recorded_response(
        self: SqliteWriteTransaction, tenant_id: str, request_id: str
    ) -> RecordedResponse | None:
        return known.get((tenant_id, request_id))

    SqliteWriteTransaction.record_response = record_response  # type: ignore[method-assign]
    SqliteWriteTransaction.recorded_response = recorded_response  # type: ignore[method-assign]


RETRY_MUTANTS: dict[str, Callable[[], None]] = {
    "amnesiac": _forget_all,
    "short_lived": _forget_at_the_end,
}
"""By the name a harness's ``--mutant`` takes."""

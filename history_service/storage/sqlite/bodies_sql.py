"""The statements that read bodies, of a store in clear and of an encrypted one.

In clear, rows end with the body, and the indexes have all else that is asked
for. Encrypted, they end with what it takes to open the body: message id,
number, wrapped key, and then the body as it is stored; the key stands in the
member row itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from history_service.storage.sqlite.writing_sql import OF_BRANCH

_STORED = "(SELECT bytes FROM message_body WHERE number = body)"
_SIZE = "(SELECT length(bytes) FROM message_body WHERE number = body)"
_OF_MESSAGE = f"{OF_BRANCH} AND message_id = ?"


def at_revision(select: str, table: str, scope: str) -> str:
    """A statement over the one row that lives at a revision: parameters (scope, at, scope, at, at)."""
    return (
        f"SELECT {select} FROM {table} WHERE {scope}"  # nosec B608: of constants of the code
        " AND removed_revision IS NULL AND added_revision <= ?"
        f" UNION ALL "
        f"SELECT {select} FROM {table} WHERE {scope} AND removed_revision > ? AND added_revision <= ?"
    )


def _of_member(select: str) -> str:
    """A statement over a branch's row of a message and body: parameters (branch, message, body) twice."""
    parts = (
        f"SELECT {select} FROM member WHERE {_OF_MESSAGE}"  # nosec B608: of constants of the code
        f" AND removed_revision {state} AND body = ?"
        for state in ("IS NULL", "IS NOT NULL")
    )
    return f"{' UNION ALL '.join(parts)} LIMIT 1"


@dataclass(frozen=True, slots=True)
class BodyStatements:
    """The statements of one kind of store.

    Attributes:
        sealed: Whether bodies may be encrypted.
        body: The body of a branch's row; parameters as of ``_of_member``.
        body_at: The body a message has at a revision; parameters as of ``at_revision``.
        size_at: Its id, its encoded size and its wrapped key (None in clear); parameters the same.
    """

    sealed: bool
    body: str
    body_at: str
    size_at: str


def _statements(value: str, wrapped_key: str, *, sealed: bool) -> BodyStatements:
    return BodyStatements(
        sealed,
        _of_member(value),
        at_revision(value, "member", _OF_MESSAGE),
        at_revision(f"message_id, {_SIZE}, {wrapped_key}", "member", _OF_MESSAGE),
    )


CLEAR = _statements(_STORED, "NULL", sealed=False)
SEALED = _statements(f"message_id, body, wrapped_key, {_STORED}", "wrapped_key", sealed=True)
WRAPPED_KEY = _of_member("wrapped_key")

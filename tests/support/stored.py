"""Looking at what a store holds from under it, past the port."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import apsw
import psycopg

from history_service.storage.memory import MemoryStore
from history_service.storage.postgres import PostgresStore
from history_service.storage.sealed import is_sealed
from history_service.storage.sqlite import SqliteStore
from tests.support.encryption import POSTGRES_SEALED_BODIES, SEALED_BODIES, opened_bodies, ring


def rows(store: Any, query: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query over a SQL store's tables, as they are committed."""
    if isinstance(store, PostgresStore):
        with psycopg.connect(store.url, autocommit=True) as connection:
            return connection.execute(query.encode()).fetchall()
    assert isinstance(store, SqliteStore)
    with closing(apsw.Connection(store.path, flags=apsw.SQLITE_OPEN_READONLY)) as file:
        return list(file.execute(query))


def message_bodies(store: Any) -> list[bytes]:
    """Return every message body, sorted; those of an encrypted store are opened."""
    if isinstance(store, MemoryStore):
        return sorted(store.bodies.values())
    stored = [body for (body,) in rows(store, "SELECT bytes FROM message_body")]
    if any(map(is_sealed, stored)):
        query = POSTGRES_SEALED_BODIES if isinstance(store, PostgresStore) else SEALED_BODIES
        opened = opened_bodies(rows(store, query), ring())
        assert len(opened) == len(stored)
        return sorted(opened.values())
    return sorted(stored)


def exchange_bodies(store: Any) -> int:
    """Count the messages of all exchanges."""
    if isinstance(store, MemoryStore):
        return sum(len(record.bodies) for record in store.exchanges._records.values())
    return len(rows(store, "SELECT 1 FROM exchange_body"))


def recorded_responses(store: Any) -> int:
    """Count the responses, and steps, remembered by request id."""
    if isinstance(store, MemoryStore):
        return len(store.responses)
    return len(rows(store, "SELECT 1 FROM recorded_response"))

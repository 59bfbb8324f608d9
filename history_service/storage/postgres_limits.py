"""Bounds of the PostgreSQL store: connections, times and groups."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PostgresLimits:
    """What one replica may ask of the database.

    Attributes:
        min_connections: Reading connections kept open. Beside the reading ones
            a replica has one that writes.
        max_connections: Reading connections at most; more reads wait.
        connect_seconds: How long making a connection may take.
        statement_seconds: How long one statement may take, or the answer to a commit.
        idle_seconds: After how long without a read a connection over
            ``min_connections`` is closed.
        conflict_seconds: How long a write that conflicts with other replicas'
            is run again before it is refused with STORE_BUSY.
        group_works: Works in one commit.
        group_bytes: Bytes after which a group is committed, whatever else is queued.
        queued_works: Works waiting or under way; one more is refused with OVERLOADED.
    """

    min_connections: int = 1
    max_connections: int = 8
    connect_seconds: float = 5.0
    statement_seconds: float = 30.0
    idle_seconds: float = 300.0
    conflict_seconds: float = 10.0
    group_works: int = 256
    group_bytes: int = 8 * 2**20
    queued_works: int = 4096


DEFAULT_POSTGRES_LIMITS = PostgresLimits()

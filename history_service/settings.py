"""The history service's settings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Self

from annotated_types import Ge, Gt, Le
from pydantic import Field, field_serializer, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from antiphon_client.edge.addresses import default_address
from antiphon_client.edge.settings import ALL_LIMITS, EdgeSettings
from antiphon_client.limits import Limits
from history_service.snapshot_cache import DEFAULT_CACHE_BYTES
from history_service.storage import MEMORY_URL, load_ring, masked_url, open_store
from history_service.storage.postgres_limits import DEFAULT_POSTGRES_LIMITS, PostgresLimits
from history_service.sweeping import DEFAULT_KEEPING

LIMITS = tuple(name for name in ALL_LIMITS if name not in ("snapshot_bytes", "assembly_bytes"))
"""The limits that concern the history service."""


def default_store() -> str:
    """Return the store used when nothing else is said: a SQLite file in the user's data folder."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return f"sqlite:{Path(data) / 'antiphon' / 'history.sqlite3'}"


class HistorySettings(EdgeSettings):
    """Settings of the history service, from ``ANTIPHON_HISTORY_*`` where not given.

    Attributes:
        listen: As in ``EdgeSettings``; by default ``history.sock`` in the user's runtime folder.
        store: Where branches are kept: ``sqlite:PATH``, ``postgresql://...``, or ``memory:`` for as
            long as the process lives. What it holds of secrets is not printed.
        watch_heartbeat_seconds: How long a watch is quiet before it sends a heartbeat.
        watch_poll_seconds: How late at most a watch sees what another process has
            committed; what this one commits it sees at once. None: 0.25 on a store
            that processes share, 5 on one that they do not.
        store_min_connections: Of a database: reading connections kept open.
        store_max_connections: Reading connections at most; one that writes comes on top.
        store_connect_seconds: How long making a connection may take.
        store_statement_seconds: How long one statement may take.
        store_idle_seconds: After how long a connection over the least number is closed.
        store_conflict_seconds: How long a write that conflicts with other processes'
            is tried before it is STORE_BUSY.
        deleted_retention_seconds: How long a deleted branch's bytes are kept,
            unless a purge is asked for.
        kept_revisions: How many of a branch's newest revisions are kept at least; 0 keeps all.
        snapshot_cache_bytes: Bytes of encoded snapshots and pages kept in memory; 0 keeps none.
        commit_budget_seconds: What a write is given to be committed: one whose deadline
            leaves less is DEADLINE_EXCEEDED at once and not written; 0 tries every one.
        encryption_keys: The file of the master keys that the store encrypts with; None writes in clear.
    """

    model_config = SettingsConfigDict(env_prefix="ANTIPHON_HISTORY_")

    listen: str = Field(default_factory=lambda: default_address("history", os.environ))
    store: str = Field(default_factory=default_store, repr=False)
    watch_heartbeat_seconds: Annotated[float, Gt(0)] = 15.0
    watch_poll_seconds: Annotated[float, Gt(0)] | None = None
    store_min_connections: Annotated[int, Ge(1)] = DEFAULT_POSTGRES_LIMITS.min_connections
    store_max_connections: Annotated[int, Ge(1)] = DEFAULT_POSTGRES_LIMITS.max_connections
    store_connect_seconds: Annotated[float, Ge(1)] = DEFAULT_POSTGRES_LIMITS.connect_seconds
    store_statement_seconds: Annotated[float, Gt(0)] = DEFAULT_POSTGRES_LIMITS.statement_seconds
    store_idle_seconds: Annotated[float, Gt(0)] = DEFAULT_POSTGRES_LIMITS.idle_seconds
    store_conflict_seconds: Annotated[float, Gt(0)] = DEFAULT_POSTGRES_LIMITS.conflict_seconds
    deleted_retention_seconds: Annotated[float, Ge(0), Le(10**9)] = DEFAULT_KEEPING.deleted_seconds
    kept_revisions: Annotated[int, Ge(0)] = DEFAULT_KEEPING.revisions
    snapshot_cache_bytes: Annotated[int, Ge(0)] = DEFAULT_CACHE_BYTES
    commit_budget_seconds: Annotated[float, Ge(0)] = 0.01
    encryption_keys: str | None = None

    @field_validator("limits")
    @classmethod
    def _page_fits_a_reply(cls, value: Limits) -> Limits:
        if value.page_bytes > value.reply_bytes:
            raise ValueError("page_bytes must not be over reply_bytes")
        return value

    @field_validator("store")
    @classmethod
    def _store_is_known(cls, value: str) -> str:
        # Naming a store opens nothing; whether it can be opened shows at the start.
        open_store(value)
        return value

    @field_validator("encryption_keys")
    @classmethod
    def _keys_can_be_read(cls, value: str | None) -> str | None:
        if value is not None:
            load_ring(value)
        return value

    @model_validator(mode="after")
    def _keys_have_a_use(self) -> Self:
        if self.encryption_keys is not None and self.store == MEMORY_URL:
            raise ValueError(f"--encryption-keys: {MEMORY_URL} keeps nothing at rest")
        return self

    @model_validator(mode="after")
    def _connections_fit_together(self) -> Self:
        if self.store_min_connections > self.store_max_connections:
            raise ValueError("--store-min-connections must not be over --store-max-connections")
        return self

    @field_serializer("store", when_used="json")
    def _store_without_secrets(self, value: str) -> str:
        return masked_url(value)

    @property
    def postgres_limits(self) -> PostgresLimits:
        """The bounds of a PostgreSQL store."""
        return PostgresLimits(
            min_connections=self.store_min_connections,
            max_connections=self.store_max_connections,
            connect_seconds=self.store_connect_seconds,
            statement_seconds=self.store_statement_seconds,
            idle_seconds=self.store_idle_seconds,
            conflict_seconds=self.store_conflict_seconds,
        )

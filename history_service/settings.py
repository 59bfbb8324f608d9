"""The history service's settings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from annotated_types import Ge, Gt, Le
from pydantic import Field, field_validator
from pydantic_settings import SettingsConfigDict

from antiphon_client.edge.addresses import default_address
from antiphon_client.edge.settings import ALL_LIMITS, EdgeSettings
from antiphon_client.limits import Limits
from history_service.snapshot_cache import DEFAULT_CACHE_BYTES
from history_service.storage import open_store
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
        store: Where branches are kept: ``sqlite:PATH``, or ``memory:`` for as long as the process lives.
        watch_heartbeat_seconds: How long a watch is quiet before it sends a heartbeat.
        watch_poll_seconds: How late at most a watch sees what another process has
            committed; what this one commits it sees at once.
        deleted_retention_seconds: How long a deleted branch's bytes are kept,
            unless a purge is asked for.
        kept_revisions: How many of a branch's newest revisions are kept at least; 0 keeps all.
        snapshot_cache_bytes: Bytes of encoded snapshots kept in memory; 0 keeps none.
    """

    model_config = SettingsConfigDict(env_prefix="ANTIPHON_HISTORY_")

    listen: str = Field(default_factory=lambda: default_address("history", os.environ))
    store: str = Field(default_factory=default_store)
    watch_heartbeat_seconds: Annotated[float, Gt(0)] = 15.0
    watch_poll_seconds: Annotated[float, Gt(0)] = 5.0
    deleted_retention_seconds: Annotated[float, Ge(0), Le(10**9)] = DEFAULT_KEEPING.deleted_seconds
    kept_revisions: Annotated[int, Ge(0)] = DEFAULT_KEEPING.revisions
    snapshot_cache_bytes: Annotated[int, Ge(0)] = DEFAULT_CACHE_BYTES

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

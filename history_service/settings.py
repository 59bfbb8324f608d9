"""The history service's settings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from annotated_types import Ge, Gt, Le
from pydantic import Field, field_validator
from pydantic_settings import SettingsConfigDict

from antiphon_client.edge.addresses import default_address
from antiphon_client.edge.settings import EdgeSettings
from history_service.storage import open_store
from history_service.sweeping import DEFAULT_KEEPING


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
    """

    model_config = SettingsConfigDict(env_prefix="ANTIPHON_HISTORY_")

    listen: str = Field(default_factory=lambda: default_address("history", os.environ))
    store: str = Field(default_factory=default_store)
    watch_heartbeat_seconds: Annotated[float, Gt(0)] = 15.0
    watch_poll_seconds: Annotated[float, Gt(0)] = 5.0
    deleted_retention_seconds: Annotated[float, Ge(0), Le(10**9)] = DEFAULT_KEEPING.deleted_seconds
    kept_revisions: Annotated[int, Ge(0)] = DEFAULT_KEEPING.revisions

    @field_validator("store")
    @classmethod
    def _store_is_known(cls, value: str) -> str:
        # Naming a store opens nothing; whether it can be opened shows at the start.
        open_store(value)
        return value

"""Steps of a start that several replicas may take at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from psycopg import errors

from history_service.storage.postgres.connection import Session
from history_service.storage.postgres.failures import CONFLICTS

T = TypeVar("T")

_PAUSE_SECONDS = 0.05
_PATIENCE_SECONDS = 60.0


def beside_others(session: Session, step: Callable[[], T]) -> T:
    """Take a step; once more where another replica was faster, which shows when that one has committed.

    Args:
        session: What the step works with; outside a transaction.
        step: What is to be done. Whatever of it is not committed when it fails is undone.

    Raises:
        psycopg.Error: The database refuses, or others were in the way for a minute.
    """
    until = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            return step()
        except (errors.UniqueViolation, *CONFLICTS):
            session.rollback()
            if time.monotonic() >= until:
                raise
            time.sleep(_PAUSE_SECONDS)

"""PostgreSQL writers with a known fault, which the crash harness must catch."""

from __future__ import annotations

import threading
from typing import Any

import psycopg

from history_service.storage.postgres.connection import Session
from history_service.storage.postgres.writer import GroupWriter

PATIENCE_SECONDS = 30.0


class HastyPostgresWriter(GroupWriter):
    """Answers before it commits."""

    _answered: Any = None

    def _commit(self, session: Session, group: list[Any]) -> None:
        self._answered = group
        super()._deliver(group)
        self._let_callers_run()
        super()._commit(session, group)

    def _deliver(self, group: list[Any]) -> None:
        if group is not self._answered:
            super()._deliver(group)

    def _let_callers_run(self) -> None:
        """Wait until the callers have seen their answers, which takes their tasks some turns of the loop."""
        turned = threading.Event()

        def turn(left: int) -> None:
            if left:
                self._loop.call_soon(turn, left - 1)
            else:
                turned.set()

        self._loop.call_soon_threadsafe(turn, 10)
        turned.wait(PATIENCE_SECONDS)


class LazyPostgresWriter(GroupWriter):
    """Answers when the database has the commit in memory, not when its disk has it."""

    def _commit(self, session: Session, group: list[Any]) -> None:
        session.run("SET LOCAL synchronous_commit = off")
        super()._commit(session, group)


class TrustingPostgresWriter(GroupWriter):
    """Takes a commit whose outcome is not known to be done."""

    def _commit(self, session: Session, group: list[Any]) -> None:
        try:
            session.commit()
        except psycopg.OperationalError:
            self._disconnect()


POSTGRES_WRITERS: dict[str, type[GroupWriter]] = {
    "none": GroupWriter,
    "hasty": HastyPostgresWriter,
    "lazy": LazyPostgresWriter,
    "trusting": TrustingPostgresWriter,
}
"""By the name a harness's ``--mutant`` takes."""

"""The PostgreSQL store of the history service.

``migrations/0001_initial.sql`` is the schema and explains it. A replica has one
writing connection on one thread (``writer``) and some reading ones
(``readers``); the port's primitives are statements (``reading``, ``writing``,
``scans``). It uses no sequence, no advisory lock, no trigger and no LISTEN, so
that databases that speak PostgreSQL's protocol can stand in for it.

The driver is psycopg: works are synchronous functions, which a driver for
threads runs as they are.
"""

from __future__ import annotations

from history_service.storage.postgres.store import PostgresStore
from history_service.storage.postgres_limits import PostgresLimits

__all__ = ["PostgresLimits", "PostgresStore"]

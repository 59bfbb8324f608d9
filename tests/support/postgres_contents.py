"""What a PostgreSQL database holds, as whoever has it could read it: rows, dumps, files."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import psycopg

from tests.support import postgres


def rows(url: str, query: str, **values: Any) -> list[Any]:
    """Ask a database, past the store."""
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.cursor(binary=True).execute(query.encode(), values or None).fetchall()


def rows_as_text(url: str) -> str:
    """Every row of every table as text."""
    tables = rows(url, "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
    return "\n".join(
        line for (table,) in tables for (line,) in rows(url, f"SELECT row::text FROM {table} AS row")
    )


def dump(server: postgres.Server, url: str) -> bytes:
    """A logical dump of a schema of a server."""
    ((schema,),) = rows(url, "SELECT current_schema()::text")
    place = ["-h", str(server.folder), "-U", postgres.ROLE, "-n", schema, "postgres"]
    return subprocess.run(
        [str(server.binaries / "pg_dump"), *place], check=True, capture_output=True, cwd="/"
    ).stdout


def holds(text: bytes | str, words: str) -> bool:
    """Tell whether a text has words in it, as they are or in hexadecimal digits."""
    raw = text.encode() if isinstance(text, str) else text
    return words.encode() in raw or words.encode().hex().encode() in raw


def files_with(server: postgres.Server, words: str) -> list[str]:
    """The files of the whole cluster, its write-ahead log and its log among them, that have words in them."""
    postgres.run_statement("CHECKPOINT")
    paths = (Path(folder) / name for folder, _, names in os.walk(server.folder) for name in names)
    return [path.name for path in paths if path.is_file() and words.encode() in path.read_bytes()]

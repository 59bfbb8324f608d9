"""``antiphon store copy``: from one SQLite file into a database that replicas share."""

from __future__ import annotations

from typing import Annotated

import typer

from antiphon_client.cli.backing_up import become

COPY_EXAMPLES = """Examples:

  antiphon store copy /var/lib/antiphon/history.sqlite3 postgresql://antiphon@db.example/antiphon
  systemctl stop antiphon-history
  antiphon store copy --final /var/lib/antiphon/history.sqlite3 postgresql://antiphon@db.example/antiphon

Exit codes: 0 both are the same, 1 they are not or nothing was copied, 2 wrong usage, 130 interrupted.
"""


def copy(
    source: Annotated[str, typer.Argument(metavar="SQLITE", help="sqlite:PATH, or PATH.")],
    destination: Annotated[
        str,
        typer.Argument(
            metavar="POSTGRES",
            help="postgresql://...; leave the password to ~/.pgpass or PGPASSWORD, as others see a command.",
        ),
    ],
    final: Annotated[
        bool,
        typer.Option("--final", help="The last pass: the service of SQLITE is stopped. Finishes the copy."),
    ] = False,
) -> None:
    """Copy a SQLite store into a PostgreSQL database, while its service runs.

    Each run is a pass: it makes POSTGRES what SQLITE is at the moment the pass begins, and compares every
    row of both by SHA-256. What is written to SQLITE meanwhile is for the next pass. A pass that was killed,
    however it was, is repeated: what is there already is not written again.

    The last pass takes --final, with the service of SQLITE stopped; it refuses while one has the file open
    and keeps any from starting until it is done. It alone finishes the copy, and only where both are the
    same: until then no history service opens POSTGRES, so nothing is lost or served by half. Then start the
    services on POSTGRES, and none on SQLITE again: ids, revisions, watches and request ids go on.

    POSTGRES must be empty or hold an unfinished copy of the same store. A finished one is compared and never
    written. SQLITE is only read. What is encrypted at rest is copied as it is, with its wrapped keys: a
    copy takes no key file, and the services on POSTGRES take the one they had.
    """
    become("copy", source, destination, options=["--final"] if final else [])

"""``antiphon backup`` and ``antiphon restore``: the store's own program does the work."""

from __future__ import annotations

import os
import sys
from typing import Annotated, NoReturn

import typer

BACKUP_EXAMPLES = """Examples:

  antiphon backup /backups/monday
  antiphon backup /backups/monday --store sqlite:/var/lib/antiphon/history.sqlite3
  antiphon backup verify /backups/monday
"""
RESTORE_EXAMPLES = """Examples:

  antiphon restore /backups/monday --store sqlite:/var/lib/antiphon/restored.sqlite3
"""

MAINTENANCE = (sys.executable, "-m", "history_service.maintenance")
"""The program that knows stores; the SDK itself knows services only."""

_VERIFY = "verify"

Store = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        show_default="ANTIPHON_HISTORY_STORE, else the service's default",
        help="sqlite:PATH, or PATH.",
    ),
]


def backup(
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The folder to make; it must not exist.")],
    checked: Annotated[
        str | None, typer.Argument(metavar="[BACKUP]", help="After the word verify: the backup to check.")
    ] = None,
    store: Store = None,
) -> None:
    """Back a SQLite store up while its service runs, or check a backup.

    TARGET becomes a folder with the database as it stood at one moment, between two writes, and a manifest
    with its SHA-256. It gets its name when it is whole and on stable storage. Nothing is overwritten.

    "antiphon backup verify BACKUP" checks one: its hash, every page, and what its rows say of each other.
    """
    if target != _VERIFY and checked is None:
        _become("backup", target, store)
    if target != _VERIFY or checked is None or store is not None:
        raise typer.BadParameter(
            'give one folder to make, or "verify" and a backup (to make a folder of that name: ./verify)'
        )
    _become("verify", checked, None)


def restore(
    backup: Annotated[str, typer.Argument(metavar="BACKUP", help="A folder that antiphon backup made.")],
    store: Store = None,
) -> None:
    """Make a store of a backup.

    The backup is checked in every way; each branch gets a new incarnation, so that no reader takes what is
    written from now on for what it has read before. Nothing is overwritten: move a store that is to be
    replaced away first, with its -wal and -shm files, while its service is stopped.
    """
    _become("restore", backup, store)


def _become(command: str, path: str, store: str | None) -> NoReturn:
    """Go on as the store's program, whose exit code and signals are then this process's own."""
    given = [] if store is None else ["--store", store]
    os.execv(MAINTENANCE[0], [*MAINTENANCE, command, *given, "--", path])  # nosec B606: our own program

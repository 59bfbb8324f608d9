"""``antiphon backup`` and ``antiphon restore``: the store's own program does the work."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer

BACKUP_EXAMPLES = """Examples:

  antiphon backup /backups/monday
  antiphon backup /backups/monday --store sqlite:/var/lib/antiphon/history.sqlite3
  antiphon backup verify /backups/monday
  antiphon backup verify /backups/monday --encryption-keys /etc/antiphon/history.keys
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

EncryptionKeys = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        show_default="ANTIPHON_HISTORY_ENCRYPTION_KEYS",
        help="The master keys of an encrypted store.",
    ),
]


def backup(
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The folder to make; it must not exist.")],
    checked: Annotated[
        str | None, typer.Argument(metavar="[BACKUP]", help="After the word verify: the backup to check.")
    ] = None,
    store: Store = None,
    encryption_keys: EncryptionKeys = None,
) -> None:
    """Back a SQLite store up while its service runs, or check a backup.

    TARGET becomes a folder with the database as it stood at one moment, between two writes, and a manifest
    with its SHA-256. It gets its name when it is whole and on stable storage. Nothing is overwritten.

    "antiphon backup verify BACKUP" checks one: its hash, every page, and what its rows say of each other. Of
    an encrypted store it opens everything, given the keys; making a backup takes none, as it opens nothing.
    """
    if target != _VERIFY and checked is None:
        if encryption_keys is not None:
            raise typer.BadParameter("a backup is made without keys: what is encrypted is copied as it is")
        become("backup", target, options=store_arguments(store, None))
    if target != _VERIFY or checked is None or store is not None:
        raise typer.BadParameter(
            'give one folder to make, or "verify" and a backup (to make a folder of that name: ./verify)'
        )
    become("verify", checked, options=store_arguments(None, encryption_keys))


def store_arguments(store: str | None, encryption_keys: str | None) -> list[str]:
    """Return the arguments that tell the store's program of a store and its keys, as far as given."""
    given = {"--store": store, "--encryption-keys": encryption_keys}
    return [word for name, value in given.items() if value is not None for word in (name, value)]


def restore(
    backup: Annotated[str, typer.Argument(metavar="BACKUP", help="A folder that antiphon backup made.")],
    store: Store = None,
    encryption_keys: EncryptionKeys = None,
) -> None:
    """Make a store of a backup.

    The backup is checked in every way; each branch gets a new incarnation, so that no reader takes what is
    written from now on for what it has read before. Nothing is overwritten: move a store that is to be
    replaced away first, with its -wal and -shm files, while its service is stopped. That of an encrypted
    store takes its keys.
    """
    become("restore", backup, options=store_arguments(store, encryption_keys))


def become(command: str, *arguments: str, options: Sequence[str] = ()) -> NoReturn:
    """Go on as the store's program, whose exit code and signals are then this process's own."""
    program = [*MAINTENANCE, command, *options, "--", *arguments]
    os.execv(MAINTENANCE[0], program)  # nosec B606: our own program

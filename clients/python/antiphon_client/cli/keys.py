"""``antiphon key``: the file of master keys that a history service encrypts with."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from antiphon_client.cli.output import say
from antiphon_client.key_file import add_key

NEW_EXAMPLES = """Examples:

  antiphon key new /etc/antiphon/history.keys
  antiphon key new /etc/antiphon/history.keys --name 2026-winter
"""


def new(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The key file; made where there is none.")],
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="The key's name; by default the time in UTC.")
    ] = None,
) -> None:
    """Make a random master key and put it first in a key file, which makes it the active one.

    The file is for `python -m history_service --encryption-keys FILE` and has mode 0600: whoever has it
    can read the store, and without it nobody can. Keep a copy of it apart from the store's backups.
    """
    name = name or datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    add_key(file, name)
    say(f"{file}: made the master key {name}; it is the active one")

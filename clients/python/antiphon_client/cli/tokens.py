"""``antiphon token``: making bearer tokens."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from antiphon_client.cli.output import say

if TYPE_CHECKING:
    from antiphon_client.edge.tokens import NewToken

EXAMPLES = """Examples:

  antiphon token new --tenant acme --file /etc/antiphon/tokens.toml
  antiphon token new --tenant acme --role guest --external-key support/ --days 30
"""


class TokenRole(StrEnum):
    """Roles that a token can have."""

    OWNER = "owner"
    GUEST = "guest"


def new(
    tenant: Annotated[
        str,
        typer.Option(metavar="TENANT", help="Whose data it opens; empty: what was written without tokens."),
    ],
    role: Annotated[
        TokenRole, typer.Option(help="An owner reads and writes; a guest reads.")
    ] = TokenRole.OWNER,
    branch: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Of a guest: only this branch; repeatable.")
    ] = None,
    external_key: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PREFIX",
            help="Of a guest: only branches whose external keys begin so; repeatable.",
        ),
    ] = None,
    rpc: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Of a guest: only this RPC, as GetBranch; repeatable."),
    ] = None,
    days: Annotated[
        float | None, typer.Option(metavar="N", min=0, help="It expires so many days from now.")
    ] = None,
    admin: Annotated[
        bool, typer.Option("--admin", help="Of an owner: it opens channelz too, which shows every caller.")
    ] = False,
    file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Append the entry to this file of tokens instead of printing it."),
    ] = None,
) -> None:
    """Make a bearer token and its entry for the services' --tokens file.

    The token is shown this once: the entry holds its hash only. Services that run read the file again.
    """
    # Here, as no other command should wait for it.
    from antiphon_client.edge.tokens import check_entry, new_token

    made = new_token()
    entry = _entry(
        made,
        tenant=tenant,
        role=role.value,
        branches=branch,
        external_keys=external_key,
        rpcs=rpc,
        expires=None if days is None else datetime.now(UTC) + timedelta(days=days),
        admin=admin or None,
    )
    check_entry(entry)
    if file is not None:
        _append(file, entry)
        say(made.text)
        return
    say(f"{made.text}\n\nFor the file of tokens:\n\n{entry}".rstrip())


def _entry(made: NewToken, **fields: object) -> str:
    lines = [f"[token.{made.token_id}]"]
    for name, value in {**fields, "sha256": made.digest}.items():
        if value is None:
            continue
        # JSON's texts, lists and booleans are TOML's as well.
        text = value.isoformat(timespec="seconds") if isinstance(value, datetime) else json.dumps(value)
        lines.append(f"{name} = {text}")
    return "\n".join(lines) + "\n"


def _append(file: Path, entry: str) -> None:
    """Add an entry to a file of tokens, which is made, for its owner alone, where there is none.

    Raises:
        UnusableFileError: What is there is no such file.
    """
    from antiphon_client.edge.tokens import read_grants

    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "a", encoding="utf-8") as written:
        read_grants(file)
        written.write(("\n" if written.tell() else "") + entry)

"""``antiphon fork`` and ``delete``: whole branches copied and removed."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from antiphon_client.branch import Branch
from antiphon_client.cli.options import (
    AsJson,
    AtRevision,
    BranchName,
    HistoryAddress,
    find_branch,
    open_history,
)
from antiphon_client.cli.output import say, say_json
from antiphon_client.cli.timeline import branch_line, branch_object
from antiphon_client.errors import BranchDeletedError
from antiphon_client.history import HistoryClient

FORK_EXAMPLES = """Examples:

  antiphon fork garden-helper --key garden-helper-2
  antiphon fork garden-helper --at-revision 7 --new-ids --json
  antiphon fork garden-helper --up-to 0190c7a2-0000-7000-8000-000000000000
"""
DELETE_EXAMPLES = """Examples:

  antiphon delete garden-helper
  antiphon delete 0190c7a2-0000-7000-8000-000000000000 --purge
"""


def fork(
    branch: BranchName,
    history: HistoryAddress,
    key: Annotated[str | None, typer.Option(metavar="KEY", help="The fork's external key.")] = None,
    at_revision: AtRevision = None,
    up_to: Annotated[
        str | None, typer.Option(metavar="MESSAGE", help="Id of the last message to take.")
    ] = None,
    new_ids: Annotated[
        bool, typer.Option("--new-ids", help="Clone the messages under new ids instead of sharing them.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make a branch with what another holds; neither sees the other's later writes."""
    with open_history(history) as client:
        source = find_branch(client, branch)
        made = source.fork(at_revision=at_revision, up_to=up_to, new_ids=new_ids, external_key=key)
        record = made.record()
        if as_json:
            say_json(branch_object(record))
        else:
            say(branch_line(record))


def delete(
    branch: BranchName,
    history: HistoryAddress,
    purge: Annotated[
        bool,
        typer.Option("--purge", help="Erase at once what no fork shares; also of a branch deleted before."),
    ] = False,
) -> None:
    """Delete a branch for good. Its id stays taken; its forks stay whole."""
    with open_history(history) as client:
        found = _branch_to_delete(client, branch, purge)
        found.delete(purge=purge)
        say(f"{found.branch_id}  {'purged' if purge else 'deleted'}")


def _branch_to_delete(client: HistoryClient, name: str, purge: bool) -> Branch:
    """Open a branch; one deleted before by its id, for a purge."""
    try:
        return find_branch(client, name)
    except BranchDeletedError:
        if not purge:
            raise
        return Branch(client, UUID(name))

"""``antiphon fork``, ``trim`` and ``delete``: whole branches copied, shortened and removed."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from antiphon_client.cli.options import (
    AsJson,
    AtRevision,
    BranchName,
    HistoryAddress,
    carried,
    find_branch,
    open_history,
)
from antiphon_client.cli.output import say, say_json
from antiphon_client.cli.timeline import branch_line, branch_object

FORK_EXAMPLES = """Examples:

  antiphon fork garden-helper --key garden-helper-2
  antiphon fork garden-helper --at-revision 7 --new-ids --json
  antiphon fork garden-helper --up-to 0190c7a2-0000-7000-8000-000000000000
"""
TRIM_EXAMPLES = """Examples:

  antiphon trim garden-helper --before 100
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
        UUID | None, typer.Option(metavar="MESSAGE", help="Id of the last message to take.")
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


def trim(
    branch: BranchName,
    history: HistoryAddress,
    before: Annotated[
        int,
        typer.Option("--before", metavar="N", min=1, callback=carried, help="The oldest revision to keep."),
    ],
    as_json: AsJson = False,
) -> None:
    """Drop the revisions before one for good; from it on the branch stays as it is.

    What only they show is erased. A branch trimmed that far before stays as it is.
    """
    with open_history(history) as client:
        found = find_branch(client, branch)
        oldest = found.trim(before)
    if as_json:
        say_json({"branch_id": str(found.branch_id), "oldest_revision": oldest})
    else:
        say(f"{found.branch_id}  oldest revision {oldest}")


def delete(
    branch: BranchName,
    history: HistoryAddress,
    purge: Annotated[
        bool,
        typer.Option("--purge", help="Erase at once what no fork shares; also of a branch deleted before."),
    ] = False,
) -> None:
    """Delete a branch for good. Its id stays taken; its forks stay whole.

    Its external key is free again: a deleted branch is named by its id, for a purge.
    """
    with open_history(history) as client:
        found = find_branch(client, branch)
        found.delete(purge=purge)
        say(f"{found.branch_id}  {'purged' if purge else 'deleted'}")

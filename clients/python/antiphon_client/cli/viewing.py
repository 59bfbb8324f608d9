"""``antiphon view``: the messages of a branch that models are shown."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from antiphon_client.branch import Branch
from antiphon_client.cli.options import (
    AsJson,
    BranchName,
    ExpectedRevision,
    HistoryAddress,
    find_branch,
    open_history,
)
from antiphon_client.cli.output import counted, say, say_json
from antiphon_client.cli.timeline import title

EXAMPLES = """Examples:

  antiphon view garden-helper
  antiphon view garden-helper --select 0190c7a2-0000-7000-8000-000000000000
  antiphon view garden-helper --clear
"""


def view(
    branch: BranchName,
    history: HistoryAddress,
    select: Annotated[
        list[UUID] | None,
        typer.Option("--select", metavar="ID", help="A message of the view; repeated, in the view's order."),
    ] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Return to the full order.")] = False,
    expected_revision: ExpectedRevision = None,
    as_json: AsJson = False,
) -> None:
    """Show a branch's view, the messages that compilations read; select one, or clear it.

    Without a view they read the whole branch. Nothing leaves the branch either
    way. `antiphon log --ids` shows the ids.
    """
    if select and clear:
        raise typer.BadParameter("goes without --select", param_hint="--clear")
    if expected_revision is not None and not (select or clear):
        raise typer.BadParameter("is about --select and --clear", param_hint="--expected-revision")
    with open_history(history) as client:
        found = find_branch(client, branch)
        if select:
            found.select_view(select, expected_revision=expected_revision)
        elif clear:
            found.clear_view(expected_revision=expected_revision)
        _show(found, as_json=as_json)


def _show(branch: Branch, *, as_json: bool) -> None:
    record = branch.record()
    is_selected = record.view_count is not None
    if as_json:
        ids = branch.progression(at_revision=record.revision) if is_selected else None
        told = None if ids is None else [str(message_id) for message_id in ids]
        say_json({"revision": record.revision, "messages": record.message_count, "view": told})
        return
    every = counted(record.message_count, "message")
    if not is_selected:
        say(f"revision {record.revision}: no view, all of {every}")
        return
    say(f"revision {record.revision}: a view of {record.view_count} of {every}")
    for message in branch.snapshot(at_revision=record.revision).messages:
        say(f"{message.id}  {title(message)}")

"""``antiphon watch``: a branch's changes as they are committed."""

from __future__ import annotations

from typing import Annotated

import typer

from antiphon_client.cli.options import AsJson, BranchName, HistoryAddress, find_branch, open_history
from antiphon_client.cli.output import say, say_json
from antiphon_client.watching import Change, Operation, WatchToken

EXAMPLES = """Examples:

  antiphon watch garden-helper
  antiphon watch garden-helper --after 12 --json
  antiphon watch garden-helper --no-follow
"""

_SIGNS = {"added": "+", "replaced": "~", "removed": "-", "moved": ">"}


def watch(
    branch: BranchName,
    history: HistoryAddress,
    after: Annotated[
        str,
        typer.Option("--after", metavar="N|TOKEN", help="Begin after a revision, or after a change's token."),
    ] = "0",
    follow: Annotated[
        bool, typer.Option("--follow/--no-follow", help="Wait for further changes, until Ctrl-C.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Show every change of a branch, in order, one a line, and wait for more.

    With --json each line has a token; the watch goes on after it with --after TOKEN.
    """
    position = _position(after)
    with open_history(history) as client:
        for change in find_branch(client, branch).watch(after=position, follow=follow):
            if as_json:
                say_json(_object(change))
            else:
                say(f"{change.revision:>6}  {change.kind:<10}  {_steps(change)}".rstrip())


def _position(text: str) -> WatchToken | int:
    try:
        return int(text) if text.isdecimal() else WatchToken.parse(text)
    except ValueError:
        raise typer.BadParameter("neither a revision nor a token", param_hint="--after") from None


def _object(change: Change) -> dict[str, object]:
    return {
        "revision": change.revision,
        "kind": change.kind,
        "operations": [_operation_object(operation) for operation in change.operations],
        "token": str(change.token),
    }


def _operation_object(operation: Operation) -> dict[str, object]:
    told: dict[str, object] = {"name": operation.name}
    if operation.message_id is not None:
        told["message_id"] = str(operation.message_id)
    if operation.index is not None:
        told["index"] = operation.index
    if operation.message_count is not None:
        told["message_count"] = operation.message_count
    return told


def _steps(change: Change) -> str:
    return "  ".join(map(_step, change.operations))


def _step(operation: Operation) -> str:
    if operation.message_id is None:
        count = "" if operation.message_count is None else f" of {operation.message_count:,}"
        return operation.name.replace("_", " ") + count
    place = "" if operation.index is None else f" at {operation.index}"
    return f"{_SIGNS[operation.name]}{operation.message_id}{place}"

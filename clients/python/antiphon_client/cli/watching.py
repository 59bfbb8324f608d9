"""``antiphon watch``: a branch's changes as they are committed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from antiphon_client.cli.options import (
    AsJson,
    BranchName,
    HistoryAddress,
    carried,
    find_branch,
    open_history,
)
from antiphon_client.cli.output import complain, error_text, say, say_json
from antiphon_client.errors import AntiphonError
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
    """Show every change of a branch, in order, and wait for more, until it is deleted.

    Where the service goes away, a line on standard error says so; the watch
    waits for it and goes on where it was.

    Changes name messages: `antiphon log --at-revision N` shows them. With --json each change is a
    line and has a token; the watch goes on after it with --after TOKEN. The branch may have been
    deleted before: it is named by its id then.
    """
    position = _position(after)
    with open_history(history) as client:
        found = find_branch(client, branch)
        for change in found.watch(after=position, follow=follow, on_lost=_tell_lost):
            if as_json:
                say_json(_object(change))
            else:
                for line in _lines(change):
                    say(line)


def _tell_lost(error: AntiphonError) -> None:
    complain(f"the history service is gone; waiting for it ({error_text(error)})")


def _position(text: str) -> WatchToken | int:
    try:
        return carried(int(text)) if text.isdecimal() else WatchToken.parse(text)
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


def _lines(change: Change) -> Iterator[str]:
    """Yield a change, its operations one a line."""
    head = f"{change.revision:>6}  {change.kind:<10}  "
    first, *more = map(_step, change.operations) if change.operations else ("",)
    yield f"{head}{first}".rstrip()
    for step in more:
        yield " " * len(head) + step


def _step(operation: Operation) -> str:
    if operation.message_id is None:
        count = "" if operation.message_count is None else f" of {operation.message_count:,}"
        return operation.name.replace("_", " ") + count
    place = "" if operation.index is None else f" at {operation.index}"
    return f"{_SIGNS[operation.name]}{operation.message_id}{place}"

"""``antiphon diff``: what a model saw then and now."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer

from antiphon_client.cli.compile_options import ProfileName, Question, ToolsFile, asked, tool_schemas
from antiphon_client.cli.compiled_text import message_text
from antiphon_client.cli.options import (
    AsJson,
    BranchName,
    CompilerAddress,
    HistoryAddress,
    carried,
    find_branch,
    open_compiler,
    open_history,
)
from antiphon_client.cli.output import complain, counted, error_text, say, say_json, visible
from antiphon_client.cli.timeline import body
from antiphon_client.cli.turn_changes import changes
from antiphon_client.errors import AntiphonError, FieldInvalidError, OpenCallsError
from antiphon_client.turn import Compilation, TurnRequest

EXAMPLES = """Examples:

  antiphon diff garden-helper --at 3 --at 7
  antiphon diff garden-helper --at 3
  antiphon diff garden-helper --at 3 --at 7 --profile folded --instruction "And tomorrow?"

Exit codes: 0 the same, 1 different, 2 trouble.
"""

_TROUBLE = 2


def diff(
    branch: BranchName,
    history: HistoryAddress,
    compiler: CompilerAddress,
    at: Annotated[
        list[int],
        typer.Option(
            "--at",
            metavar="N",
            callback=carried,
            help="A revision; the second left out is the branch as it stands.",
        ),
    ],
    profile: ProfileName = "native",
    instruction: Question = None,
    tools: ToolsFile = None,
    as_json: AsJson = False,
) -> None:
    """Compare what a branch compiles to at two revisions.

    Without an instruction it is the history alone, in real tool turns: what a
    model saw that was asked to go on.
    """
    if len(at) > 2:
        raise typer.BadParameter("takes two revisions at most", param_hint="--at")
    turn = TurnRequest(asked(instruction, profile), tool_schemas=tool_schemas(tools))
    compiled: list[Compilation] = []
    revisions: list[int] = []
    try:
        with open_history(history) as history_client, open_compiler(compiler) as compiler_client:
            found = find_branch(history_client, branch)
            revisions = [*at, found.record().revision][:2]
            for revision in revisions:
                how: Any = {"at_revision": revision, "profile": profile}
                compiled.append(compiler_client.compile(found, turn, **how))
    except (AntiphonError, OSError, ValueError) as error:
        complain(_trouble(error, revisions[len(compiled) :], turn))
        raise typer.Exit(_TROUBLE) from None
    before, after = compiled
    is_same = before.messages_digest == after.messages_digest
    if as_json:
        say_json({"profile": profile, **_object(before, after)})
    elif is_same:
        turns = counted(len(after.request.messages), "turn")
        say(f"the same: {turns}, sha256 {after.messages_digest}, profile {profile}")
    else:
        for line in _difference(visible(branch), profile, before, after):
            say(line)
    raise typer.Exit(0 if is_same else 1)


def _trouble(error: Exception, waiting: Sequence[int], turn: TurnRequest) -> str:
    """Return one line about an error: which revision it was about, of those not compiled, and what helps."""
    text = error_text(error)
    if waiting:
        text += f" (compiling revision {waiting[0]})"
    if turn.instruction is None and waiting and isinstance(error, OpenCallsError | FieldInvalidError):
        text += "; compare with an --instruction, or another --at: "
        text += f"nothing goes on from revision {waiting[0]} as it stands"
    return text


def _difference(name: str, profile: str, before: Compilation, after: Compilation) -> Iterator[str]:
    then, now = (f"{name} at revision {each.history_revision}, profile {profile}" for each in (before, after))
    lines = list(difflib.unified_diff(_lines(before), _lines(after), then, now, lineterm=""))
    # A digest tells apart what lines do not show: a control character from the text of its escape.
    yield from lines or [f"--- {then}", f"+++ {now}", "different in what is not shown"]


def _lines(compilation: Compilation) -> list[str]:
    lines = []
    if compilation.system_text is not None:
        lines += ["system", *body(compilation.system_text, None)]
    for message in compilation.request.messages:
        lines += [message.role.value, *body(message_text(message), None)]
    return lines


def _object(before: Compilation, after: Compilation) -> dict[str, Any]:
    return {
        "is_same": before.messages_digest == after.messages_digest,
        "before": _side(before),
        "after": _side(after),
        "is_system_text_same": before.system_text == after.system_text,
        "changes": [
            {"change": tag, "before": [start, end], "after": [new_start, new_end]}
            for tag, start, end, new_start, new_end in changes(_turns(before), _turns(after))
        ],
    }


def _turns(compilation: Compilation) -> list[tuple[str, str]]:
    return [(message.role.value, message_text(message)) for message in compilation.request.messages]


def _side(compilation: Compilation) -> dict[str, Any]:
    return {
        "revision": compilation.history_revision,
        "messages_digest": compilation.messages_digest,
        "turns": len(compilation.request.messages),
    }

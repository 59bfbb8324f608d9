"""``antiphon add``: a message written into a branch."""

from __future__ import annotations

from typing import Annotated

import typer

from antiphon_client.cli.given_texts import text_or_input
from antiphon_client.cli.options import (
    AsJson,
    BranchName,
    ExpectedRevision,
    HistoryAddress,
    find_branch,
    open_history,
)
from antiphon_client.cli.output import say, say_json
from antiphon_client.messages import AssistantResponse, Instruction, Message, System

EXAMPLES = """Examples:

  antiphon add garden-helper --instruction "And tomorrow?"
  antiphon add garden-helper --response "Rain." --expected-revision 7
  antiphon add garden-helper --system - < system.txt
"""


def add(
    branch: BranchName,
    history: HistoryAddress,
    instruction: Annotated[
        str | None, typer.Option("--instruction", metavar="TEXT", help="What a user asks.")
    ] = None,
    response: Annotated[
        str | None, typer.Option("--response", metavar="TEXT", help="What a model answered.")
    ] = None,
    system: Annotated[
        str | None,
        typer.Option("--system", metavar="TEXT", help="The system text; it takes the place of a former one."),
    ] = None,
    expected_revision: ExpectedRevision = None,
    as_json: AsJson = False,
) -> None:
    """Add one message to a branch and print the new revision and the message's id.

    A TEXT of - is read from standard input, as it stands: its last line end is part of it.
    """
    message = _message(instruction, response, system)
    with open_history(history) as client:
        written = find_branch(client, branch).add(message, expected_revision=expected_revision)
    (place,) = written.placements
    if as_json:
        told = {"revision": written.revision, "message_id": str(place.message_id), "index": place.index}
        say_json(told)
    else:
        say(f"revision {written.revision}: {place.message_id} at {place.index}")


def _message(instruction: str | None, response: str | None, system: str | None) -> Message:
    given = [text for text in (instruction, response, system) if text is not None]
    if len(given) != 1:
        raise typer.BadParameter("give one of the three", param_hint="--instruction, --response, --system")
    text = text_or_input(given[0])
    if instruction is not None:
        return Instruction.create(text)
    return System.create(text) if system is not None else AssistantResponse.create(text)

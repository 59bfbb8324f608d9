"""``antiphon branches``, ``log`` and ``export``: looking at what is kept."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from antiphon_client.cli.branch_files import export_file
from antiphon_client.cli.losses import loss_lines, refuse_another_form
from antiphon_client.cli.options import (
    AsJson,
    AtRevision,
    BranchName,
    HistoryAddress,
    find_branch,
    open_history,
)
from antiphon_client.cli.output import complain, say, say_json
from antiphon_client.cli.timeline import branch_line, branch_object, timeline
from antiphon_client.json_text import dump_json_text
from antiphon_client.openai_chat import export_conversation, export_with_losses

BRANCHES_EXAMPLES = """Examples:

  antiphon branches
  antiphon branches --prefix airline- --json
"""
LOG_EXAMPLES = """Examples:

  antiphon log garden-helper
  antiphon log airline-000-0 --full
  antiphon log 0190c7a2-0000-7000-8000-000000000000 --at-revision 3 --json
"""
EXPORT_EXAMPLES = """Examples:

  antiphon export garden-helper --format openai > messages.json
  antiphon export garden-helper --format conversation >> conversations.jsonl
  antiphon export garden-helper --format antiphon -o garden-helper.jsonl
"""

_LINES = 12


class ExportFormat(StrEnum):
    """What a branch can be exported as."""

    OPENAI = "openai"
    CONVERSATION = "conversation"
    ANTIPHON = "antiphon"


def _export_format(text: str) -> ExportFormat:
    try:
        return ExportFormat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not one of: {', '.join(ExportFormat)}") from None


def branches(
    history: HistoryAddress,
    prefix: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Only branches whose external key starts with it.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the branches, oldest first; with a prefix, in the order of their keys."""
    with open_history(history) as client:
        any_listed = False
        for branch in client.branches(external_key_prefix=prefix):
            any_listed = True
            if as_json:
                say_json(branch_object(branch))
            else:
                say(branch_line(branch))
    if not (any_listed or as_json):
        complain("no branches" if prefix is None else f"no branches with the prefix {prefix!r}")


def log(
    branch: BranchName,
    history: HistoryAddress,
    at_revision: AtRevision = None,
    full: Annotated[bool, typer.Option("--full", help=f"Show texts beyond {_LINES} lines.")] = False,
    ids: Annotated[bool, typer.Option("--ids", help="Show the messages' ids.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show a branch as a timeline: every message in order, those of a selected view marked with *."""
    with open_history(history) as client:
        found = find_branch(client, branch)
        record = found.record(at_revision=at_revision)
        messages = found.messages(at_revision=record.revision)
        if as_json:
            for message in messages:
                say_json(message.to_dict())
            return
        say(branch_line(record))
        view = () if record.view_count is None else found.progression(at_revision=record.revision)
        for line in timeline(messages, None if full else _LINES, view=frozenset(view), ids=ids):
            say(line)


def export(
    branch: BranchName,
    history: HistoryAddress,
    format_: Annotated[
        ExportFormat,
        typer.Option(
            "--format", metavar="FORMAT", parser=_export_format, help="openai, conversation or antiphon."
        ),
    ] = ExportFormat.OPENAI,
    at_revision: AtRevision = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", dir_okay=False, help="Write there.")
    ] = None,
) -> None:
    """Write a branch's messages to standard output, and nothing else there, or to a file.

    The format openai is an array of OpenAI's chat messages; what they cannot
    say of the branch is told on standard error. The format conversation is an
    object {id, messages} of such messages with the other keys that an imported
    conversation had; it is refused where that was Anthropic's or Gemini's. The
    format antiphon is the branch itself, without loss: messages with their ids,
    times and links, order, view and metadata. `antiphon import` takes each. All
    messages are written, also while a view of some is selected.
    """
    with open_history(history) as client:
        found = find_branch(client, branch)
        if format_ is ExportFormat.ANTIPHON:
            export_file(client, found.branch_id, output, at_revision=at_revision)
            return
        record = found.record(at_revision=at_revision)
        if format_ is ExportFormat.CONVERSATION:
            refuse_another_form(record, branch)
        system = found.system(at_revision=record.revision)
        given = export_with_losses(system, found.messages(at_revision=record.revision))
    exported: Any = given.messages
    if format_ is ExportFormat.CONVERSATION:
        exported = export_conversation(
            record.metadata, record.external_key or str(record.branch_id), given.messages
        )
    for line in loss_lines(given.losses):
        complain(line)
    if output is None:
        say_json(exported)
    else:
        output.write_text(dump_json_text(exported) + "\n", encoding="utf-8")

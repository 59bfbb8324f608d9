"""``antiphon window`` and ``antiphon compact``: what fits, and what to summarize."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from antiphon_client.branch import Branch
from antiphon_client.cli.compile_options import TokenCounter, ToolsFile, tool_schemas
from antiphon_client.cli.given_texts import text_of_file
from antiphon_client.cli.options import (
    AsJson,
    AtRevision,
    BranchName,
    CompilerAddress,
    HistoryAddress,
    carried,
    find_branch,
    open_compiler,
    open_history,
)
from antiphon_client.cli.output import counted, say, say_json
from antiphon_client.cli.timeline import body, title
from antiphon_client.compiler import CompilerClient
from antiphon_client.messages import Instruction
from antiphon_client.planning import CompactionPlan, WindowPlan
from antiphon_client.turn import TurnRequest, tool_schema_list

WINDOW_EXAMPLES = """Examples:

  antiphon window garden-helper --budget 4000
  antiphon window garden-helper --budget 4000 --tokens o200k_base --json
"""
COMPACT_EXAMPLES = """Examples:

  antiphon compact garden-helper --keep-messages 6
  antiphon compact garden-helper --keep-messages 6 --at-revision 12 --summary summary.txt
"""

_Pins = Annotated[
    list[UUID] | None,
    typer.Option("--pin", metavar="ID", help="A message that stays whatever the budget; may be repeated."),
]


def window(
    branch: BranchName,
    history: HistoryAddress,
    compiler: CompilerAddress,
    budget: Annotated[
        int, typer.Option("--budget", metavar="N", min=1, callback=carried, help="Tokens for all of it.")
    ],
    tokens: TokenCounter = None,
    pin: _Pins = None,
    instruction: Annotated[
        str | None, typer.Option("--instruction", metavar="TEXT", help="What will be asked; it counts too.")
    ] = None,
    tools: ToolsFile = None,
    at_revision: AtRevision = None,
    as_json: AsJson = False,
) -> None:
    """Plan which of a branch's messages fit a budget of tokens: the newest whole exchanges.

    Nothing is changed: what is kept is a progression to compile with, and
    `antiphon compile --budget N` plans and compiles at once.
    """
    with open_history(history) as history_client, open_compiler(compiler) as compiler_client:
        found = find_branch(history_client, branch)
        plan = compiler_client.plan_window(
            found,
            budget,
            token_counter=tokens,
            pinned=pin or (),
            instruction=None if instruction is None else Instruction.create(instruction),
            tool_schemas=tool_schemas(tools),
            at_revision=at_revision,
        )
        if as_json:
            say_json(window_object(plan))
            return
        say(f"revision {plan.history_revision}: {window_text(plan, budget)}")
        _show(found, plan.progression, plan.history_revision)


def compact(
    branch: BranchName,
    history: HistoryAddress,
    compiler: CompilerAddress,
    keep_tokens: Annotated[
        int | None,
        typer.Option(
            "--keep-tokens", metavar="N", min=1, callback=carried, help="Tokens that what stays may take."
        ),
    ] = None,
    keep_messages: Annotated[
        int | None,
        typer.Option(
            "--keep-messages", metavar="N", min=1, callback=carried, help="Messages that stay at the least."
        ),
    ] = None,
    tokens: TokenCounter = None,
    pin: _Pins = None,
    at_revision: AtRevision = None,
    summary: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Store this summary, - for standard input; needs the plan's --at-revision.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Plan a compaction: what to summarize and what stays; with a summary, store it.

    Nothing is changed without --summary. With it, the same plan is made again
    at the revision named, and what was added since stays.
    """
    if not (keep_tokens or keep_messages):
        raise typer.BadParameter("is needed, or --keep-messages", param_hint="--keep-tokens")
    if summary is not None and at_revision is None:
        raise typer.BadParameter("is needed by --summary: that of the plan", param_hint="--at-revision")
    with open_history(history) as history_client, open_compiler(compiler) as compiler_client:
        found = find_branch(history_client, branch)
        plan = compiler_client.plan_compaction(
            found,
            keep_tokens=keep_tokens or 0,
            keep_messages=keep_messages or 0,
            token_counter=tokens,
            pinned=pin or (),
            at_revision=at_revision,
        )
        if summary is not None:
            _commit(found, plan, text_of_file(summary), as_json=as_json)
        elif as_json:
            say_json(_compaction_object(plan))
        else:
            _show_compaction(found, plan)


def _commit(branch: Branch, plan: CompactionPlan, summary: str, *, as_json: bool) -> None:
    if plan.first_id is None:
        raise typer.BadParameter("there is nothing to compact", param_hint="--summary")
    written = branch.commit_compaction(summary, **plan.committing())
    (message_id,) = written.message_ids
    if as_json:
        say_json({"message_id": str(message_id), "revision": written.revision})
    else:
        say(
            f"revision {written.revision}: summary {message_id} stands for "
            f"{counted(plan.compacted_count, 'message')}, {counted(len(plan.kept), 'message')} stay"
        )


def _show_compaction(branch: Branch, plan: CompactionPlan) -> None:
    if plan.first_id is None:
        say(f"revision {plan.history_revision}: nothing to compact, {plan.tokens_before:,} tokens")
        return
    say(
        f"revision {plan.history_revision}: {counted(plan.compacted_count, 'message')} to summarize, "
        f"{counted(len(plan.kept), 'message')} stay; {plan.tokens_kept:,} tokens of {plan.tokens_before:,}"
    )
    say(f"to summarize, from {plan.first_id} to {plan.last_id}:")
    for line in body(plan.text, None):
        say(line)
    say("to stay:")
    _show(branch, plan.kept, plan.history_revision)


def _show(branch: Branch, message_ids: tuple[UUID, ...], revision: int) -> None:
    kept = set(message_ids)
    for index, message in enumerate(branch.messages(at_revision=revision)):
        if message.id in kept:
            say(f"{index:>4}  {title(message)}  {message.id}")


def planned_window(
    compiler: CompilerClient,
    branch: Branch,
    turn: TurnRequest,
    budget: int,
    *,
    at_revision: int | None,
    tokens: str | None,
) -> WindowPlan:
    """Plan the window of a branch, or of the progression that a turn names, for the turn."""
    return compiler.plan_window(
        branch,
        budget,
        progression=turn.progression,
        token_counter=tokens,
        instruction=turn.instruction,
        tool_schemas=tool_schema_list(turn.tool_schemas),
        at_revision=at_revision,
    )


def window_text(plan: WindowPlan, budget: int) -> str:
    """Return what a window keeps and takes, in one line."""
    return (
        f"{counted(len(plan.progression), 'message')} kept, {plan.dropped_count:,} left out; "
        f"{plan.tokens:,} of {counted(budget, 'token')}, {plan.tokens_before:,} before"
    )


def window_object(plan: WindowPlan) -> dict[str, Any]:
    """Return a window as plain JSON data."""
    return {
        "progression": [str(message_id) for message_id in plan.progression],
        "tokens": plan.tokens,
        "tokens_before": plan.tokens_before,
        "dropped_count": plan.dropped_count,
        "history_revision": plan.history_revision,
        "incarnation": None if plan.incarnation is None else str(plan.incarnation),
    }


def _compaction_object(plan: CompactionPlan) -> dict[str, Any]:
    def text(message_id: UUID | None) -> str | None:
        return None if message_id is None else str(message_id)

    return {
        "kept": [str(message_id) for message_id in plan.kept],
        "first_id": text(plan.first_id),
        "last_id": text(plan.last_id),
        "text": plan.text,
        "summary_message_id": text(plan.summary_message_id),
        "tokens_before": plan.tokens_before,
        "tokens_kept": plan.tokens_kept,
        "compacted_count": plan.compacted_count,
        "history_revision": plan.history_revision,
        "incarnation": text(plan.incarnation),
    }

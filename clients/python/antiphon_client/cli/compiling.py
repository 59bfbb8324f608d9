"""``antiphon compile``: what a model would be sent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from antiphon_client.cli.compile_options import (
    ProfileName,
    Question,
    TokenCounter,
    ToolsFile,
    answer_format,
    asked,
    check_output,
    read_object,
    target_options,
    tool_schemas,
)
from antiphon_client.cli.compiled_text import compiled_lines, compiled_object, note_rows, proof_lines
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
from antiphon_client.cli.output import complain, say, say_json, say_json_text, say_table
from antiphon_client.cli.planning import planned_window, window_object, window_text
from antiphon_client.compiler import CompilerClient
from antiphon_client.turn import Compilation, TurnRequest

EXAMPLES = """Examples:

  antiphon compile garden-helper --instruction "And tomorrow?"
  antiphon compile garden-helper --instruction "And tomorrow?" --tools tools.json --json
  antiphon compile garden-helper --profile native --target anthropic.messages --instruction Hi --explain
  antiphon compile garden-helper --profile native --target openai.chat --model M --request > body.json
  antiphon compile garden-helper --instruction "How many?" --response-schema count.json --budget 4000
"""

_TARGET = "About the target"


def compile_turn(
    branch: BranchName,
    history: HistoryAddress,
    compiler: CompilerAddress,
    instruction: Question = None,
    profile: ProfileName = "folded",
    tools: ToolsFile = None,
    response_format: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            readable=True,
            help="Example of the answer: a JSON object.",
        ),
    ] = None,
    response_schema: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            readable=True,
            help="JSON Schema of the answer: a JSON object.",
        ),
    ] = None,
    kwargs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            readable=True,
            help="Keyword arguments of the model call: a JSON object.",
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(metavar="TARGET", help="Make this provider's request too; `targets` lists them."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="The model asked.", rich_help_panel=_TARGET)
    ] = None,
    flag: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FLAG", help="A switch of the target; may be repeated.", rich_help_panel=_TARGET
        ),
    ] = None,
    tool_choice: Annotated[
        str | None,
        typer.Option(
            metavar="CHOICE", help="auto, required, none, or a tool's name.", rich_help_panel=_TARGET
        ),
    ] = None,
    parallel_calls: Annotated[
        bool | None,
        typer.Option(
            "--parallel-calls/--one-call",
            help="Whether several calls may come at once.",
            rich_help_panel=_TARGET,
        ),
    ] = None,
    strip_signatures: Annotated[
        bool,
        typer.Option(
            "--strip-signatures", help="Leave out signatures and opaque parts.", rich_help_panel=_TARGET
        ),
    ] = False,
    response_format_name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Names the structured answer.", rich_help_panel=_TARGET),
    ] = None,
    progression: Annotated[
        list[UUID] | None,
        typer.Option(
            metavar="ID", help="A message to compile with; repeated, in order, in the place of the view."
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            metavar="TOKENS",
            min=1,
            callback=carried,
            help="Compile with the window that fits, as `window` plans it.",
        ),
    ] = None,
    tokens: TokenCounter = None,
    at_revision: AtRevision = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show what the compiler did and why, as a table.")
    ] = False,
    request: Annotated[
        bool, typer.Option("--request", help="Print the provider's request alone, exactly as it is.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compile a branch with a new instruction and show what a model would be sent.

    Nothing is recorded and no model is called.
    """
    check_output(request=request, as_json=as_json, explain=explain, target=target)
    turn = TurnRequest(
        instruction=asked(instruction, profile),
        progression=progression,
        tool_schemas=tool_schemas(tools),
        response_format=answer_format(response_format, response_schema),
        provider_kwargs=read_object(kwargs, "--kwargs") or {},
    )
    how: dict[str, Any] = {
        "at_revision": at_revision,
        "profile": profile,
        "target": target,
        "target_options": target_options(
            target,
            model=model,
            flags=flag or [],
            tool_choice=tool_choice,
            parallel_calls=parallel_calls,
            strip_signatures=strip_signatures,
            format_name=response_format_name,
        ),
        "token_counter": tokens,
    }
    with open_history(history) as history_client, open_compiler(compiler) as compiler_client:
        found = find_branch(history_client, branch)
        plan = None
        if budget is not None:
            plan = planned_window(
                compiler_client, found, turn, budget, at_revision=at_revision, tokens=tokens
            )
            turn = replace(turn, progression=plan.progression)
            how["at_revision"] = plan.history_revision
        compilation = compiler_client.compile(found, turn, **how)
        if target is not None and model is None:
            _tell_missing_model(compiler_client, target, turn)
    if request:
        say_json_text(compilation.provider_request_json or "")
    elif as_json:
        window = {} if plan is None else {"window": window_object(plan)}
        say_json({"profile": profile, **compiled_object(compilation), **window})
    else:
        if explain:
            _explain(compilation, profile)
        else:
            for line in compiled_lines(compilation, None, profile):
                say(line)
        if plan is not None and budget is not None:
            say(f"window: {window_text(plan, budget)}")


def _tell_missing_model(compiler: CompilerClient, target: str, turn: TurnRequest) -> None:
    """Say that the request is not fit to be sent yet, where the target's body is to name a model."""
    listed = compiler.list_targets().get(target)
    key = None if listed is None else listed.row.get("model_key")
    if key is not None and key not in turn.provider_kwargs:
        complain(f"the request names no model: give --model, or {key!r} in --kwargs")


def _explain(compilation: Compilation, profile: str) -> None:
    if compilation.report:
        say_table(("NOTE", "MESSAGES", "WHY"), note_rows(compilation.report))
    else:
        say("nothing was dropped, moved, merged or changed")
    for line in proof_lines(compilation, profile):
        say(line)

"""``antiphon compile``: what a model would be sent."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from antiphon_client.cli.compile_options import (
    ProfileName,
    Question,
    TokenCounter,
    ToolsFile,
    asked,
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
    find_branch,
    open_compiler,
    open_history,
)
from antiphon_client.cli.output import say, say_json, say_json_text, say_table
from antiphon_client.turn import Compilation, TurnRequest

EXAMPLES = """Examples:

  antiphon compile garden-helper --instruction "And tomorrow?"
  antiphon compile garden-helper --instruction "And tomorrow?" --tools tools.json --json
  antiphon compile garden-helper --profile native --target anthropic.messages --instruction Hi --explain
  antiphon compile garden-helper --profile native --target openai.chat --model M --request > body.json
"""


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
            metavar="FILE", exists=True, dir_okay=False, readable=True, help="Example of the answer: JSON."
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
    model: Annotated[str | None, typer.Option(metavar="NAME", help="The model asked.")] = None,
    flag: Annotated[
        list[str] | None, typer.Option(metavar="FLAG", help="A switch of the target; may be repeated.")
    ] = None,
    tool_choice: Annotated[
        str | None, typer.Option(metavar="CHOICE", help="auto, required, none, or a tool's name.")
    ] = None,
    parallel_calls: Annotated[
        bool | None,
        typer.Option("--parallel-calls/--one-call", help="Whether several calls may come at once."),
    ] = None,
    strip_signatures: Annotated[
        bool, typer.Option("--strip-signatures", help="Leave out signatures and opaque parts.")
    ] = False,
    response_format_name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Names the structured answer.")
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
    if request and target is None:
        raise typer.BadParameter("is needed by --request", param_hint="--target")
    turn = TurnRequest(
        instruction=asked(instruction, profile),
        tool_schemas=tool_schemas(tools),
        response_format=read_object(response_format, "--response-format"),
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
        compilation = compiler_client.compile(find_branch(history_client, branch), turn, **how)
    if request:
        say_json_text(compilation.provider_request_json or "")
    elif as_json:
        say_json(compiled_object(compilation))
    elif explain:
        _explain(compilation)
    else:
        for line in compiled_lines(compilation, None):
            say(line)


def _explain(compilation: Compilation) -> None:
    if compilation.report:
        say_table(("NOTE", "MESSAGES", "WHY"), note_rows(compilation.report))
    else:
        say("nothing was dropped, moved, merged or changed")
    for line in proof_lines(compilation):
        say(line)

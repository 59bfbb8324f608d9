"""``antiphon compile``: what a model would be sent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

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
from antiphon_client.cli.output import say, say_json
from antiphon_client.cli.timeline import compiled_lines, compiled_object
from antiphon_client.json_text import JsonTextError, parse_json_text
from antiphon_client.messages import Instruction
from antiphon_client.turn import TurnRequest, tool_schema_list

EXAMPLES = """Examples:

  antiphon compile garden-helper --instruction "And tomorrow?"
  antiphon compile garden-helper --instruction "And tomorrow?" --tools tools.json --json
"""


def compile_turn(
    branch: BranchName,
    history: HistoryAddress,
    compiler: CompilerAddress,
    instruction: Annotated[str, typer.Option(metavar="TEXT", help="What is asked in this turn.")],
    tools: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            readable=True,
            help='Tool schemas: a JSON array, one schema, or {"tools": [...]}.',
        ),
    ] = None,
    at_revision: AtRevision = None,
    as_json: AsJson = False,
) -> None:
    """Compile a branch with a new instruction and show what a model would be sent.

    Nothing is recorded and no model is called.
    """
    turn = TurnRequest(
        instruction=Instruction.create(instruction),
        tool_schemas=() if tools is None else _schemas(tools),
    )
    with open_history(history) as history_client, open_compiler(compiler) as compiler_client:
        found = find_branch(history_client, branch)
        compilation = compiler_client.compile(found, turn, at_revision=at_revision)
    if as_json:
        say_json(compiled_object(compilation))
        return
    for line in compiled_lines(compilation, None):
        say(line)


def _schemas(path: Path) -> list[Mapping[str, Any]]:
    try:
        return tool_schema_list(parse_json_text(path.read_text(encoding="utf-8")))
    except (JsonTextError, UnicodeDecodeError, TypeError) as error:
        raise typer.BadParameter(f"{path}: {error}", param_hint="--tools") from None

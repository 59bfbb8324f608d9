"""Options of the commands that compile, and what they lead to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from antiphon_client.cli.output import complain
from antiphon_client.json_text import JsonTextError, parse_json_text
from antiphon_client.messages import Instruction
from antiphon_client.response_format import ResponseFormat, ResponseSchema, resembles_schema
from antiphon_client.targets import Profile, TargetOptions, ToolChoice
from antiphon_client.turn import tool_schema_list

_MODES = ("auto", "required", "none")


def _profile(text: str) -> str:
    if text not in get_args(Profile):
        raise typer.BadParameter(f"{text!r} is not one of: {', '.join(get_args(Profile))}")
    return text


ProfileName = Annotated[
    str,
    typer.Option(
        "--profile",
        metavar="PROFILE",
        parser=_profile,
        help="folded: roles user and assistant only; native: real tool turns.",
    ),
]
Question = Annotated[
    str | None,
    typer.Option("--instruction", metavar="TEXT", help="What is asked; native goes on without it."),
]
ToolsFile = Annotated[
    Path | None,
    typer.Option(
        "--tools",
        metavar="FILE",
        exists=True,
        dir_okay=False,
        readable=True,
        help='Tool schemas: a JSON array, one schema, or {"tools": [...]}.',
    ),
]
TokenCounter = Annotated[
    str | None,
    typer.Option("--tokens", metavar="COUNTER", help="Count tokens: estimate, or what `targets` lists."),
]


def asked(instruction: str | None, profile: str) -> Instruction | None:
    """Return a turn's instruction.

    Raises:
        typer.BadParameter: There is none, and the profile needs one.
    """
    if instruction is None and profile != "native":
        raise typer.BadParameter("is needed, except with --profile native", param_hint="--instruction")
    return None if instruction is None else Instruction.create(instruction)


def tool_schemas(path: Path | None) -> list[Mapping[str, Any]]:
    """Read a file of tool schemas; none without a file.

    Raises:
        typer.BadParameter: It holds something else.
    """
    if path is None:
        return []
    try:
        return tool_schema_list(read_json(path, "--tools"))
    except TypeError as error:
        raise typer.BadParameter(f"{path}: {error}", param_hint="--tools") from None


def read_json(path: Path, option: str) -> Any:
    """Read a JSON file.

    Raises:
        typer.BadParameter: It is none.
    """
    try:
        return parse_json_text(path.read_text(encoding="utf-8"))
    except (JsonTextError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"{path}: {error}", param_hint=option) from None


def read_object(path: Path | None, option: str) -> dict[str, Any] | None:
    """Read a file of one JSON object; None without a file.

    Raises:
        typer.BadParameter: It holds something else.
    """
    value = None if path is None else read_json(path, option)
    if not isinstance(value, dict | None):
        raise typer.BadParameter(f"{path}: must be an object", param_hint=option)
    return value


def answer_format(example: Path | None, schema: Path | None) -> ResponseFormat | None:
    """Return the shape wanted of the answer; say so where an example may be meant as a schema.

    Raises:
        typer.BadParameter: Both are given, or a file holds something else.
    """
    if example is not None and schema is not None:
        raise typer.BadParameter("goes without --response-format", param_hint="--response-schema")
    given = read_object(schema, "--response-schema")
    if given is not None:
        return ResponseSchema(given)
    shown = read_object(example, "--response-format")
    if shown is not None and resembles_schema(shown):
        complain(f"{example} looks like a JSON Schema and is sent as an example: see --response-schema")
    return shown


def check_output(*, request: bool, as_json: bool, explain: bool, target: str | None) -> None:
    """Check that one form of output is asked for, and that there is what it shows.

    Raises:
        typer.BadParameter: It is not so.
    """
    if request and target is None:
        raise typer.BadParameter("is needed by --request", param_hint="--target")
    given = {"--request": request, "--json": as_json, "--explain": explain}
    asked_for = [option for option, is_given in given.items() if is_given]
    if len(asked_for) > 1:
        raise typer.BadParameter("are of one output each", param_hint=" and ".join(asked_for))


def target_options(
    target: str | None,
    *,
    model: str | None,
    flags: list[str],
    tool_choice: str | None,
    parallel_calls: bool | None,
    strip_signatures: bool,
    format_name: str | None,
) -> TargetOptions | None:
    """Return how a target is used; None where nothing is said of it.

    Raises:
        typer.BadParameter: Something is said, and there is no target.
    """
    if tool_choice is None and parallel_calls is None:
        choice = None
    elif tool_choice is None or tool_choice in _MODES:
        mode: Any = tool_choice or "auto"
        choice = ToolChoice(mode, parallel_calls=parallel_calls)
    else:
        choice = ToolChoice("function", tool_choice, parallel_calls)
    options = TargetOptions(
        model=model,
        tool_choice=choice,
        strip_signatures=strip_signatures,
        flags=tuple(flags),
        response_format_name=format_name,
    )
    if options == TargetOptions():
        return None
    if target is None:
        raise typer.BadParameter(
            "is needed: options such as --model and --flag are about it", param_hint="--target"
        )
    return options

"""The target of a request: its row, its options and its tools, all checked."""

from __future__ import annotations

from typing import NamedTuple

from antiphon.compiler.v1 import compiler_service_pb2, target_pb2
from antiphon.compiler.v1.compiler_service_pb2 import CompileRequest
from antiphon.compiler.v1.target_pb2 import TargetOptions, ToolChoice
from antiphon_client.errors import FieldInvalidError, ReservedKeyError, TargetUnknownError, Violation
from compiler_service.projection.capabilities import TABLE, Row
from compiler_service.projection.keyword_arguments import KWARGS
from compiler_service.projection.splicing import member_values
from compiler_service.projection.tools import Tool, read_tools

_FORMAT_NAMES = TABLE.name_rules["word"]
_DEFAULT_FORMAT_NAME = "response"


class Target(NamedTuple):
    """Whom a request is for.

    Attributes:
        name: The target's name.
        row: What it takes.
        model: The model asked; None for unknown.
        flags: Flags in force.
        keeps_signatures: Whether signatures and opaque parts may be replayed.
        tool_choice: The tool choice; None for the provider's default.
        format_name: Name of the structured answer.
        tools: The tools to write; FOLDED has them in its text already.
        kwargs: Texts of the keyword arguments by key.
    """

    name: str
    row: Row
    model: str | None
    flags: frozenset[str]
    keeps_signatures: bool
    tool_choice: ToolChoice | None
    format_name: str
    tools: tuple[Tool, ...]
    kwargs: dict[str, str]


def check_target(request: CompileRequest, field_prefix: str) -> None:
    """Check all that a request says about its target.

    Args:
        request: The request, its JSON texts checked; not changed.
        field_prefix: What stands before the field paths in errors.

    Raises:
        TargetUnknownError: There is no such target.
        FieldInvalidError: Options without a target, or options it does not
            take; tools that are none; a keyword argument in two spellings.
        ReservedKeyError: The keyword arguments hold a key of the turns or of
            the system text.
    """
    if request.HasField("target"):
        resolve_target(request, field_prefix)
    elif request.HasField("target_options"):
        raise FieldInvalidError.of(f"{field_prefix}target_options", "needs a target")


def resolve_target(request: CompileRequest, field_prefix: str) -> Target:
    """Return the target of a request that has one; raises as `check_target`."""
    row = TABLE.targets.get(request.target)
    if row is None:
        raise TargetUnknownError.of(request.target)
    options = request.target_options
    violations: list[Violation] = []
    path = f"{field_prefix}target_options"
    tools: tuple[Tool, ...] = ()
    is_native = request.profile == compiler_service_pb2.PROFILE_NATIVE
    if is_native:
        tools = read_tools(request.tool_schemas_json, f"{field_prefix}tool_schemas_json", violations)
    _check_options(options, row, path, violations)
    if options.HasField("tool_choice"):
        _check_tool_choice(options.tool_choice, tools if is_native else None, path, violations)
    if violations:
        raise FieldInvalidError.of_all(violations)
    kwargs = member_values(request.provider_kwargs_json or "{}")
    for key in kwargs:
        name = row.aliases.get(key, key)
        if name in (row.turns_key, row.system_key):
            raise ReservedKeyError.of(KWARGS, key)
        if name != key and name in kwargs:
            reason = f"{key} and {name} are two spellings of one key"
            raise FieldInvalidError.of(f"{field_prefix}provider_kwargs_json", reason)
    return Target(
        name=request.target,
        row=row,
        model=options.model if options.HasField("model") else None,
        flags=row.always | frozenset(options.flags),
        keeps_signatures=not options.strip_signatures,
        tool_choice=options.tool_choice if options.HasField("tool_choice") else None,
        format_name=options.response_format_name or _DEFAULT_FORMAT_NAME,
        tools=tools,
        kwargs=kwargs,
    )


def _check_options(options: TargetOptions, row: Row, path: str, violations: list[Violation]) -> None:
    if options.HasField("model") and not options.model:
        violations.append(Violation(f"{path}.model", "must not be empty"))
    for index, flag in enumerate(options.flags):
        if flag not in row.flags:
            violations.append(Violation(f"{path}.flags[{index}]", f"the target has no flag {flag!r}"))
    if (
        options.HasField("response_format_name")
        and _FORMAT_NAMES.compiled.fullmatch(options.response_format_name) is None
    ):
        reason = "must be 1 to 64 of A-Z, a-z, 0-9, underscore and dash"
        violations.append(Violation(f"{path}.response_format_name", reason))


def _check_tool_choice(
    choice: ToolChoice, tools: tuple[Tool, ...] | None, path: str, violations: list[Violation]
) -> None:
    """Check a choice; ``tools`` is None where the request's tools are text, so that none is chosen from."""
    path = f"{path}.tool_choice"
    is_function = choice.mode == target_pb2.TOOL_CHOICE_MODE_FUNCTION
    if choice.mode not in target_pb2.ToolChoiceMode.values() or not choice.mode:
        violations.append(Violation(f"{path}.mode", "is required, and one of the kinds of choice"))
    elif is_function != choice.HasField("function_name"):
        reason = "is required for FUNCTION" if is_function else "is for FUNCTION only"
        violations.append(Violation(f"{path}.function_name", reason))
    elif tools is None:
        return
    elif is_function and choice.function_name not in {tool.name for tool in tools}:
        violations.append(Violation(f"{path}.function_name", "is none of the request's tools"))
    elif choice.mode == target_pb2.TOOL_CHOICE_MODE_REQUIRED and not tools:
        violations.append(Violation(f"{path}.mode", "there are no tools to call"))

"""The request's tool schemas, read once whatever form they are in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from antiphon_client.errors import Violation
from compiler_service.json_values import parse_checked
from compiler_service.projection.splicing import member_values

NO_PARAMETERS = '{"type":"object","properties":{}}'
"""Schema of a function without parameters, where a target wants one."""

_KINDS = ('"function"', '"custom"')
_PARAMETER_KEYS = ("parameters", "input_schema")


class Tool(NamedTuple):
    """One tool; its texts are the caller's own.

    Attributes:
        name: The function's name.
        description: JSON text of its description; None for none.
        parameters: JSON text of its parameters' schema; None for none.
        strict: Whether the caller asks for the strict form.
        others: Keys that are none of these.
    """

    name: str
    description: str | None
    parameters: str | None
    strict: bool
    others: tuple[str, ...]


def read_tools(schemas: Iterable[str], path: str, violations: list[Violation]) -> tuple[Tool, ...]:
    """Read tool schemas: ``{type: function, function: {...}}``, or the inner object alone.

    Args:
        schemas: JSON texts of objects.
        path: Path of the list, for violations.
        violations: Takes what is wrong: a tool without a name, a name given
            twice, fields of a wrong type.
    """
    tools: list[Tool] = []
    seen: set[str] = set()
    for index, schema in enumerate(schemas):
        tool = _read(schema, f"{path}[{index}]", violations)
        if tool is None:
            continue
        if tool.name in seen:
            violations.append(Violation(f"{path}[{index}]", "names a function that another tool names"))
        seen.add(tool.name)
        tools.append(tool)
    return tuple(tools)


def _read(schema: str, path: str, violations: list[Violation]) -> Tool | None:
    outer = member_values(schema)
    kind = outer.get("type", '"function"')
    if kind not in _KINDS:
        reason = f"{kind} is no function; a provider's own tools are none that every target has"
        violations.append(Violation(f"{path}.type", reason))
        return None
    inner = outer
    others = list[str]()
    if outer.get("function", "").startswith("{"):
        inner = member_values(outer["function"])
        path = f"{path}.function"
        others += [f"tool.{key}" for key in outer if key not in ("type", "function", "strict")]
    name = inner.pop("name", "null")
    description = inner.pop("description", None)
    key = next((key for key in _PARAMETER_KEYS if key in inner), "")
    parameters = inner.pop(key, "null")
    strict = inner.pop("strict", outer.get("strict", "false"))
    others += [key for key in inner if inner is not outer or key != "type"]
    found = [
        Violation(f"{path}.{field}", reason)
        for field, is_right, reason in (
            ("name", name.startswith('"') and name != '""', "must be text and not empty"),
            ("description", (description or "null")[0] in '"n', "must be text"),
            ("parameters", parameters[0] in "{n", "must be an object"),
        )
        if not is_right
    ]
    if found:
        violations += found
        return None
    return Tool(
        name=parse_checked(name),
        description=None if description == "null" else description,
        parameters=None if parameters == "null" else parameters,
        strict=strict == "true",
        others=tuple(others),
    )

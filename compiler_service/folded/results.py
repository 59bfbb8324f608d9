"""Action results as items of an instruction's context (ADR-0007 D2.2)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, TypeAlias

from antiphon_client.messages.rendering import response_projection
from antiphon_client.minimal_yaml import JsonEntries, WrittenItem, write_entries
from compiler_service.json_values import equality_key, parse_checked
from compiler_service.state import ActionOutcome

_PAD = "  "
"""What every line of an item begins with."""
_ARGUMENTS, _OUTPUTS = [JsonEntries(key, _PAD, parse_checked) for key in ("arguments", "output")]


def write_result(outcome: ActionOutcome) -> WrittenItem:
    """Return a result as a context item, written as its projection (``response_projection``) would be.

    Cost: that of ``JsonEntries.write``, and some 1 µs.
    """
    _, _, function, arguments, output, error = outcome
    lines = _function_line(function)
    if arguments:
        lines += _ARGUMENTS.write(function, arguments)
    if output is not None:
        lines += _OUTPUTS.write(function, output)
    if error is not None:
        lines += write_entries({"error": error}, _PAD)
    return WrittenItem(lines)


@lru_cache(maxsize=4096)
def _function_line(function: str) -> str:
    return write_entries({"function": function}, _PAD)


Result: TypeAlias = ActionOutcome | dict[str, Any]
"""A result, or an item of an instruction's own context, which may equal one."""


class ResultSet:
    """The results in one instruction's context, each value once.

    Equal results have one function, so a key is made only of results that
    share theirs. Cost: linear in the results.
    """

    def __init__(self, context: Iterable[Any]) -> None:
        """Start from the items that the context holds already."""
        self._unkeyed: dict[str, Result] = {}
        self._keyed: dict[str, set[str]] = {}
        for item in context:
            # Nothing else can equal a result.
            if isinstance(item, dict) and isinstance(item.get("function"), str):
                self._add(item["function"], item)

    def add(self, outcome: ActionOutcome) -> bool:
        """Add a result; False when an equal one is here already."""
        return self._add(outcome.function, outcome)

    def _add(self, function: str, result: Result) -> bool:
        keys = self._keyed.get(function)
        if keys is None:
            other = self._unkeyed.setdefault(function, result)
            if other is result:
                return True
            keys = self._keyed[function] = {_key_of(other)}
        key = _key_of(result)
        if key in keys:
            return False
        keys.add(key)
        return True


def _key_of(result: Result) -> str:
    return equality_key(result if isinstance(result, dict) else _projection_of(result))


def _projection_of(outcome: ActionOutcome) -> dict[str, Any]:
    arguments, output = outcome.arguments_json, outcome.output_json
    return response_projection(
        outcome.function,
        parse_checked(arguments) if arguments else {},
        None if output is None else parse_checked(output),
        outcome.error,
    )

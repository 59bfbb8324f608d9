"""JSON pointers (RFC 6901)."""

from __future__ import annotations

from typing import Any

from tests.polyglot.faults import ScenarioError


def step(pointer: str, name: str | int) -> str:
    """Return the pointer of a member."""
    return f"{pointer}/{str(name).replace('~', '~0').replace('/', '~1')}"


def resolve(value: Any, pointer: str) -> Any:
    """Return what a pointer leads to.

    Raises:
        ScenarioError: It leads to nothing.
    """
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        try:
            value = value[int(name)] if isinstance(value, list) else value[name]
        except (KeyError, IndexError, ValueError, TypeError):
            raise ScenarioError(f"the reply has nothing at {pointer}") from None
    return value

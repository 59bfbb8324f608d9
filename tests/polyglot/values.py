"""The values of a scenario: variables and the objects that make one (the scenarios' README, Values)."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from tests.polyglot.faults import ScenarioError

_MARK = re.compile(r"\$\$|\$\{(new:)?([A-Za-z_][A-Za-z0-9_]*)\}")
_MAKER = re.compile(r"\$[a-z0-9]+")

MATCHERS = frozenset({"$absent", "$any", "$exact", "$contains", "$sha256", "$starts", "$bytes"})
"""Keys that an expectation has beside those of a request; their contents are expanded, they stay."""


def maker_of(value: Any) -> str | None:
    """Return the key of an object that makes or matches a value, such as ``$repeat``; None for any other."""
    if isinstance(value, dict) and len(value) == 1:
        (key,) = value
        if _MAKER.fullmatch(key):
            return str(key)
    return None


def json_text(value: Any) -> str:
    """Return a value's JSON text as ``$json`` writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class Variables:
    """The variables of one scenario: texts by name."""

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        """Begin with the variables given; none by default."""
        self._values = dict(values or {})

    def keep(self, name: str, value: object) -> None:
        """Keep a reply's text, number or boolean as a text.

        Raises:
            ScenarioError: It is neither.
        """
        if isinstance(value, bool):
            self._values[name] = "true" if value else "false"
        elif isinstance(value, (str, int)):
            self._values[name] = str(value)
        else:
            raise ScenarioError(f"only a text, a number or a boolean can be saved, not {json_text(value)}")

    def expand(self, value: Any, *, expected: bool = False) -> Any:
        """Return a value of the file with its variables replaced and its makers made.

        Args:
            value: What the file says.
            expected: Whether matchers may stand in it, which stay.

        Raises:
            ScenarioError: A variable has no value, or a maker is not one.
        """
        maker = maker_of(value)
        if maker is not None:
            if expected and maker in MATCHERS:
                return {maker: self.expand(value[maker], expected=True)}
            return self._made(maker, value[maker])
        if isinstance(value, dict):
            return {self.text(key): self.expand(member, expected=expected) for key, member in value.items()}
        if isinstance(value, list):
            return [self.expand(member, expected=expected) for member in value]
        return self.text(value) if isinstance(value, str) else value

    def text(self, template: str) -> str:
        """Return a text with its variables replaced; what they hold is not looked into again."""

        def value(mark: re.Match[str]) -> str:
            new, name = mark.groups()
            if name is None:
                return "$"
            if new:
                self._values[name] = str(uuid.uuid4())
            if name not in self._values:
                raise ScenarioError(f"the variable {name} has no value")
            return self._values[name]

        return _MARK.sub(value, template)

    def _made(self, maker: str, contents: Any) -> Any:
        make = _MAKERS.get(maker)
        if make is None:
            raise ScenarioError(f"{maker} makes no value")
        return make(self, contents)

    def _repeat(self, contents: Any) -> str:
        text, count = self.expand(contents)
        return str(text * count)

    def _list(self, contents: Any) -> list[Any]:
        count, member = contents
        outer = self._values.get("i")
        made = []
        for index in range(count):
            self._values["i"] = str(index)
            made.append(self.expand(member))
        if outer is None:
            self._values.pop("i", None)
        else:
            self._values["i"] = outer
        return made

    def _json(self, contents: Any) -> str:
        return json_text(self.expand(contents))


_MAKERS: dict[str, Callable[[Variables, Any], Any]] = {
    "$repeat": Variables._repeat,
    "$list": Variables._list,
    "$json": Variables._json,
}

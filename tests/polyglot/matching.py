"""Whether an answer is the one expected (the scenarios' README, Expectations)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tests.polyglot.faults import MismatchError, ScenarioError
from tests.polyglot.pointers import step
from tests.polyglot.values import json_text, maker_of

MISSING: Final = object()
"""Stands for a member that is not there."""

_SHOWN = 200


def show(value: Any) -> str:
    """Return a value as a message shows it, cut where it is long."""
    if value is MISSING:
        return "nothing"
    text = json_text(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text)} characters)"


def match(expected: Any, actual: Any, pointer: str = "") -> None:
    """Check an answer against an expectation whose variables are replaced.

    Raises:
        MismatchError: It is another.
        ScenarioError: The expectation has a matcher that there is not.
    """
    matcher = maker_of(expected)
    if matcher is not None:
        if matcher not in _MATCHERS:
            raise ScenarioError(f"{matcher} matches no value")
        _MATCHERS[matcher](expected[matcher], actual, pointer)
    elif isinstance(expected, dict):
        _match_members(expected, _object(actual, expected, pointer), pointer)
    elif isinstance(expected, list):
        _match_list(expected, actual, pointer)
    elif actual is MISSING or type(expected) is not type(actual) or expected != actual:
        raise MismatchError(pointer, show(expected), show(actual))


def _object(actual: Any, expected: Any, pointer: str) -> Mapping[str, Any]:
    if not isinstance(actual, dict):
        raise MismatchError(pointer, show(expected), show(actual))
    return actual


def _match_members(expected: Mapping[str, Any], actual: Mapping[str, Any], pointer: str) -> None:
    for name, member in expected.items():
        match(member, actual.get(name, MISSING), step(pointer, name))


def _match_list(expected: Sequence[Any], actual: Any, pointer: str) -> None:
    if not isinstance(actual, list):
        raise MismatchError(pointer, show(expected), show(actual))
    if len(expected) != len(actual):
        raise MismatchError(pointer, f"{len(expected)} members", f"{len(actual)}: {show(actual)}")
    for index, (member, came) in enumerate(zip(expected, actual, strict=True)):
        match(member, came, step(pointer, index))


def _text(actual: Any, expected: str, pointer: str) -> str:
    if not isinstance(actual, str):
        raise MismatchError(pointer, expected, show(actual))
    return actual


def _absent(wanted: Any, actual: Any, pointer: str) -> None:
    if wanted is not True:
        raise ScenarioError("$absent is true")
    if actual is not MISSING:
        raise MismatchError(pointer, "nothing", show(actual))


def _any(wanted: Any, actual: Any, pointer: str) -> None:
    if wanted is not True:
        raise ScenarioError("$any is true")
    if actual is MISSING:
        raise MismatchError(pointer, "any value", "nothing")


def _exact(wanted: Any, actual: Any, pointer: str) -> None:
    came = _object(actual, wanted, pointer)
    _match_members(wanted, came, pointer)
    for name in sorted(came.keys() - wanted.keys()):
        raise MismatchError(step(pointer, name), "nothing", show(came[name]))


def _contains(wanted: Any, actual: Any, pointer: str) -> None:
    if not isinstance(actual, list):
        raise MismatchError(pointer, f"a list with {show(wanted)}", show(actual))
    for member in wanted:
        if not any(_matches(member, came) for came in actual):
            raise MismatchError(pointer, f"a list with {show(member)}", show(actual))


def _matches(expected: Any, actual: Any) -> bool:
    try:
        match(expected, actual)
    except MismatchError:
        return False
    return True


def _sha256(wanted: Any, actual: Any, pointer: str) -> None:
    text = _text(actual, f"a text with the SHA-256 {wanted}", pointer)
    digest = hashlib.sha256(text.encode()).hexdigest()
    if digest != wanted:
        raise MismatchError(
            pointer, f"a text with the SHA-256 {wanted}", f"one with {digest}: {show(actual)}"
        )


def _starts(wanted: Any, actual: Any, pointer: str) -> None:
    if not _text(actual, f"a text that begins with {show(wanted)}", pointer).startswith(wanted):
        raise MismatchError(pointer, f"a text that begins with {show(wanted)}", show(actual))


def _bytes(wanted: Any, actual: Any, pointer: str) -> None:
    size = len(_text(actual, f"a text of {wanted} bytes", pointer).encode())
    if size != wanted:
        raise MismatchError(pointer, f"a text of {wanted} bytes", f"one of {size}: {show(actual)}")


_MATCHERS: dict[str, Callable[[Any, Any, str], None]] = {
    "$absent": _absent,
    "$any": _any,
    "$exact": _exact,
    "$contains": _contains,
    "$sha256": _sha256,
    "$starts": _starts,
    "$bytes": _bytes,
}

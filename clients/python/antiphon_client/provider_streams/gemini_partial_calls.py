"""Gemini's calls that come in pieces: ``partialArgs`` and ``willContinue``.

The first piece names the call, each says whether another follows, and each
gives some of the arguments by their paths, such as ``$.to[0].name``: a number,
a truth value, null, or a text or more of one. An empty call is the last piece::

    {"name": "send", "willContinue": true}
    {"partialArgs": [{"jsonPath": "$.a", "stringValue": "Hel", "willContinue": true}], "willContinue": true}
    {"partialArgs": [{"jsonPath": "$.a", "stringValue": "lo"}], "willContinue": true}
    {}

A call is passed on when its last piece has come. One that has no last piece, or
whose pieces do not make an object, is passed on without its end: what takes the
deltas tells that it is not whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from antiphon.compiler.v1.provider_pb2 import ProviderDelta
from antiphon_client.json_text import MAX_DEPTH, dump_json_text
from antiphon_client.provider_streams.deltas import CallNames, call_start, whole_call
from antiphon_client.provider_streams.shapes import Node, ShapeError

_STEP = re.compile(
    r"""\.(?P<name>[^.\[\]'"]+)|\[(?:(?P<index>[0-9]{1,9})|'(?P<single>(?:[^'\\]|\\.)*+)'"""
    r"""|"(?P<double>(?:[^"\\]|\\.)*+)")\]""",
    re.DOTALL,
)
_ESCAPED_OR_QUOTE = re.compile(r"\\.|\"", re.DOTALL)


class _NotWholeError(ValueError):
    """The pieces of some arguments do not make an object."""


@dataclass(slots=True)
class _Value:
    """A value that holds no others: JSON text, or the pieces of a text, and whether more of it follows."""

    is_text: bool
    pieces: list[str] = field(default_factory=list)
    is_open: bool = False


_Tree: TypeAlias = "dict[str | int, _Tree | _Value]"
"""An object, or an array by its indexes."""


class _Arguments:
    """The arguments of one call, from their pieces. Cost: linear in the pieces, their paths included."""

    def __init__(self) -> None:
        self._root: _Tree = {}
        self._is_broken = False

    def add(self, call: Node) -> None:
        """Take what one piece of the call gives.

        Raises:
            ShapeError: It is no piece of a call.
        """
        given = object_of(call)
        if given is not None and given.value:
            self._root = {key: _Value(False, [value.raw]) for key, value in _all_members(given)}
        for piece in call.items("partialArgs"):
            try:
                self._put(piece)
            except _NotWholeError:
                self._is_broken = True

    def text(self) -> str | None:
        """Return the JSON text of the arguments; None where the pieces do not make an object."""
        try:
            return None if self._is_broken else _written(self._root, is_root=True)
        except _NotWholeError:
            return None

    def _put(self, piece: Node) -> None:
        steps = _steps(piece.need_text("jsonPath"))
        value = _value_of(piece)
        tree = self._root
        for step in steps[:-1]:
            inner = tree.setdefault(step, {})
            if isinstance(inner, _Value):
                raise _NotWholeError
            tree = inner
        former = tree.get(steps[-1])
        is_open = piece.flag("willContinue")
        if former is None:
            if value is None and not is_open:
                raise _NotWholeError
            # Where the first piece has no value, only a text can follow.
            former = tree[steps[-1]] = value or _Value(True)
        elif not isinstance(former, _Value) or not former.is_open:
            raise _NotWholeError
        elif value is not None:
            if not (value.is_text and former.is_text):
                raise _NotWholeError
            former.pieces += value.pieces
        former.is_open = is_open


@dataclass(slots=True)
class _OpenCall:
    """A call of which more is to come."""

    id: str = ""
    function: str = ""
    signature: str | None = None
    arguments: _Arguments = field(default_factory=_Arguments)


class PartialCalls:
    """The calls of one answer that come in pieces; see the module."""

    def __init__(self, names: CallNames) -> None:
        self._names = names
        self._open: _OpenCall | None = None

    def takes(self, call: Node) -> bool:
        """Tell whether a call is a piece of one: it says so, or it goes on with one that is open."""
        if call.flag("willContinue") or call.items("partialArgs"):
            return True
        is_whole = bool(call.text("name")) and call.get("args") is not None
        return not is_whole and self._open is not None and not self._is_another(call)

    def add(self, call: Node, signature: str | None) -> Iterator[ProviderDelta]:
        """Take a piece and yield the call if that is its last one.

        Raises:
            ShapeError: It is no piece of a call.
        """
        if self._is_another(call):
            yield from self.end()
        if self._open is None:
            self._open = _OpenCall()
        opened = self._open
        opened.id = opened.id or call.text("id") or ""
        opened.function = opened.function or call.text("name") or ""
        opened.signature = opened.signature or signature
        opened.arguments.add(call)
        if not call.flag("willContinue"):
            self._open = None
            yield from self._passed_on(opened, opened.arguments.text())

    def end(self) -> Iterator[ProviderDelta]:
        """Yield the call that is open, if one is, as one that has not ended."""
        if self._open is not None:
            opened, self._open = self._open, None
            yield from self._passed_on(opened, None)

    def _is_another(self, call: Node) -> bool:
        """Tell whether a piece names another call than the open one."""
        if self._open is None:
            return False
        given = ((self._open.id, call.text("id")), (self._open.function, call.text("name")))
        return any(former and now and former != now for former, now in given)

    def _passed_on(self, call: _OpenCall, arguments: str | None) -> Iterator[ProviderDelta]:
        name = self._names.take(call.id)
        if arguments is None:
            yield call_start(name, call.function, signature=call.signature)
        else:
            yield from whole_call(name, call.function, arguments, signature=call.signature)


def object_of(call: Node) -> Node | None:
    """Return a call's arguments where it gives them as an object; None where it gives none.

    Raises:
        ShapeError: They are no object.
    """
    arguments = call.get("args")
    if arguments is not None and not isinstance(arguments.value, dict):
        raise ShapeError(arguments.path, "must be an object")
    return arguments


def _all_members(node: Node) -> Iterator[tuple[str, Node]]:
    """Yield an object's members, null ones too."""
    for key, value in node.value.items():
        yield key, Node(value, node.path, node, key)


def _steps(path: str) -> list[str | int]:
    """Return the names and indexes of a path of RFC 9535."""
    steps: list[str | int] = []
    at = 1
    while at < len(path) and (step := _STEP.match(path, at)) is not None:
        at = step.end()
        if step["index"] is not None:
            steps.append(int(step["index"]))
        else:
            steps.append(step["name"] or _unquoted(step["single"], step["double"]))
    if path[:1] != "$" or at < len(path) or not 0 < len(steps) < MAX_DEPTH:
        raise _NotWholeError
    return steps


def _unquoted(single: str | None, double: str | None) -> str:
    """Return the name that is written in quotes of one kind or the other."""
    if single is not None:
        double = _ESCAPED_OR_QUOTE.sub(lambda found: {'"': '\\"', "\\'": "'"}.get(found[0], found[0]), single)
    try:
        name: str = json.loads(f'"{double}"', strict=False)
    except ValueError:
        raise _NotWholeError from None
    return name


def _value_of(piece: Node) -> _Value | None:
    """Return the value of a piece; None where it has none.

    Raises:
        ShapeError: It is not of its kind.
    """
    text = piece.text("stringValue")
    if text is not None:
        return _Value(True, [text])
    for key, kinds in (("numberValue", (int, float)), ("boolValue", (bool,))):
        member = piece.get(key)
        if member is not None:
            if type(member.value) not in kinds:
                raise ShapeError(member.path, "is not of its kind")
            return _Value(False, [member.raw])
    # Null is written as such, or by its name.
    return _Value(False, ["null"]) if "nullValue" in piece.value else None


def _written(node: Any, *, is_root: bool = False) -> str:
    """Return the JSON text of what the pieces gave."""
    if isinstance(node, _Value):
        if node.is_open:
            raise _NotWholeError
        text = "".join(node.pieces)
        return dump_json_text(text) if node.is_text else text
    are_names = [isinstance(key, str) for key in node]
    if is_root or any(are_names):
        if not all(are_names):
            raise _NotWholeError
        members = (f"{dump_json_text(key)}:{_written(value)}" for key, value in node.items())
        return "{" + ",".join(members) + "}"
    if not all(index in node for index in range(len(node))):
        raise _NotWholeError
    return "[" + ",".join(_written(node[index]) for index in range(len(node))) + "]"

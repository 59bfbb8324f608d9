"""The calls of one OpenAI chat answer, their pieces arriving mixed.

Nothing is passed on of a call before its id and name are known, nor before the
calls that began earlier: so the order is the model's. Pieces that come after the
end are passed on too: what takes the deltas tells a call that is not whole.

Cost: linear in the pieces, however many calls they are of.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from antiphon.compiler.v1.provider_pb2 import ProviderDelta
from antiphon_client.provider_streams.deltas import CallNames, call_arguments, call_end, call_start
from antiphon_client.provider_streams.shapes import Node

_FORMS = (("function", "arguments"), ("custom", "input"))
"""The keys of what is called, and of its arguments within that."""


class _Call:
    """One call so far."""

    def __init__(self) -> None:
        self.id = ""
        self.has_ended = False
        self._function = ""
        self._is_free_text = False
        self._waiting: list[str] = []
        self._name: tuple[str, bool] | None = None

    @property
    def is_known(self) -> bool:
        return bool(self.id and self._function)

    @property
    def is_passed_on(self) -> bool:
        return self._name is not None

    def take(self, called: Node, arguments_key: str) -> None:
        self._is_free_text = self._is_free_text or arguments_key == "input"
        self._function = self._function or called.text("name") or ""
        arguments = called.get(arguments_key)
        if arguments is not None:
            # Some servers write the arguments as the object itself.
            is_object = isinstance(arguments.value, dict)
            self._waiting.append(arguments.raw if is_object else called.need_text(arguments_key))

    def pass_on(self, names: CallNames) -> Iterator[ProviderDelta]:
        if self._name is None:
            self._name = names.take(self.id)
            yield call_start(self._name, self._function, is_free_text=self._is_free_text)
        waiting, self._waiting = self._waiting, []
        for text in waiting:
            yield call_arguments(self._name[0], text)

    def end(self, names: CallNames) -> Iterator[ProviderDelta]:
        yield from self.pass_on(names)
        if self._name is not None and not self.has_ended:
            self.has_ended = True
            yield call_end(self._name[0])


class Calls:
    """The calls of one answer; see the module."""

    _LEGACY = -1
    """The key of the one call of the older form, which has no index."""

    def __init__(self) -> None:
        self._names = CallNames()
        self._by_index: dict[int, _Call] = {}
        # Those whose turn has not come, and those that have not ended, in order.
        self._waiting: deque[_Call] = deque()
        self._open: list[_Call] = []

    def add(self, piece: Node, position: int) -> Iterator[ProviderDelta]:
        """Take a piece of a call and yield what is known now.

        Args:
            piece: The piece, or the whole call.
            position: Its index, where it names none.

        Raises:
            ShapeError: It is no piece of a call.
        """
        index = piece.count("index")
        given = [(piece.get(key), arguments_key) for key, arguments_key in _FORMS]
        found = [(called, arguments_key) for called, arguments_key in given if called is not None]
        is_named = any(called.text("name") for called, _ in found)
        place = position if index is None else index
        call = self._call_at(place, piece.text("id") or "", is_named=is_named)
        for called, arguments_key in found:
            call.take(called, arguments_key)
        yield from self._pass_on(call)

    def add_legacy(self, called: Node) -> Iterator[ProviderDelta]:
        """Take a piece of the call of the older form, which has no id."""
        call = self._call_at(self._LEGACY, "", is_named=bool(called.text("name")))
        call.take(called, "arguments")
        yield from self._pass_on(call)

    def end(self) -> Iterator[ProviderDelta]:
        """End all calls that have not ended, whatever was known of them."""
        self._waiting.clear()
        ended, self._open = self._open, []
        for call in ended:
            yield from call.end(self._names)

    def _call_at(self, index: int, given_id: str, *, is_named: bool) -> _Call:
        call = self._by_index.get(index)
        # Some servers give every call the same index; the id tells that a new one begins,
        # and where they give none, a name after the end of the one before.
        if (
            call is None
            or (given_id and call.id and given_id != call.id)
            or (call.has_ended and is_named and not given_id)
        ):
            call = self._by_index[index] = _Call()
            self._waiting.append(call)
            self._open.append(call)
        call.id = call.id or given_id
        return call

    def _pass_on(self, changed: _Call) -> Iterator[ProviderDelta]:
        """Pass on what is new of a call, and of those that waited for it."""
        if changed.is_passed_on:
            yield from changed.pass_on(self._names)
        while self._waiting and self._waiting[0].is_known:
            yield from self._waiting.popleft().pass_on(self._names)

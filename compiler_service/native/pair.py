"""Rounds are formed, and results find their calls.

A result finds its call by the records' ids, which the history keeps reciprocal;
a result that names no call, by the provider's id: it goes to the nearest round
before it with an open call of that id, there to the first one. A provider's id
used again in a later round is another call. A result that names a call which is
not selected has none. A call never goes before a user's turn that stands
between it and its round.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable

from antiphon.message.v1 import message_pb2
from antiphon.message.v1.message_pb2 import ActionResponseContent, AssistantResponseContent, Message
from compiler_service.native.items import Call, Entry, Item, Orphan, Outcome, Response, Round, Spoken
from compiler_service.state import CompileState

_INTERIM = message_pb2.ACTION_RESPONSE_STATE_INTERIM


def pair(state: CompileState) -> CompileState:
    """Form the rounds and give every result to its call. Cost: linear in the entries."""
    pairing = _Pairing(state.entries)
    for position, (kind, message, turn) in enumerate(state.entries):
        if turn is not None:
            pairing.speak(Spoken(position, turn))
        elif kind == "assistant_response":
            pairing.respond(position, message)
        elif kind == "action_request":
            pairing.call(message)
        else:
            pairing.result(position, message)
    return state.having(items=pairing.items())


class _OpenCall:
    """A call on its way."""

    __slots__ = ("by_provider_id", "message", "outcomes", "position", "round")

    def __init__(self, position: int, message: Message) -> None:
        self.position = position
        self.message = message
        self.round: _OpenRound | None = None
        self.outcomes: list[Outcome] = []
        # The records' own links count before the provider's ids.
        self.by_provider_id: list[Outcome] = []

    def finished(self) -> Call:
        outcomes = self.outcomes + self.by_provider_id if self.by_provider_id else self.outcomes
        return Call(self.position, self.message, tuple(outcomes))


class _OpenRound:
    """A round on its way; closed when something follows it that is not a model's."""

    __slots__ = ("_awaited", "_signed", "calls", "is_closed", "responses")

    def __init__(self) -> None:
        self.responses: list[Response] = []
        self.calls: list[_OpenCall] = []
        self.is_closed = False
        self._awaited: Counter[str] | None = None
        # The place of the response with signed reasoning that is replayed.
        self._signed: int | None = None

    def take(self, response: Response) -> bool:
        """Take a response if there is room for it; tell whether there was.

        Two signed reasonings never stand in one turn. Those of responses that
        call nothing need not be replayed: they give way.
        """
        if _is_signed(response.message.assistant_response):
            if self._signed is not None:
                if self.calls:
                    return False
                self.responses[self._signed] = self.responses[self._signed]._replace(is_replayable=False)
            self._signed = len(self.responses)
        self.responses.append(response)
        return True

    def awaits(self, call: _OpenCall) -> bool:
        """Tell whether a response of this closed round marks the position of one more call of its id."""
        if self._awaited is None:
            marked = [
                block.tool_call.id
                for response in self.responses
                for block in response.message.assistant_response.blocks
                if block.WhichOneof("block") == "tool_call"
            ]
            if not marked:
                return False
            self._awaited = Counter(marked)
            self._awaited.subtract(each.message.action_request.provider_call_id for each in self.calls)
        return self._awaited[call.message.action_request.provider_call_id] > 0

    def add(self, call: _OpenCall) -> None:
        call.round = self
        self.calls.append(call)
        if self._awaited is not None:
            self._awaited[call.message.action_request.provider_call_id] -= 1

    def finished(self) -> Round:
        calls = tuple([call.finished() for call in self.calls]) if self.calls else ()
        return Round(tuple(self.responses), calls)


class _Pairing:
    """One walk over the entries."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._items: list[Spoken | Orphan | _OpenRound] = []
        self._round: _OpenRound | None = None
        self._calls: dict[str, _OpenCall] = {}
        self._named: list[str] = []
        results: list[tuple[str, Message]] = []
        for position, (kind, message, _) in enumerate(entries):
            if kind == "action_request":
                self._calls[message.id] = _OpenCall(position, message)
            elif kind == "action_response":
                named = message.action_response.action_request_id
                self._named.append(named)
                results.append((named, message))
        self._named.reverse()
        self._provider_ids: _ProviderIds | None = None
        if "" in self._named:
            self._provider_ids = _ProviderIds(self._calls.values(), results)

    def speak(self, item: Spoken | Orphan) -> None:
        """Take what ends a round; after a user's turn no call is of it either."""
        if type(item) is Spoken:
            self._round = None
        elif self._round is not None:
            self._round.is_closed = True
        self._items.append(item)

    def respond(self, position: int, message: Message) -> None:
        """Take a response: of the round before it, unless that is closed."""
        current = self._round
        response = Response(position, message)
        if current is None or current.is_closed or not current.take(response):
            self._begin().take(response)

    def call(self, message: Message) -> None:
        """Take a call: of the round before it, even a closed one that has marked its position."""
        call = self._calls[message.id]
        current = self._round
        if current is None or (current.is_closed and not current.awaits(call)):
            current = self._begin()
        current.add(call)
        if self._provider_ids is not None:
            self._provider_ids.add(call)

    def result(self, position: int, message: Message) -> None:
        """Give a result to its call; it ends the call's round."""
        named = self._named.pop()
        is_linked = True
        if named or self._provider_ids is None:
            call = self._calls.get(named)
        else:
            call, is_linked = self._provider_ids.find(message)
        if call is None:
            self.speak(Orphan(position, message))
            return
        (call.outcomes if is_linked else call.by_provider_id).append(Outcome(position, message))
        if call.round is not None:
            call.round.is_closed = True

    def items(self) -> tuple[Item, ...]:
        """Return what the walk has found, in the order of the first records."""
        return tuple([item.finished() if isinstance(item, _OpenRound) else item for item in self._items])

    def _begin(self) -> _OpenRound:
        self._round = begun = _OpenRound()
        self._items.append(begun)
        return begun


class _ProviderIds:
    """The calls by their provider's ids, for the results that name no record."""

    def __init__(self, calls: Iterable[_OpenCall], results: Iterable[tuple[str, Message]]) -> None:
        self._linked = {
            call.message.action_request.action_response_id: call
            for call in calls
            if call.message.action_request.action_response_id
        }
        # These have, or will have, the result that names them.
        self._taken = {
            named for named, message in results if named and message.action_response.state != _INTERIM
        }
        self._taken.update(
            self._linked[message.id].message.id
            for named, message in results
            if not named and message.id in self._linked
        )
        self._open: dict[str, list[deque[_OpenCall]]] = {}
        self._latest: dict[str, _OpenCall] = {}

    def add(self, call: _OpenCall) -> None:
        """Add a call that the walk has reached."""
        provider_id = call.message.action_request.provider_call_id
        if not provider_id:
            return
        self._latest[provider_id] = call
        if call.message.id in self._taken:
            return
        rounds = self._open.setdefault(provider_id, [])
        if rounds and rounds[-1][0].round is call.round:
            rounds[-1].append(call)
        else:
            rounds.append(deque((call,)))

    def find(self, message: Message) -> tuple[_OpenCall | None, bool]:
        """Return a result's call, and whether a record's own link names it.

        Where every call of its id has its result, it is one more result of the
        last of them.
        """
        linked = self._linked.get(message.id)
        if linked is not None:
            return linked, True
        response: ActionResponseContent = message.action_response
        provider_id = response.provider_call_id
        rounds = self._open.get(provider_id)
        if not rounds:
            return self._latest.get(provider_id), False
        nearest = rounds[-1]
        call = nearest[0]
        if response.state != _INTERIM:
            nearest.popleft()
            if not nearest:
                rounds.pop()
        return call, False


def _is_signed(content: AssistantResponseContent) -> bool:
    for block in content.blocks:
        kind = block.WhichOneof("block")
        if kind == "opaque" or (kind == "thinking" and block.thinking.HasField("signature")):
            return True
    return False

"""A selection seen as exchanges, with the tokens of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from antiphon.compiler.v1.compiler_service_pb2 import CompileRequest, PlanCompactionRequest, PlanWindowRequest
from antiphon.message.v1 import message_pb2
from antiphon.message.v1.message_pb2 import Message
from antiphon_client.selection import check_selection
from compiler_service.compilation import CompileSource
from compiler_service.native.drop import drop, is_interim
from compiler_service.native.items import Item, Orphan, Round, Spoken
from compiler_service.native.pair import pair
from compiler_service.native.read import read
from compiler_service.native.unknown_blocks import listing_unknown_blocks
from compiler_service.passes.screen import screen, takes_part
from compiler_service.passes.select import select
from compiler_service.passes.summary import set_summary_apart
from compiler_service.state import CompileState
from compiler_service.tokens import TokenCounter
from compiler_service.windows.costs import item_tokens, summary_tokens, system_tokens

_INTERIM = message_pb2.ACTION_RESPONSE_STATE_INTERIM


class Exchange(NamedTuple):
    """A user's turn and one round that answers it; numbers are positions in the selection.

    Attributes:
        opening: The user's turn, which it may share with the exchanges around
            it, as one object; empty where a model began.
        body: The round, and what takes part in no turn beside it.
        is_open: Whether a call of the round has no final result.
    """

    opening: Sequence[int]
    body: Sequence[int]
    is_open: bool


def positions_of(exchanges: Iterable[Exchange]) -> set[int]:
    """Return all positions of exchanges.

    Cost: linear in them, however many of the exchanges share a user's turn.
    """
    positions: set[int] = set()
    opening: Sequence[int] = ()
    for exchange in exchanges:
        if exchange.opening is not opening:
            opening = exchange.opening
            positions.update(opening)
        positions.update(exchange.body)
    return positions


@dataclass(frozen=True, slots=True)
class Selection:
    """A selection, seen as exchanges.

    Attributes:
        messages: The messages selected, in order.
        exchanges: The exchanges, oldest first. Together with ``fixed`` and the
            summaries they hold every position.
        costs: Tokens by position; a round's stand at its first record. What is
            fixed has none here.
        fixed: Positions of the system record and of the summary.
        items: What the exchanges say, in order: NATIVE's items after its drops,
            their positions those of the selection.
        system_tokens: Tokens of the branch's system record, selected or not.
        summary: The summary: the one that compiles, else the last one selected.
        summary_is_current: Whether it compiles: nothing it names is selected.
        summary_tokens: Its tokens.
    """

    messages: Sequence[Message]
    exchanges: Sequence[Exchange]
    costs: Sequence[int]
    fixed: frozenset[int]
    items: Sequence[Item]
    system_tokens: int
    summary: Message | None
    summary_is_current: bool
    summary_tokens: int

    def tokens_of(self, positions: Iterable[int]) -> int:
        """Return the tokens of positions."""
        return sum(self.costs[position] for position in positions)

    def ids_of(self, positions: Iterable[int]) -> list[str]:
        """Return the ids of positions, in the selection's order."""
        return [self.messages[position].id for position in sorted(positions)]

    def pinned(self, message_ids: Sequence[str]) -> set[int]:
        """Return the positions of messages and of all exchanges that they are of.

        Raises:
            ProgressionInvalidError: Ids are not in the selection, or given twice.
        """
        places = {message.id: position for position, message in enumerate(self.messages)}
        check_selection(message_ids, places)
        wanted = {places[message_id] for message_id in message_ids}
        pinned: list[Exchange] = []
        opening: Sequence[int] = ()
        has_opening = False
        for exchange in self.exchanges:
            if exchange.opening is not opening:
                opening = exchange.opening
                has_opening = not wanted.isdisjoint(opening)
            if has_opening or not wanted.isdisjoint(exchange.body):
                pinned.append(exchange)
        return positions_of(pinned)


def see_selection(
    request: PlanWindowRequest | PlanCompactionRequest, source: CompileSource, counter: TokenCounter
) -> Selection:
    """See what a request selects of a history as exchanges.

    The same passes as those of a compilation say what takes part and which
    result is whose.

    Raises:
        ProgressionInvalidError: Selected ids are unknown or repeated, or several summaries compile.
        UnsupportedContentError: A selected message is of a kind this compiler does not know.
    """
    progression = request.progression if request.HasField("progression") else None
    state = CompileState(CompileRequest(progression=progression), "", source.system, source.messages)
    for apply in (select, screen, set_summary_apart, read, pair):
        state = apply(state)
    messages = state.messages
    places = {message.id: position for position, message in enumerate(messages)}
    entry_places = [places[message.id] for _, message, _ in state.entries]
    said = [_moved(item, entry_places) for item in drop(state).items]
    groups = _grouped([_moved(item, entry_places) for item in state.items])
    summary = state.summary or next((m for m in reversed(messages) if m.HasField("summary")), None)
    fixed = {places[m.id] for m in messages if m.HasField("system")}
    if summary is not None:
        fixed.add(places[summary.id])
    _attach_the_rest(groups, messages, places)
    costs = [0] * len(messages)
    with listing_unknown_blocks(state.records):
        for item in said:
            costs[_first_position(item)] += item_tokens(item, counter)
    return Selection(
        messages=messages,
        exchanges=[exchange for group in groups for exchange in group.exchanges()],
        costs=costs,
        fixed=frozenset(fixed),
        items=said,
        system_tokens=system_tokens(state.system, counter),
        summary=summary,
        summary_is_current=state.summary is not None,
        summary_tokens=summary_tokens(summary, counter),
    )


class _Group:
    """A user's turn and all the rounds that answer it, on their way."""

    def __init__(self) -> None:
        self.opening: list[int] = []
        self.bodies: list[list[int]] = []
        self.open_bodies: set[int] = set()

    def exchanges(self) -> Iterable[Exchange]:
        if not self.bodies:
            return [Exchange(self.opening, (), False)]
        return [
            Exchange(self.opening, body, number in self.open_bodies)
            for number, body in enumerate(self.bodies)
        ]


def _grouped(items: Sequence[Item]) -> list[_Group]:
    groups: list[_Group] = []
    for item in items:
        if isinstance(item, Spoken):
            if not groups or groups[-1].bodies:
                groups.append(_Group())
            groups[-1].opening.append(item.position)
            continue
        if not groups:
            groups.append(_Group())
        group = groups[-1]
        if isinstance(item, Orphan):
            _last_part(group).append(item.position)
            continue
        if _is_open(item):
            group.open_bodies.add(len(group.bodies))
        group.bodies.append(_positions(item))
    return groups


def _last_part(group: _Group) -> list[int]:
    """Where goes a result whose call is not there: the last round, else the user's turn.

    Before everything it stands for itself, so that no user's turn begins with it.
    """
    if not group.bodies and not group.opening:
        group.bodies.append([])
    return group.bodies[-1] if group.bodies else group.opening


def _attach_the_rest(groups: list[_Group], messages: Sequence[Message], places: Mapping[str, int]) -> None:
    """Let what takes part in no turn stay with its like, else with what is before it, else with the first.

    News goes with the outcome that answers it, whether their call is selected or
    not: without that it would be news of nothing, and take part.
    """
    outcomes = {
        message.action_response.action_request_id: position
        for position, message in enumerate(messages)
        if message.HasField("action_response")
        and takes_part(message)
        and message.action_response.state != _INTERIM
    }
    owners = {
        position: part for group in groups for part in (group.opening, *group.bodies) for position in part
    }
    if not groups:
        groups.append(_Group())
    first = groups[0]
    current = first.bodies[0] if first.bodies and not first.opening else first.opening
    for position, message in enumerate(messages):
        if position in owners:
            current = owners[position]
        elif message.WhichOneof("content") not in ("system", "summary"):
            named = message.action_response.action_request_id
            like = outcomes.get(named, places.get(named, position)) if named else position
            owners.get(like, current).append(position)


def _is_open(item: Round) -> bool:
    return any(all(map(is_interim, call.outcomes)) for call in item.calls)


def _positions(item: Round) -> list[int]:
    return sorted(
        (
            *(response.position for response in item.responses),
            *(call.position for call in item.calls),
            *(outcome.position for call in item.calls for outcome in call.outcomes),
        )
    )


def _first_position(item: Item) -> int:
    return _positions(item)[0] if isinstance(item, Round) else item.position


def _moved(item: Item, places: Sequence[int]) -> Item:
    """Return an item whose positions are those of the selection."""
    if not isinstance(item, Round):
        return item._replace(position=places[item.position])
    responses = [response._replace(position=places[response.position]) for response in item.responses]
    calls = [
        call._replace(
            position=places[call.position],
            outcomes=tuple(outcome._replace(position=places[outcome.position]) for outcome in call.outcomes),
        )
        for call in item.calls
    ]
    return Round(tuple(responses), tuple(calls))

"""Where a round's parts stand in its turn.

A response's parts stand in the provider's order. A call stands where a response
marks the position of its id, or of its name where the provider gives no ids;
else where its record stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple, TypeAlias

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from antiphon.message.v1.message_pb2 import Message
from compiler_service.native.items import Call, Response, Round
from compiler_service.native.response import PositionMark, ResponsePart, position_marks, response_parts
from compiler_service.native.turns import CallPart, Part
from compiler_service.remarks import Remarks

_Slot: TypeAlias = ResponsePart | Call | None
_Span: TypeAlias = tuple[Response, int, int, bool]
"""A response, where its slots begin and end, and whether a call's record follows it."""

_position = attrgetter("position")


class Layout(NamedTuple):
    """A round's turn.

    Attributes:
        parts: Its parts, in order.
        records: The records that it is made of, in order.
        responses: How many of these are responses.
    """

    parts: list[Part]
    records: list[Message]
    responses: int


def call_order(item: Round) -> tuple[Call, ...]:
    """Return a round's calls in the order in which they stand in its turn."""
    if len(item.calls) < 2 or not any(each.message.assistant_response.blocks for each in item.responses):
        return item.calls
    slots, _ = _placed(item, lambda response: position_marks(response.message))
    return tuple([slot for slot in slots if isinstance(slot, Call)])


def lay_out(item: Round, call_parts: Sequence[CallPart], remarks: Remarks) -> Layout:
    """Lay out a round's turn.

    A response that neither says anything nor calls is left out with a remark,
    and so are marks of calls that are not selected.

    Args:
        item: The round, its calls in the order of `call_order`.
        call_parts: Their parts, in the same order.
        remarks: Takes what is left out.
    """
    return _usual_layout(item, call_parts, remarks) or _any_layout(item, call_parts, remarks)


def _usual_layout(item: Round, call_parts: Sequence[CallPart], remarks: Remarks) -> Layout | None:
    """Lay out calls behind all else of one response or of none, as nearly every round is; None for others."""
    responses, calls = item
    if len(responses) > 1 or not calls:
        return None
    before = responses[0].position if responses else calls[0].position
    for call in calls:
        if call.position < before:
            return None
        before = call.position
    records = [call.message for call in calls]
    if not responses:
        return Layout(list(call_parts), records, 0)
    response = responses[0]
    # The other layout looks at the response again; the same remark twice is one.
    slots = response_parts(response, remarks)
    first_mark = len(slots) - len(calls)
    if slots[first_mark:] == [(part.id, "") for part in call_parts]:
        del slots[first_mark:]
    parts: list[Part] = []
    for slot in slots:
        if isinstance(slot, PositionMark):
            return None
        parts.append(slot)
    parts += call_parts
    return Layout(parts, [response.message, *records], 1)


def _any_layout(item: Round, call_parts: Sequence[CallPart], remarks: Remarks) -> Layout:
    slots, spans = _placed(item, lambda response: response_parts(response, remarks))
    silent = _silent_ids(slots, spans, remarks)
    waiting = iter(call_parts)
    parts: list[Part] = []
    for slot in slots:
        if isinstance(slot, Call):
            parts.append(next(waiting))
        elif slot is not None and not isinstance(slot, PositionMark):
            parts.append(slot)
    records = [member.message for member in _in_order(item) if member.message.id not in silent]
    return Layout(parts, records, len(spans) - len(silent))


def _in_order(item: Round) -> list[Response | Call]:
    members: list[Response | Call] = [*item.responses, *item.calls]
    members.sort(key=_position)
    return members


def _placed(
    item: Round, slots_of: Callable[[Response], Iterable[ResponsePart]]
) -> tuple[list[_Slot], list[_Span]]:
    """Return a turn's slots with the calls in their places, and where each response's slots are."""
    members = _in_order(item)
    slots: list[_Slot] = []
    spans: list[_Span] = []
    calls: list[tuple[Call, int]] = []
    for number, member in enumerate(members):
        start = len(slots)
        if isinstance(member, Response):
            slots += slots_of(member)
            is_calling = number + 1 < len(members) and isinstance(members[number + 1], Call)
            spans.append((member, start, len(slots), is_calling))
        else:
            calls.append((member, start))
            slots.append(None)
    marked: dict[PositionMark, list[int]] = {}
    for place in range(len(slots) - 1, -1, -1):
        mark = slots[place]
        if isinstance(mark, PositionMark):
            # The first position comes last, to be taken first.
            marked.setdefault(mark, []).append(place)
    for call, own_place in calls:
        places = marked and _places_of(call.message, marked)
        slots[places.pop() if places else own_place] = call
    return slots, spans


def _places_of(message: Message, marked: dict[PositionMark, list[int]]) -> list[int] | None:
    request = message.action_request
    if request.provider_call_id:
        return marked.get(PositionMark(request.provider_call_id, ""))
    return marked.get(PositionMark(message.id, "")) or marked.get(PositionMark("", request.function))


def _silent_ids(slots: Sequence[_Slot], spans: Sequence[_Span], remarks: Remarks) -> set[str]:
    """Return the responses that have no part in the turn; remark on them and on marks left over."""
    silent: set[str] = set()
    for response, start, end, speaks in spans:
        for slot in slots[start:end]:
            if isinstance(slot, PositionMark):
                detail = "position of a call that is not selected"
                remarks.add(notes_pb.COMPILE_NOTE_KIND_PART_DROPPED, response.message.id, detail)
            else:
                speaks = True
        if not speaks:
            silent.add(response.message.id)
            remarks.add(notes_pb.COMPILE_NOTE_KIND_EMPTY_DROPPED, response.message.id)
    return silent

"""The text that a compaction has summarized.

It is made of entries with an empty line between them. An entry is a line in
brackets that says what it is, and the text as it is stored:

* ``[Previous summary]``: the former summary, whole; it comes first.
* ``[User]``: a user's turn as NATIVE compiles it; system text of a foreign
  history has its own mark as its first line.
* ``[Assistant]``: what a model said; its reasoning is left out.
* ``[Call NAME]``: a call; the text is its arguments.
* ``[Result NAME]``, ``[Error NAME]``: a call's result, under the call's name.

A JSON value stands as its text, an image as ``[image]``, a part that only its
issuer can read not at all. What says nothing has no entry.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from antiphon.message.v1.message_pb2 import Message
from compiler_service.native.items import Call, Item, Round, Spoken
from compiler_service.native.outcome import outcome_content
from compiler_service.native.response import PositionMark, response_parts
from compiler_service.native.turns import ImagePart, JsonPart, Part, TextPart
from compiler_service.remarks import Remarks
from compiler_service.texts import is_blank
from compiler_service.windows.selection import Selection

_IMAGE = "[image]"


def text_to_summarize(former: str | None, said: str) -> str:
    """Return the whole text: the former summary, where there is one, and the transcript."""
    return said if former is None else "\n\n".join((_entry("Previous summary", former), said))


def transcript(selection: Selection, positions: Collection[int]) -> str:
    """Return what the items at some positions say; "" where they say nothing."""
    wanted = set(positions)
    entries = [entry for item in selection.items for entry in _entries_of(item, wanted)]
    return "\n\n".join(entries)


def _entries_of(item: Item, wanted: set[int]) -> Iterator[str]:
    if isinstance(item, Round):
        yield from _round(item, wanted)
    elif isinstance(item, Spoken) and item.position in wanted:
        yield from _said("User", _text_of(item.turn.parts))


def _round(item: Round, wanted: set[int]) -> Iterator[str]:
    members = [*(response.position for response in item.responses), *(call.position for call in item.calls)]
    if wanted.isdisjoint(members):
        return
    unheard = Remarks()
    for response in item.responses:
        parts = [part for part in response_parts(response, unheard) if not isinstance(part, PositionMark)]
        yield from _said("Assistant", _text_of(parts))
    for call in item.calls:
        yield _entry(f"Call {call.message.action_request.function}", _arguments_of(call.message))
    for call in item.calls:
        yield from _results(call)


def _results(call: Call) -> Iterator[str]:
    name = call.message.action_request.function
    for outcome in call.outcomes:
        if outcome.message is not None:
            failed = outcome.message.action_response.HasField("error")
            content = outcome_content(outcome.message, Remarks())
            yield _entry(f"{'Error' if failed else 'Result'} {name}", _text_of(content))


def _arguments_of(message: Message) -> str:
    request = message.action_request
    return request.arguments_text if request.HasField("arguments_text") else request.arguments_json or "{}"


def _text_of(parts: Iterable[Part]) -> str:
    return "\n".join(text for part in parts if (text := _text_of_part(part)))


def _text_of_part(part: Part) -> str:
    if isinstance(part, TextPart):
        return part.text
    if isinstance(part, JsonPart):
        return part.value_json
    return _IMAGE if isinstance(part, ImagePart) else ""


def _said(head: str, text: str) -> Iterator[str]:
    if not is_blank(text):
        yield _entry(head, text)


def _entry(head: str, text: str) -> str:
    return f"[{head}]\n{text}"

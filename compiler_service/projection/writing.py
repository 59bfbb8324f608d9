"""What every target's writer works with, and the texts that all of them make alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from antiphon.message.v1 import message_pb2
from compiler_service.native.turns import (
    CallPart,
    ImagePart,
    JsonPart,
    NativeTurn,
    Part,
    ResultContent,
    ResultPart,
    TextPart,
)
from compiler_service.projection.action_names import ActionNames
from compiler_service.projection.call_ids import CallIds
from compiler_service.projection.preparation import Prepared
from compiler_service.projection.request_target import Target
from compiler_service.projection.schema_refs import Inlining
from compiler_service.remarks import Remarks
from compiler_service.texts import is_blank

USER = message_pb2.ROLE_USER
ASSISTANT = message_pb2.ROLE_ASSISTANT
TOOL = message_pb2.ROLE_TOOL


class Writing(NamedTuple):
    """One request on its way to text.

    Attributes:
        target: Whom it is for.
        prepared: The turns to write.
        ids: Ids of calls.
        names: Names of actions.
        losses: Takes what is left out.
        system_id: Id of the system record; "" for none.
        system_extras_json: As in Conversation.
        inlining: The bound on what is put in place of its schemas' references.
    """

    target: Target
    prepared: Prepared
    ids: CallIds
    names: ActionNames
    losses: Remarks
    system_id: str
    system_extras_json: str | None
    inlining: Inlining


def spoken_system(writing: Writing) -> str | None:
    """Return the system text for a target that takes no blank one; None, noted, where it says nothing."""
    text = writing.prepared.system_text
    if text is not None and is_blank(text):
        writing.losses.add(notes_pb.COMPILE_NOTE_KIND_EMPTY_PART_DROPPED, writing.system_id)
        return None
    return text


def texts_of(parts: Iterable[Part]) -> list[str]:
    """Return the texts of the text parts."""
    return [part.text for part in parts if isinstance(part, TextPart)]


def calls_of(parts: Iterable[Part]) -> list[CallPart]:
    """Return the calls among the parts."""
    return [part for part in parts if isinstance(part, CallPart)]


def results_of(turn: NativeTurn) -> list[ResultPart]:
    """Return the results in a tool's turn."""
    return [part for part in turn.parts if isinstance(part, ResultPart)]


def result_text(result: ResultPart) -> str:
    """Return a result's texts, and its JSON values' texts, joined by newlines."""
    content = result.content
    if len(content) == 1:
        return _value_text(content[0]) or ""
    return "\n".join([text for text in map(_value_text, content) if text is not None])


def _value_text(part: ResultContent) -> str | None:
    if type(part) is TextPart:
        return part.text
    return part.value_json if type(part) is JsonPart else None


def result_images(results: Sequence[ResultPart]) -> list[ImagePart]:
    """Return the images in results, in order."""
    return [part for result in results for part in result.content if isinstance(part, ImagePart)]

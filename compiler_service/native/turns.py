"""Neutral turns: what the NATIVE passes yield and every projection takes.

Everything in here is an immutable tuple over texts and bytes of the records;
JSON is carried as the records' own text. FOLDED turns take the same shape on
their way to a target.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from antiphon.message.v1.content_block_pb2 import ImageDetail
from antiphon.message.v1.message_pb2 import Role

SYSTEM_TEXT_MARK = "[System]\n"
"""How the text of a turn begins that is system text of a foreign history."""


class CacheMark(NamedTuple):
    """A provider cache mark: its type, and how long in the provider's spelling (None: its default)."""

    type: str
    ttl: str | None


class TextPart(NamedTuple):
    """A text.

    Attributes:
        text: The text, verbatim.
        message_id: Id of the record; "" for the request's own instruction and for fixed texts.
        cache_mark: The mark that ends a cacheable prefix here; None for none.
    """

    text: str
    message_id: str
    cache_mark: CacheMark | None = None


class JsonPart(NamedTuple):
    """A JSON value, as its text."""

    value_json: str
    message_id: str


class ThinkingPart(NamedTuple):
    """A model's reasoning; provider and model are those that issued the signature."""

    thinking: str
    signature: str | None
    provider: str | None
    model: str | None
    message_id: str


class ImagePart(NamedTuple):
    """An image: exactly one of ``data`` and ``url`` is given; ``url`` may be a data URL.

    Beside a URL the media type is usually "": the address alone says what it is.
    """

    mime_type: str
    data: bytes | None
    url: str | None
    detail: ImageDetail.ValueType
    message_id: str

    @property
    def lone_url(self) -> str | None:
        """The URL of an image that is an address alone, which travels in a shorter form; else None."""
        return None if self.mime_type else self.url


class OpaquePart(NamedTuple):
    """A part that only its issuer can read."""

    provider: str
    model: str
    kind: str
    data_json: str
    message_id: str


class CallPart(NamedTuple):
    """A call.

    Attributes:
        id: The provider's id, or the request record's where it has none.
            Unique within its round.
        name: Name of the action.
        arguments_json: JSON text of an object, as stored; never empty.
        arguments_text: The provider's text, verbatim, when it was no object's.
        thought_signature: The provider's signature over the thought behind it.
        message_id: Id of the request record.
        extras_json: The record's metadata, the JSON text of an object as it is
            stored, in which an importer keeps what is not modelled; None for none.
    """

    id: str
    name: str
    arguments_json: str
    arguments_text: str | None
    thought_signature: str | None
    message_id: str
    extras_json: str | None = None


ResultContent: TypeAlias = TextPart | JsonPart | ImagePart | OpaquePart


class ResultPart(NamedTuple):
    """The outcome of a call, the one part of a TOOL turn.

    Attributes:
        call_id: ``CallPart.id`` of the call.
        name: The call's name.
        content: The output, a blank text too: of a failed call first the reason
            as a text. Never empty.
        is_error: Whether the call failed.
        is_synthesized: Whether no result was recorded.
        message_id: Id of the response record; "" for a synthesized one.
        extras_json: As in CallPart.
    """

    call_id: str
    name: str
    content: tuple[ResultContent, ...]
    is_error: bool
    is_synthesized: bool
    message_id: str
    extras_json: str | None = None


Part: TypeAlias = TextPart | JsonPart | ThinkingPart | ImagePart | OpaquePart | CallPart | ResultPart


class NativeTurn(NamedTuple):
    """One turn.

    Attributes:
        role: USER, ASSISTANT or TOOL.
        parts: Its parts, in order; never empty.
        message_ids: Ids of the records it was made of, in order; without the
            request's own instruction.
        is_text: Whether it is one plain text: it travels as ``CompiledMessage.text``
            and its one part is a TextPart without a mark.
        extras_json: As in CallPart, of the turn's first record.
        is_system_text: Whether it is system text in the middle of a foreign
            history, kept in place as a user turn: its first part is a text that
            begins with ``SYSTEM_TEXT_MARK``.
        is_summary: Whether it stands for a compacted stretch.
    """

    role: Role.ValueType
    parts: tuple[Part, ...]
    message_ids: tuple[str, ...]
    is_text: bool = False
    extras_json: str | None = None
    is_system_text: bool = False
    is_summary: bool = False


class Conversation(NamedTuple):
    """What goes to a projection.

    Attributes:
        system_text: System text beside the turns; None for none.
        turns: The turns, in order.
        system_id: Id of the system record; None for none.
        is_continuation: Whether there is no instruction of the request's own.
        system_extras_json: As in CallPart, of the system record.
    """

    system_text: str | None
    turns: tuple[NativeTurn, ...]
    system_id: str | None = None
    is_continuation: bool = False
    system_extras_json: str | None = None

"""Typed messages to and from the wire, without loss.

A message read from the wire keeps the wire record it came from. Written back
untouched it gives the same bytes: number spelling, key order, presence of
fields and fields of a newer contract included. A value that was changed is
written anew, and nothing else.
"""

from __future__ import annotations

from typing import Any, Final, Literal
from uuid import UUID

from google.protobuf.timestamp_pb2 import Timestamp

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.messages.actions import ActionRequest, ActionResponse
from antiphon_client.messages.address import Address, address_from_proto, address_to_proto
from antiphon_client.messages.assistant import AssistantResponse
from antiphon_client.messages.content_codec import decode_content, dump_field, encode_content, parse_field
from antiphon_client.messages.instruction import Instruction
from antiphon_client.messages.json_equality import same_json
from antiphon_client.messages.model import Message
from antiphon_client.messages.role import STATUS_FROM_PROTO, STATUS_TO_PROTO, UNSET
from antiphon_client.messages.summary import Summary
from antiphon_client.messages.system import System
from antiphon_client.messages.unknown import UnknownMessage
from antiphon_client.messages.validation import kind_of

_NANOSECONDS: Final = 10**9

_CLASSES: Final[dict[str, type[Message]]] = {
    cls.kind: cls
    for cls in (Message, System, Instruction, AssistantResponse, ActionRequest, ActionResponse, Summary)
}


def from_proto(wire: pb.Message) -> Message:
    """Return the typed message of a wire record.

    A record whose content variant this code does not know becomes an
    `UnknownMessage`. A record without an id gets a new one; one without a time
    has ``created_at`` None. The wire record is copied.

    Raises:
        ValueError: A field breaks its rule in a way that leaves it without a
            meaning: not JSON, not a UUID, an address without state.
    """
    message = _decode(wire)
    if not isinstance(message, UnknownMessage):
        message.wire_origin = pb.Message()
        message.wire_origin.CopyFrom(wire)
    return message


def to_proto(message: Message) -> pb.Message:
    """Return the wire record of a typed message; the role is left to the reader.

    Raises:
        JsonTextError: A value cannot be written as JSON text; names the field.
    """
    wire = pb.Message()
    origin = _origin_of(message)
    was = None
    if origin is not None:
        wire.CopyFrom(origin)
        was = _decode(origin)
    if was is None or message.id != was.id:
        wire.id = str(message.id)
    if was is None or message.created_at != was.created_at:
        _put_time(wire, message.created_at)
    _put_address(wire, "sender", message.sender, UNSET if was is None else was.sender)
    _put_address(wire, "recipient", message.recipient, UNSET if was is None else was.recipient)
    if message.channel != (None if was is None else was.channel):
        if message.channel is None:
            wire.ClearField("channel")
        else:
            wire.channel = message.channel
    if not same_json(message.metadata, {} if was is None else was.metadata):
        wire.metadata_json = dump_field("metadata", message.metadata)
    if was is None or message.status != was.status:
        wire.status = STATUS_TO_PROTO[message.status]
    if not isinstance(message, UnknownMessage):
        content = getattr(wire, message.kind)
        content.SetInParent()  # an empty content is still that content
        encode_content(message.kind, message.content, content, None if was is None else was.content)
    return wire


def _origin_of(message: Message) -> pb.Message | None:
    if isinstance(message, UnknownMessage):
        return pb.Message.FromString(message.content)
    return message.wire_origin


def _decode(wire: pb.Message) -> Message:
    kind = kind_of(wire)
    cls = UnknownMessage if kind is None else _CLASSES[kind]
    content: Any = wire.SerializeToString(deterministic=True) if kind is None else None
    if kind is not None:
        content = decode_content(kind, getattr(wire, kind))
    if wire.status not in STATUS_FROM_PROTO:
        raise ValueError(f"unknown message status {wire.status}")
    message = cls(
        content,
        channel=wire.channel if wire.HasField("channel") else None,
        status=STATUS_FROM_PROTO[wire.status],
        id=UUID(wire.id) if wire.id else None,
    )
    message._created_at = _seconds(wire.created_at) if wire.HasField("created_at") else None
    message.metadata = parse_field("metadata_json", wire.metadata_json, {})
    # Names are taken as written: here "user" is a name, not the role.
    message._sender = _address(wire, "sender") or UNSET
    message._recipient = _address(wire, "recipient")
    return message


def _address(wire: pb.Message, field: Literal["sender", "recipient"]) -> Address:
    return address_from_proto(getattr(wire, field)) if wire.HasField(field) else UNSET


def _put_address(
    wire: pb.Message, field: Literal["sender", "recipient"], address: Address, was: Address
) -> None:
    if address == was and type(address) is type(was):
        return
    encoded = address_to_proto(address)
    wire.ClearField(field)
    if encoded is not None:
        getattr(wire, field).CopyFrom(encoded)


def _put_time(wire: pb.Message, created_at: float | None) -> None:
    if created_at is None:
        wire.ClearField("created_at")
        return
    seconds, nanos = divmod(round(created_at * _NANOSECONDS), _NANOSECONDS)
    wire.created_at.CopyFrom(Timestamp(seconds=seconds, nanos=nanos))


def _seconds(time: Timestamp) -> float:
    return (time.seconds * _NANOSECONDS + time.nanos) / _NANOSECONDS

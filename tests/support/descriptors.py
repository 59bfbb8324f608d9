"""Messages of the contract made from its descriptors, with every field set to other than its default.

Where a oneof leaves a choice there is one message for each alternative, so that
the messages together set every field there is; a field added to the contract
is set without a change here, or asks for a legal text in `TEXTS`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from google.protobuf import message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message as ProtoMessage

from antiphon.message.v1 import message_pb2 as pb
from tests.support.history import uuid_of

# Spellings that a careless reader would change: spacing, key order, number forms, escapes.
OBJECT_TEXT = '{ "z" : 1.0e1, "a":[ ], "é":"\\u00e9", "n":9007199254740993, "t":true }'
TEXT = "text\x00 é\u2028 \r\n "

TEXTS = {
    "value_json": '[ 0.10, -0, null, {"k":""} ]',
    "guidance_json": '{ "b":1,"a":2 }',
    "prompt_context_json": ' "c\\/d" ',
    "output_json": "[ ]",
    "data_json": '{"enc":"QUJD"}',
    "images": "https://example.org/a.png",
    "url": "https://example.org/b.webp",
    "mime_type": "image/png",
}
"""Legal texts of the fields that have a rule, by name; other ``*_json`` fields are objects."""

_PNG = bytes.fromhex("89504e470d0a1a0a") + b"\x00\xff"


def messages(kind: str, number: int, linked: int) -> Iterator[pb.Message]:
    """Yield messages of one content kind that set, between them, every field below it.

    Args:
        kind: Name of the content variant.
        number: Number of the first one's id; each further one takes the next.
        linked: Number of the message that the first one's action link names;
            each further one's names the next.
    """
    content_type: Any = pb.Message.DESCRIPTOR.fields_by_name[kind].message_type
    senders = [a for a in _filled(pb.Address.DESCRIPTOR) if not a.HasField("broadcast")]
    recipients = list(_filled(pb.Address.DESCRIPTOR))
    contents = list(_filled(content_type))
    count = max(len(senders), len(recipients), len(contents))
    for index in range(count):
        message = pb.Message()
        for field in pb.Message.DESCRIPTOR.fields:
            if field.message_type is None:
                setattr(message, field.name, _scalar(field, index))
        message.id = uuid_of(number + index)
        message.role = ROLES[kind]
        message.status = (pb.MESSAGE_STATUS_INTERRUPTED, pb.MESSAGE_STATUS_EXCLUDED)[index % 2]
        message.created_at.seconds, message.created_at.nanos = 1_700_000_000 + index, 123_456_789
        message.sender.CopyFrom(senders[index % len(senders)])
        message.recipient.CopyFrom(recipients[index % len(recipients)])
        content = getattr(message, kind)
        content.CopyFrom(contents[index % len(contents)])
        for name in ("action_request_id", "action_response_id"):
            if name in content_type.fields_by_name:
                setattr(content, name, uuid_of(linked + index))
        yield message


ROLES = {
    "system": pb.ROLE_SYSTEM,
    "instruction": pb.ROLE_USER,
    "assistant_response": pb.ROLE_ASSISTANT,
    "action_request": pb.ROLE_ACTION,
    "action_response": pb.ROLE_ACTION,
    "summary": pb.ROLE_USER,
    "generic": pb.ROLE_UNSET,
}
"""Every content kind and the role it fixes."""


def fields_below(descriptor: Descriptor) -> set[str]:
    """Return the full name of every field of a message type and of those below it, ours only."""
    found: set[str] = set()
    waiting = [descriptor]
    while waiting:
        for field in waiting.pop().fields:
            if field.full_name in found:
                continue
            found.add(field.full_name)
            if field.message_type is not None and field.message_type.full_name.startswith("antiphon."):
                waiting.append(field.message_type)
    return found


def fields_set(message: ProtoMessage) -> set[str]:
    """Return the full name of every field that is set somewhere in a message, ours only."""
    found: set[str] = set()
    for field, value in message.ListFields():
        found.add(field.full_name)
        if field.message_type is not None and field.message_type.full_name.startswith("antiphon."):
            for item in value if field.is_repeated else [value]:
                found |= fields_set(item)
    return found


def _filled(descriptor: Descriptor) -> Iterator[Any]:
    """Yield messages of a type, one for each alternative of its oneofs and of those below."""
    fixed: list[Sequence[tuple[FieldDescriptor, Any]]] = []
    for oneof in descriptor.oneofs:
        fixed.append([(field, value) for field in oneof.fields for value in _values(field)])
    for field in descriptor.fields:
        if field.containing_oneof is None:
            values = list(_values(field))
            # A list takes every alternative at once.
            fixed.append([(field, values)] if field.is_repeated else [(field, value) for value in values])
    longest = max((len(choices) for choices in fixed), default=1)
    for index in range(longest):
        message = _new(descriptor)
        for field, value in (choices[index % len(choices)] for choices in fixed):
            if field.is_repeated:
                getattr(message, field.name).extend(value)
            elif field.message_type is not None:
                getattr(message, field.name).CopyFrom(value)
            else:
                setattr(message, field.name, value)
        yield message


def _values(field: FieldDescriptor) -> Iterator[Any]:
    if field.message_type is not None:
        yield from _filled(field.message_type)
    elif field.enum_type is not None:
        yield from (value.number for value in field.enum_type.values if _legal(value.name))
    else:
        yield from (_scalar(field, index) for index in range(2 if field.is_repeated else 1))


def _legal(name: str) -> bool:
    """Tell whether an enum value is other than the default and legal in a stored record."""
    return not name.endswith("_UNSPECIFIED") and name not in ("ROLE_UNSET", "ROLE_TOOL")


def _scalar(field: FieldDescriptor, index: int) -> Any:
    if field.enum_type is not None:
        return next(itertools.islice((v.number for v in field.enum_type.values if _legal(v.name)), 1))
    if field.type == field.TYPE_BYTES:
        return _PNG
    if field.type != field.TYPE_STRING:
        raise AssertionError(f"no value is known for {field.full_name}")
    if field.name in TEXTS:
        return TEXTS[field.name]
    if field.name.endswith("_json"):
        return OBJECT_TEXT
    if field.name.endswith("_id") and field.name != "provider_call_id":
        return uuid_of(0xABC)
    return f"{TEXT}{field.name} {index}"


def _new(descriptor: Descriptor) -> Any:
    return message_factory.GetMessageClass(descriptor)()

"""Samples of any message type, made from its descriptor.

Between them the samples of a type set every field of it, with a value other than the default,
and every alternative of its oneofs and every value of its enums; and every field that can tell
the default from nothing has a sample that says the default. Values need not be legal requests:
they are what can be on the wire.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message as ProtoMessage
from google.protobuf.message_factory import GetMessageClass

from tests.support.descriptors import OBJECT_TEXT, TEXT, TEXTS
from tests.support.history import uuid_of

INT64 = (9007199254740993, -(2**63), 2**63 - 1)
INT32 = (2**31 - 1, -(2**31))
BYTES = (b"\x89PNG\r\n\x1a\n\x00\xff", b"\xc3\x28")
"""Bytes that are no text in UTF-8."""


def message_types(pool: DescriptorPool, files: list[str]) -> Iterator[Descriptor]:
    """Yield every message type that files of a pool declare, those within others too."""
    waiting = [
        message for name in files for message in pool.FindFileByName(name).message_types_by_name.values()
    ]
    while waiting:
        message = waiting.pop(0)
        yield message
        waiting += message.nested_types


def samples(descriptor: Descriptor) -> Iterator[tuple[str, ProtoMessage]]:
    """Yield the samples of a type with their names."""
    yield "empty", _new(descriptor)
    for field in descriptor.fields:
        if field.has_presence:
            yield f"default {field.name}", _saying_the_default(descriptor, field)
    for index in range(_alternatives(descriptor)):
        message = _full(descriptor, index)
        if message.ListFields():
            yield f"full {index}", message


def written_oneofs(descriptor: Descriptor) -> list[Any]:
    """Return a type's oneofs but those that proto3 makes for an ``optional`` field."""
    return [oneof for oneof in descriptor.oneofs if not _is_made(oneof)]


def _is_made(oneof: Any) -> bool:
    # Only the descriptor's own proto tells; the library says nothing.
    (first, *others) = oneof.fields
    return not others and oneof.name == f"_{first.name}"


def _saying_the_default(descriptor: Descriptor, field: FieldDescriptor) -> ProtoMessage:
    message = _new(descriptor)
    if field.message_type is not None:
        getattr(message, field.name).SetInParent()
    else:
        setattr(message, field.name, field.default_value)
    return message


def _alternatives(descriptor: Descriptor) -> int:
    """Return how many samples show all that a type's fields can say; two at least."""
    oneofs = [len(oneof.fields) for oneof in written_oneofs(descriptor)]
    enums = [len(field.enum_type.values) - 1 for field in descriptor.fields if field.enum_type is not None]
    return max([2, *oneofs, *enums])


def _full(descriptor: Descriptor, index: int) -> ProtoMessage:
    """Make a message with every field set, one of each oneof; ``index`` tells its values."""
    message = _new(descriptor)
    chosen = {oneof.fields[index % len(oneof.fields)].name for oneof in written_oneofs(descriptor)}
    for field in descriptor.fields:
        alone = field.containing_oneof is None or _is_made(field.containing_oneof)
        if alone or field.name in chosen:
            _put(message, field, index)
    return message


def _put(message: Any, field: FieldDescriptor, index: int) -> None:
    if field.is_repeated:
        getattr(message, field.name).extend([_value(field, index), _value(field, index + 1)])
    elif field.message_type is not None:
        getattr(message, field.name).CopyFrom(_value(field, index))
    else:
        setattr(message, field.name, _value(field, index))


def _value(field: FieldDescriptor, index: int) -> Any:
    """Return a value that is not the default."""
    if field.message_type is not None:
        if field.message_type.full_name == "google.protobuf.Timestamp":
            time: Any = _new(field.message_type)
            time.seconds, time.nanos = 1_700_000_000 + index, 123_456_789
            return time
        return _full(field.message_type, index)
    if field.enum_type is not None:
        numbers = [value.number for value in field.enum_type.values if value.number != 0]
        return numbers[index % len(numbers)]
    if field.type == field.TYPE_STRING:
        return _text(field, index)
    by_type: dict[int, tuple[Any, ...]] = {
        FieldDescriptor.TYPE_INT64: INT64,
        FieldDescriptor.TYPE_INT32: INT32,
        FieldDescriptor.TYPE_BYTES: BYTES,
        FieldDescriptor.TYPE_BOOL: (True,),
    }
    values = by_type[field.type]
    return values[index % len(values)]


def _text(field: FieldDescriptor, index: int) -> str:
    if field.name in TEXTS:
        return TEXTS[field.name]
    if field.name.endswith("_json"):
        return OBJECT_TEXT
    if field.name.endswith(("_id", "_ids")):
        return uuid_of(0xABC + index)
    return f"{TEXT}{field.name} {index}"


def _new(descriptor: Descriptor) -> ProtoMessage:
    return GetMessageClass(descriptor)()

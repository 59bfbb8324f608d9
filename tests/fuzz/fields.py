"""Every field of a request, found through the descriptors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor
from google.protobuf.message import Message

Path = tuple[FieldDescriptor, ...]
"""Fields from the request down to the one meant."""


def field_paths(message: Descriptor, above: Path = ()) -> Iterator[Path]:
    """Yield the path of every field below a message, those of messages themselves included.

    The protos are not recursive, so this ends.
    """
    for field in message.fields:
        path = (*above, field)
        yield path
        if field.message_type is not None:
            yield from field_paths(field.message_type, path)


def paths_of(method: MethodDescriptor) -> list[Path]:
    """List the field paths of a method's request."""
    return list(field_paths(method.input_type))


def fields_of(message: Message) -> Sequence[FieldDescriptor]:
    """List the fields a message may have."""
    kind = cast("Descriptor", message.DESCRIPTOR)
    return kind.fields


def path_name(path: Path) -> str:
    """Spell a path with dots."""
    return ".".join(field.name for field in path)

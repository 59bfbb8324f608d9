"""Every field of a request, found through the descriptors."""

from __future__ import annotations

from collections.abc import Iterator

from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor

Path = tuple[FieldDescriptor, ...]
"""Fields from the request down to the one meant."""


def field_paths(message: Descriptor, above: Path = ()) -> Iterator[Path]:
    """Yield the path of every field below a message, those of messages themselves included.

    The protos are not recursive, so this ends.
    """
    for field in message.fields:
        path = (*above, field)
        yield path
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            yield from field_paths(field.message_type, path)


def paths_of(method: MethodDescriptor) -> list[Path]:
    """List the field paths of a method's request."""
    return list(field_paths(method.input_type))


def path_name(path: Path) -> str:
    """Spell a path with dots."""
    return ".".join(field.name for field in path)

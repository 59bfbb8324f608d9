"""Finding the fields of a request that this server does not know.

The design refuses a request with an unknown field rather than truncate it
(contract, Errors). Nearly every request has none, so the common case must be
cheap: ``discard_unknown`` answers it in the protobuf runtime; the walk that names the
paths runs for refused requests only.
"""

from __future__ import annotations

from collections.abc import Iterator

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from antiphon_client.errors import LIST_LIMIT, UnknownFieldError, Violation


def discard_unknown(message: Message) -> bool:
    """Discard the unknown fields of a message, at any depth, and tell whether there were any.

    Cost: two passes over the message inside the protobuf runtime.
    """
    before = message.ByteSize()
    message.DiscardUnknownFields()
    return message.ByteSize() != before


def unknown_field_error(message: Message, opaque: frozenset[str] = frozenset()) -> UnknownFieldError | None:
    """Build the error that names the unknown fields of a message.

    Args:
        message: The message, its unknown fields still in it.
        opaque: Paths without indices, such as ``snapshot.messages``, whose
            subtrees are left to the servicer.

    Returns:
        The error, or None when every unknown field is in an opaque subtree.
    """
    violations: list[Violation] = []
    count = 0
    for owner, prefix in _walk(message, "", "", opaque):
        unknown = UnknownFieldSet(owner)
        count += len(unknown)
        for index in range(min(len(unknown), LIST_LIMIT - len(violations))):
            number = unknown[index].field_number
            violations.append(
                Violation(f"{prefix}{number}", f"{owner.DESCRIPTOR.name} has no field {number}")
            )
    if count == 0:
        return None
    return UnknownFieldError(
        f"{violations[0].field}: {violations[0].description} known to this server"
        + (f" (and {count - 1} more)" if count > 1 else ""),
        metadata={"violation_count": str(count)},
        violations=violations,
    )


def _walk(
    message: Message, prefix: str, plain_prefix: str, opaque: frozenset[str]
) -> Iterator[tuple[Message, str]]:
    """Yield every message in the tree with the path prefix of its fields."""
    yield message, prefix
    for field, value in message.ListFields():
        if field.type != FieldDescriptor.TYPE_MESSAGE:
            continue
        plain = f"{plain_prefix}{field.name}"
        if plain in opaque:
            continue
        if field.is_repeated:
            for index, item in enumerate(value):
                yield from _walk(item, f"{prefix}{field.name}[{index}].", f"{plain}.", opaque)
        else:
            yield from _walk(value, f"{prefix}{field.name}.", f"{plain}.", opaque)

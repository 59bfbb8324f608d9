"""Cutting many messages into requests that the service takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from antiphon.message.v1 import message_pb2
from antiphon_client.limits import DEFAULT_LIMITS

_REQUEST_OVERHEAD = 1024
_FIELD_OVERHEAD = 8


def batches(messages: Sequence[message_pb2.Message]) -> Iterator[list[message_pb2.Message]]:
    """Cut messages, in order, into batches within the default limits; none give one empty batch.

    A single message over the limits is a batch of its own, for the service to refuse.
    """
    room = DEFAULT_LIMITS.request_bytes - _REQUEST_OVERHEAD
    batch: list[message_pb2.Message] = []
    used = 0
    for message in messages:
        size = message.ByteSize() + _FIELD_OVERHEAD
        if batch and (used + size > room or len(batch) == DEFAULT_LIMITS.batch_messages):
            yield batch
            batch, used = [], 0
        batch.append(message)
        used += size
    yield batch

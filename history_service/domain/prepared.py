"""Messages made ready for a write: canonical, stamped, encoded.

This happens once per message and outside of the store's writer; the writer
encodes again only what depends on the branch (action links, a kept created_at).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from google.protobuf.timestamp_pb2 import Timestamp

from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon.message.v1 import message_pb2 as message_pb
from antiphon_client.errors import SizeLimitExceededError, StoreCorruptError
from antiphon_client.ids import ID_LENGTH, is_canonical_uuid
from antiphon_client.messages.validation import canonicalize_message
from antiphon_client.splicing import FieldPrefixes

SYSTEM = int(history_pb.MESSAGE_KIND_SYSTEM)
ACTION_REQUEST = int(history_pb.MESSAGE_KIND_ACTION_REQUEST)
ACTION_RESPONSE = int(history_pb.MESSAGE_KIND_ACTION_RESPONSE)
SUMMARY = int(history_pb.MESSAGE_KIND_SUMMARY)

KIND_NUMBERS: dict[str | None, int] = {
    name.removeprefix("MESSAGE_KIND_").lower(): number
    for name, number in history_pb.MessageKind.items()
    if number != history_pb.MESSAGE_KIND_UNSPECIFIED
}
"""Content variant to the number its kind is stored under."""

NANOSECONDS = 10**9
"""In a second."""

_ROOM = 64
"""Bytes a stored message may still gain: an action link, an earlier time, longer lengths around them."""

_ID_PREFIX = FieldPrefixes(message_pb.Message.DESCRIPTOR, "id")[ID_LENGTH]
_TIME_PREFIXES = FieldPrefixes(message_pb.Message.DESCRIPTOR, "created_at")

_ID_FIELD = slice(len(_ID_PREFIX), len(_ID_PREFIX) + ID_LENGTH)
"""Where an encoded message holds its id: field 1 comes first, behind tag and length."""


class PreparedMessage(NamedTuple):
    """One message of a write. A store may run a write twice, so nothing changes it.

    Attributes:
        message_id: Its id.
        body: Its encoding in canonical form, with id and created_at.
        kind: Its ``MessageKind``.
        fresh: Whether the server made its id, so that no branch can hold it.
        timed: Whether the writer gave its created_at.
        link_id: The action request a response names.
        interim: Whether it is a response that does not answer.
    """

    message_id: str
    body: bytes
    kind: int
    fresh: bool
    timed: bool
    link_id: str | None
    interim: bool


@dataclass(frozen=True, slots=True)
class Stamper:
    """Gives ids and times to records.

    Attributes:
        clock: Returns nanoseconds since the epoch.
        new_id: Returns a fresh canonical UUID for a branch or an incarnation.
        new_message_ids: Returns so many for messages.
        message_bytes: The largest message as it is stored, in bytes.
    """

    clock: Callable[[], int]
    new_id: Callable[[], str]
    new_message_ids: Callable[[int], Sequence[str]]
    message_bytes: int

    def prepare_all(self, messages: Sequence[message_pb.Message]) -> list[PreparedMessage]:
        """Prepare valid messages for one write; they are made canonical in place.

        Raises:
            SizeLimitExceededError: With what the service adds, one is too large.
        """
        ids = iter(self.new_message_ids(sum(not message.id for message in messages)))
        time_field = _time_field(self.clock())
        batch = [_prepare(message, ids, time_field) for message in messages]
        for index, prepared in enumerate(batch):
            size = len(prepared.body) + _ROOM
            if size > self.message_bytes:
                raise SizeLimitExceededError.of(
                    f"messages[{index}] with what the service adds",
                    limit_name="message_bytes",
                    limit=self.message_bytes,
                    actual=size,
                )
        return batch


def _prepare(message: message_pb.Message, ids: Iterator[str], time_field: bytes) -> PreparedMessage:
    kind = KIND_NUMBERS[canonicalize_message(message)]
    given = message.id
    timed = message.HasField("created_at")
    link_id, interim = None, False
    if kind == ACTION_RESPONSE:
        response = message.action_response
        link_id = response.action_request_id if response.HasField("action_request_id") else None
        interim = response.state == message_pb.ACTION_RESPONSE_STATE_INTERIM
    # What the service adds are the first fields of an encoding, and setting them costs more than the
    # encoding of a short message: they are put before what the caller sent, unless that has one of them.
    if given:
        if not timed:
            message.MergeFromString(time_field)
        return PreparedMessage(given, encode(message), kind, False, timed, link_id, interim)
    message_id = next(ids)
    head = _ID_PREFIX + message_id.encode("ascii")
    body = head + encode(message) if timed else head + time_field + encode(message)
    return PreparedMessage(message_id, body, kind, True, timed, link_id, interim)


def _time_field(now: int) -> bytes:
    """Encode a message's created_at, from nanoseconds since the epoch."""
    # Timestamp's own conversion takes several times as long.
    seconds, nanos = divmod(now, NANOSECONDS)
    encoded = Timestamp(seconds=seconds, nanos=nanos).SerializeToString()
    return _TIME_PREFIXES[len(encoded)] + encoded


def encode(message: message_pb.Message) -> bytes:
    """Encode a message as it is stored: fields in number order, the id first.

    The same message always has the same bytes: it has no map, whose order alone is not fixed.
    """
    return message.SerializeToString()


def decode(body: bytes) -> message_pb.Message:
    """Decode a stored message.

    Raises:
        StoreCorruptError: The bytes are no message.
    """
    try:
        return message_pb.Message.FromString(body)
    except Exception as error:  # protobuf's DecodeError has no common base across its backends
        raise StoreCorruptError("a stored message cannot be decoded") from error


def id_of(body: bytes) -> str:
    """Return the id of an encoded message without decoding it.

    Raises:
        StoreCorruptError: The bytes hold no id there.
    """
    message_id = body[_ID_FIELD].decode("ascii", "replace")
    if not is_canonical_uuid(message_id):
        raise StoreCorruptError("a stored message has no id")
    return message_id

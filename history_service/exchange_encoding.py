"""Replies of the exchange, spliced from stored bytes as in ``encoding``."""

from __future__ import annotations

from collections.abc import Sequence

from google.protobuf.timestamp_pb2 import Timestamp

from antiphon.history.v1 import exchange_service_pb2 as pb
from antiphon_client.splicing import FieldPrefixes
from history_service.domain.prepared import NANOSECONDS
from history_service.storage.exchange_port import DeadLetterRow, InboxEntry, OwnerRow

_DELIVERY_MESSAGE = FieldPrefixes(pb.Delivery.DESCRIPTOR, "message")
_LEASED_DELIVERY = FieldPrefixes(pb.LeasedDelivery.DESCRIPTOR, "delivery")
_DEAD_LETTER_MESSAGE = FieldPrefixes(pb.DeadLetter.DESCRIPTOR, "message")
_RECEIVE = FieldPrefixes(pb.ReceiveResponse.DESCRIPTOR, "deliveries")
_POP = FieldPrefixes(pb.PopResponse.DESCRIPTOR, "delivery")
_LEASE = FieldPrefixes(pb.LeaseResponse.DESCRIPTOR, "deliveries")
_DEAD_LETTERS = FieldPrefixes(pb.ListDeadLettersResponse.DESCRIPTOR, "dead_letters")
_WATCH_DELIVERY = FieldPrefixes(pb.WatchInboxResponse.DESCRIPTOR, "delivery")

Delivered = tuple[InboxEntry, bytes]
"""An inbox entry and its encoded message."""


class Encoded(bytes):
    """A response that is encoded already, where a response message is wanted."""

    def SerializeToString(self) -> bytes:  # noqa: N802 (protobuf's name)
        """Return the bytes."""
        return bytes(self)


def _time(nanoseconds: int) -> Timestamp:
    seconds, nanos = divmod(nanoseconds, NANOSECONDS)
    return Timestamp(seconds=seconds, nanos=nanos)


def _delivery(delivered: Delivered) -> bytes:
    entry, body = delivered
    rest = pb.Delivery(
        sequence=entry.sequence,
        delivery_count=entry.delivery_count,
        delivered_at=_time(entry.delivered_at),
    )
    return b"".join((*_DELIVERY_MESSAGE.parts([body]), rest.SerializeToString()))


def _leased_delivery(delivered: Delivered) -> bytes:
    entry = delivered[0]
    rest = pb.LeasedDelivery(lease_id=entry.lease_id or "", expires_at=_time(entry.expires_at))
    return b"".join((*_LEASED_DELIVERY.parts([_delivery(delivered)]), rest.SerializeToString()))


def _dead_letter(row: DeadLetterRow, body: bytes) -> bytes:
    rest = pb.DeadLetter(
        dead_letter_id=row.dead_letter_id,
        reason=pb.DeadLetterReason.ValueType(row.reason),
        owner_id=row.owner_id,
        delivery_count=row.delivery_count,
        dead_at=_time(row.dead_at),
    )
    return b"".join((*_DEAD_LETTER_MESSAGE.parts([body]), rest.SerializeToString()))


def owner(row: OwnerRow) -> pb.Owner:
    """Return an owner as the wire shows it."""
    return pb.Owner(
        owner_id=row.owner_id,
        registered_at=_time(row.registered_at),
        inbox_count=row.inbox_count,
        outbox_count=row.outbox_count,
        last_sequence=row.last_sequence,
    )


def receive_response(deliveries: Sequence[Delivered], next_page_token: str) -> bytes:
    """Encode a ReceiveResponse."""
    head = pb.ReceiveResponse(next_page_token=next_page_token).SerializeToString()
    return b"".join((head, *_RECEIVE.parts([_delivery(delivered) for delivered in deliveries])))


def pop_response(popped: Delivered | None) -> Encoded:
    """Encode a PopResponse, without its ``replayed``."""
    return Encoded(b"".join(_POP.parts([] if popped is None else [_delivery(popped)])))


def lease_response(leased: Sequence[Delivered]) -> Encoded:
    """Encode a LeaseResponse, without its ``replayed``."""
    return Encoded(b"".join(_LEASE.parts([_leased_delivery(delivered) for delivered in leased])))


def dead_letters_response(rows: Sequence[tuple[DeadLetterRow, bytes]], next_page_token: str) -> bytes:
    """Encode a ListDeadLettersResponse."""
    head = pb.ListDeadLettersResponse(next_page_token=next_page_token).SerializeToString()
    return b"".join((head, *_DEAD_LETTERS.parts([_dead_letter(row, body) for row, body in rows])))


def watch_delivery(delivered: Delivered) -> bytes:
    """Encode a delivery frame of a WatchInboxResponse."""
    return b"".join(_WATCH_DELIVERY.parts([_delivery(delivered)]))

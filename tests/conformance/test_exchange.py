"""Sending and collecting: every sentence of the contract, on every store."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.history.v1 import exchange_service_pb2 as pb
from antiphon.message.v1 import message_pb2 as message_pb
from antiphon_client.errors import (
    FieldInvalidError,
    OwnerNotFoundError,
    SizeLimitExceededError,
)
from tests.support.exchange import START, Exchange, letter, nanoseconds, number_of
from tests.support.history import uuid_of

pytestmark = pytest.mark.anyio


# Sending


async def test_a_send_queues_and_delivers_nothing(exchange: Exchange) -> None:
    await exchange.register(1)
    response = await exchange.send(1, 2, 10)
    assert (response.message_id, response.delivered_count, response.replayed) == (uuid_of(10), 0, False)
    await exchange.register(2)
    assert await exchange.inbox(2) == []
    assert await exchange.collect(1) == (1, 0, 0)
    assert await exchange.inbox(2) == [10]


async def test_the_sender_must_be_registered(exchange: Exchange) -> None:
    await exchange.register(2)
    for attempt in (exchange.send(1, 2, 10), exchange.collect(1)):
        with pytest.raises(OwnerNotFoundError) as caught:
            await attempt
        assert caught.value.metadata == {"owner_id": uuid_of(1)}


async def test_id_time_and_role_are_the_servers_where_absent(exchange: Exchange) -> None:
    await exchange.register(1, 2)
    message = letter(1, 2, 10)
    message.ClearField("id")
    message.role = message_pb.ROLE_USER
    message.channel = "c\0"
    message.metadata_json = '{"a": 1.0}'
    response = await exchange.call(pb.SendRequest(message=message))
    await exchange.collect(1)
    (delivery,) = await exchange.receive(2)
    stored = delivery.message
    assert stored.id == response.message_id
    assert nanoseconds(stored.created_at) == START
    assert stored.role == message_pb.ROLE_UNSET
    message.id, message.role = stored.id, stored.role
    message.created_at.CopyFrom(stored.created_at)
    assert stored == message
    assert (delivery.sequence, delivery.delivery_count) == (1, 0)
    assert nanoseconds(delivery.delivered_at) == START


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda message: message.ClearField("sender"), "message.sender.member_id"),
        (lambda message: message.sender.unset.SetInParent(), "message.sender.member_id"),
        (lambda message: setattr(message.sender, "name", "x"), "message.sender.member_id"),
        (lambda message: setattr(message.sender, "member_id", "X"), "message.sender.member_id"),
        (lambda message: message.instruction.SetInParent(), "message.content"),
        (lambda message: message.ClearField("generic"), "message.content"),
        (lambda message: setattr(message, "id", "X"), "message.id"),
        (lambda message: setattr(message.generic, "value_json", "{"), "message.generic.value_json"),
        (lambda message: setattr(message.recipient, "name", ""), "message.recipient.name"),
    ],
)
async def test_a_message_must_be_routed_traffic(exchange: Exchange, change: Any, field: str) -> None:
    await exchange.register(1)
    message = letter(1, 2, 10)
    change(message)
    with pytest.raises(FieldInvalidError) as caught:
        await exchange.call(pb.SendRequest(message=message))
    assert [violation.field for violation in caught.value.violations] == [field]


async def test_fields_of_other_requests_are_checked(exchange: Exchange) -> None:
    bad = "NO"
    one = uuid_of(1)
    for request, field in (
        (pb.RegisterOwnerRequest(owner_id=bad), "owner_id"),
        (pb.RegisterOwnerRequest(owner_id=one, request_id=bad), "request_id"),
        (pb.UnregisterOwnerRequest(owner_id=bad), "owner_id"),
        (pb.UnregisterOwnerRequest(owner_id=one, queued_mail=9), "queued_mail"),  # type: ignore[arg-type]
        (pb.CollectRequest(owner_id=bad), "owner_id"),
        (pb.CollectAllRequest(request_id=bad), "request_id"),
        (pb.ReceiveRequest(owner_id=bad), "owner_id"),
        (pb.ReceiveRequest(owner_id=one, sender_id=bad), "sender_id"),
        (pb.PopRequest(owner_id=one), "sender_id"),
        (pb.LeaseRequest(owner_id=one, sender_id=bad), "sender_id"),
        (pb.LeaseRequest(owner_id=one, max_messages=-1), "max_messages"),
        (pb.LeaseRequest(owner_id=one, visibility_seconds=-1), "visibility_seconds"),
        (pb.LeaseRequest(owner_id=one, visibility_seconds=43_201), "visibility_seconds"),
        (pb.AcknowledgeRequest(owner_id=one), "lease_ids"),
        (pb.AcknowledgeRequest(owner_id=one, lease_ids=[one, bad]), "lease_ids[1]"),
        (pb.RejectRequest(owner_id=one, lease_ids=[one, one]), "lease_ids[1]"),
        (pb.ListDeadLettersRequest(owner_id=bad), "owner_id"),
        (pb.RedriveDeadLetterRequest(dead_letter_id=bad), "dead_letter_id"),
        (pb.RedriveDeadLetterRequest(dead_letter_id=one, recipient_id=bad), "recipient_id"),
    ):
        with pytest.raises(FieldInvalidError) as caught:
            await exchange.call(request)
        assert [violation.field for violation in caught.value.violations] == [field]
    for settings, field in (
        (pb.ExchangeSettings(delivery=7), "settings.delivery"),  # type: ignore[arg-type]
        (pb.ExchangeSettings(max_deliveries=0), "settings.max_deliveries"),
        (pb.ExchangeSettings(max_owners=-1), "settings.max_owners"),
        (pb.ExchangeSettings(max_messages=0), "settings.max_messages"),
        (pb.ExchangeSettings(max_bytes=0), "settings.max_bytes"),
    ):
        with pytest.raises(FieldInvalidError, match=field):
            await exchange.call(pb.RegisterOwnerRequest(owner_id=one, settings=settings))
    with pytest.raises(FieldInvalidError, match="after_sequence"):
        await anext(exchange.watch(1, -1))
    ids = [uuid_of(number) for number in range(1001)]
    with pytest.raises(SizeLimitExceededError, match="lease_ids"):
        await exchange.call(pb.AcknowledgeRequest(owner_id=one, lease_ids=ids))


# Collecting


async def test_the_outbox_is_consumed_in_order(exchange: Exchange) -> None:
    await exchange.register(1, 2)
    for number in range(10, 15):
        await exchange.send(1, 2, number)
    assert await exchange.collect(1) == (5, 0, 0)
    assert await exchange.inbox(2) == [10, 11, 12, 13, 14]
    assert await exchange.collect(1) == (0, 0, 0)


async def test_a_broadcast_reaches_every_other_owner_and_counts_one(exchange: Exchange) -> None:
    await exchange.register(1, 2, 3, 4, 5, 6)
    await exchange.send(1, "broadcast", 10)
    assert await exchange.collect(1) == (1, 0, 0)
    for owner in range(2, 7):
        (delivery,) = await exchange.receive(owner)
        assert delivery.message.id == uuid_of(10)
        assert delivery.message.recipient.WhichOneof("state") == "broadcast"
    assert await exchange.inbox(1) == []


async def test_the_result_counts_unique_ids(exchange: Exchange) -> None:
    await exchange.register(1, 2, 3)
    for recipient in (2, 2, 3, "broadcast"):
        await exchange.send(1, recipient, 10)
    await exchange.send(1, 2, 11)
    assert await exchange.collect(1) == (2, 0, 0)
    assert await exchange.inbox(2) == [10, 10, 10, 11]
    assert await exchange.inbox(3) == [10, 10]


async def test_copies_of_a_broadcast_are_consumed_each_by_itself(exchange: Exchange) -> None:
    await exchange.register(1, 2, 3, 4)
    await exchange.deliver(1, "broadcast", 10, 11)
    assert await exchange.pop(2, 1) == 10
    await exchange.acknowledge(3, await exchange.lease(3, 1))
    assert (await exchange.unregister(4)).dead_letter_count == 2
    assert [await exchange.inbox(owner) for owner in (2, 3)] == [[11], [11]]
    assert await exchange.dead() == [
        (10, "RECIPIENT_UNREGISTERED", 4, 0),
        (11, "RECIPIENT_UNREGISTERED", 4, 0),
    ]
    assert await exchange.pop(2, 1) == 11
    assert await exchange.pop(3, 1) == 11
    (first, _) = await exchange.dead_letters()
    await exchange.redrive(first.dead_letter_id, 2)
    assert await exchange.pop(2, 1) == 10


async def test_what_cannot_be_delivered_is_a_dead_letter_with_its_reason(exchange: Exchange) -> None:
    await exchange.register(1)
    for number, recipient in enumerate((None, "unset", "role", "name", 7, "broadcast", 1), start=10):
        await exchange.send(1, recipient, number)
    assert await exchange.collect(1) == (1, 6, 0)
    assert await exchange.inbox(1) == [16]
    assert await exchange.dead() == [
        (10, "RECIPIENT_UNSET", None, 0),
        (11, "RECIPIENT_UNSET", None, 0),
        (12, "RECIPIENT_ROLE", None, 0),
        (13, "RECIPIENT_NAME", None, 0),
        (14, "RECIPIENT_UNKNOWN", 7, 0),
        (15, "BROADCAST_TO_NOBODY", None, 0),
    ]
    assert await exchange.dead(owner_id=uuid_of(7), page_size=1) == [(14, "RECIPIENT_UNKNOWN", 7, 0)]
    for one in await exchange.dead_letters(page_size=2):
        assert nanoseconds(one.dead_at) == START


async def test_a_member_of_another_exchange_is_unknown(exchange: Exchange) -> None:
    await exchange.register(1)
    await Exchange(exchange.store, name="others").register(2)
    await exchange.send(1, 2, 10)
    assert await exchange.collect(1) == (0, 1, 0)


async def test_an_inbox_is_in_delivery_order_across_senders(exchange: Exchange) -> None:
    await exchange.register(1, 2, 3)
    await exchange.send(1, 3, 10)
    await exchange.send(2, 3, 20)
    await exchange.send(1, 3, 11)
    await exchange.collect(2)
    await exchange.collect(1)
    deliveries = await exchange.receive(3, page_size=2)
    assert [number_of(delivery.message) for delivery in deliveries] == [20, 10, 11]
    assert [delivery.sequence for delivery in deliveries] == [1, 2, 3]
    assert await exchange.inbox(3, sender_id=uuid_of(1), page_size=1) == [10, 11]
    assert await exchange.inbox(3, sender_id=uuid_of(9)) == []


async def test_collect_all_goes_in_registration_order(exchange: Exchange) -> None:
    await exchange.register(3, 1, 2, 9)
    for sender in (1, 2, 3):
        await exchange.send(sender, 9, 10 * sender)
    await exchange.send(2, "role", 21)
    await exchange.send(9, "broadcast", 90)
    assert await exchange.collect_all() == (4, 1, 0)
    assert await exchange.inbox(9) == [30, 10, 20]
    assert await exchange.inbox(1) == [90]
    assert await exchange.collect_all() == (0, 0, 0)
    assert await Exchange(exchange.store, name="nowhere").collect_all() == (0, 0, 0)


async def test_an_exchange_may_deliver_at_send(exchange: Exchange) -> None:
    await exchange.register(1, 2)
    await exchange.send(1, 2, 10)
    await exchange.register(3, delivery=pb.DELIVERY_MODE_AT_SEND)
    response = await exchange.send(1, 3, 11)
    assert response.delivered_count == 2
    assert await exchange.inbox(2) == [10]
    assert await exchange.inbox(3) == [11]
    assert (await exchange.send(1, "name", 12)).delivered_count == 0
    assert [number for number, *_ in await exchange.dead()] == [12]
    await exchange.register(4, max_owners=9)
    assert (await exchange.send(1, 4, 13)).delivered_count == 1
    await exchange.register(5, delivery=pb.DELIVERY_MODE_ON_COLLECT)
    assert (await exchange.send(1, 4, 14)).delivered_count == 0

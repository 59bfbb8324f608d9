"""The exchange's loop, its requests and its values, on a transport that answers from a script."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest

from antiphon.history.v1 import exchange_service_pb2 as pb
from antiphon_client.errors import OwnerExistsError, OwnerNotFoundError, StoreBusyError
from antiphon_client.exchange import AsyncExchange, Exchange
from antiphon_client.exchange_records import DeadLetter, ExchangeSettings, Lease
from antiphon_client.exchange_routing import owner_uuid
from antiphon_client.ids import is_canonical_uuid
from antiphon_client.messages import UNSET, Message, MessageRole
from antiphon_client.rpc import UnaryCall

OWNER, OTHER = uuid4(), uuid4()


class Script:
    """A transport that hands each call to an answer function, and the client it belongs to."""

    def __init__(self, answer: Callable[[UnaryCall[Any]], Any]) -> None:
        self._answer = answer
        self.calls: list[UnaryCall[Any]] = []

    def _transport_of(self, stub_class: type) -> Script:
        return self

    def run(self, steps: Any) -> Any:
        call = next(steps)
        try:
            while True:
                self.calls.append(call)
                try:
                    answer = self._answer(call)
                except StoreBusyError as error:
                    call = steps.throw(error)
                else:
                    call = steps.send(call.decode(answer))
        except StopIteration as end:
            return end.value


class AsyncScript(Script):
    async def run(self, steps: Any) -> Any:
        await asyncio.sleep(0)
        return super().run(steps)


def exchange(script: Script) -> Exchange:
    return Exchange(script, "x")  # type: ignore[arg-type]


def async_exchange(script: AsyncScript) -> AsyncExchange:
    return AsyncExchange(script, "x")  # type: ignore[arg-type]


def test_run_collects_until_another_thread_stops_it() -> None:
    collected = threading.Semaphore(0)

    def answer(call: UnaryCall[Any]) -> Any:
        collected.release()
        return pb.CollectAllResponse()

    script = Script(answer)
    subject = exchange(script)
    runner = threading.Thread(target=subject.run, args=(0.01,), daemon=True)
    runner.start()
    for _ in range(3):
        assert collected.acquire(timeout=20)
    subject.stop()
    runner.join(20)
    assert not runner.is_alive()
    assert {call.method for call in script.calls} == {"CollectAll"}
    assert len({call.request.request_id for call in script.calls}) == len(script.calls) >= 3


def test_stop_ends_the_wait_at_once() -> None:
    begun = threading.Event()

    def answer(call: UnaryCall[Any]) -> Any:
        begun.set()
        return pb.CollectAllResponse()

    subject = exchange(Script(answer))
    runner = threading.Thread(target=subject.run, args=(3600,), daemon=True)
    runner.start()
    assert begun.wait(20)
    subject.stop()
    runner.join(20)
    assert not runner.is_alive()


@pytest.mark.anyio
async def test_the_asyncio_run_ends_by_stop_and_by_cancellation() -> None:
    script = AsyncScript(lambda call: pb.CollectAllResponse())
    subject = async_exchange(script)
    subject.stop()  # nothing runs: nothing is kept of it
    running = asyncio.ensure_future(subject.run(0.01))
    while len(script.calls) < 3:
        await asyncio.sleep(0.001)
    subject.stop()
    async with asyncio.timeout(20):
        await running
    waiting = asyncio.ensure_future(subject.run(3600))
    before = len(script.calls)
    while len(script.calls) == before:
        await asyncio.sleep(0.001)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert len(script.calls) == before + 1


@pytest.mark.anyio
async def test_a_stop_between_the_call_of_run_and_its_first_turn_is_not_lost() -> None:
    script = AsyncScript(lambda call: pb.CollectAllResponse())
    subject = async_exchange(script)
    running = asyncio.ensure_future(subject.run(3600))
    subject.stop()
    async with asyncio.timeout(20):
        await running
    assert script.calls == []


@pytest.mark.anyio
async def test_stop_ends_every_run() -> None:
    script = AsyncScript(lambda call: pb.CollectAllResponse())
    subject = async_exchange(script)
    running = [asyncio.ensure_future(subject.run(3600)) for _ in range(3)]
    while len(script.calls) < 3:
        await asyncio.sleep(0.001)
    subject.stop()
    async with asyncio.timeout(20):
        await asyncio.gather(*running)


@pytest.mark.parametrize("interval", [0, 0.009, 3601, float("nan"), -1])
def test_the_interval_is_bounded(interval: float) -> None:
    script = Script(lambda call: pb.CollectAllResponse())
    with pytest.raises(ValueError, match="interval"):
        exchange(script).run(interval)
    with pytest.raises(ValueError, match="interval"):
        _ = async_exchange(AsyncScript(lambda call: None)).run(interval)
    assert script.calls == []


def test_a_failed_collection_ends_the_loop() -> None:
    def answer(call: UnaryCall[Any]) -> Any:
        raise StoreBusyError("busy")

    with pytest.raises(StoreBusyError):
        exchange(Script(answer)).run(3600)


def test_owners_are_uuids_their_texts_or_objects_with_an_id() -> None:
    message = Message()
    assert owner_uuid(OWNER) == owner_uuid(str(OWNER).upper()) == OWNER
    assert owner_uuid(message) == message.id
    for wrong in ("name", "user", "", None, UNSET, MessageRole.USER, 3):
        with pytest.raises(ValueError, match=r"owner|Invalid"):
            owner_uuid(wrong)


def test_what_send_puts_on_the_wire() -> None:
    def answer(call: UnaryCall[Any]) -> Any:
        return pb.SendResponse(message_id=call.request.message.id or str(OTHER))

    script = Script(answer)
    subject = exchange(script)
    sent = subject.send(OWNER, None, {"n": 1.0}, "channel", metadata={"k": 1})
    request = script.calls[0].request
    assert request.exchange_id == "x"
    assert request.message.recipient.WhichOneof("state") == "broadcast"
    assert (request.message.sender.member_id, request.message.channel) == (str(OWNER), "channel")
    assert request.message.generic.value_json == '{"n":1.0}'
    assert (sent.id, sent.content, sent.is_broadcast) == (UUID(request.message.id), {"n": 1.0}, True)
    assert is_canonical_uuid(request.request_id)
    states = {"member_id": OTHER, "role": "user", "name": "someone"}
    for state, recipient in states.items():
        subject.send(OWNER, recipient, None)
        assert script.calls[-1].request.message.recipient.WhichOneof("state") == state
    subject.send(OWNER, UNSET, None)
    assert not script.calls[-1].request.message.HasField("recipient")


def test_a_repeated_send_is_the_same_request() -> None:
    script = Script(lambda call: pb.SendResponse(message_id=str(OTHER)))
    subject = exchange(script)
    first, second = (subject.send(OWNER, OTHER, "x", request_id=str(OWNER)) for _ in range(2))
    assert script.calls[0].request == script.calls[1].request
    assert first.id == second.id == OTHER


def test_leases_are_named_one_by_one_or_together() -> None:
    leased = pb.LeasedDelivery(lease_id=str(OTHER))
    leased.delivery.message.generic.value_json = "1"
    lease = Lease.from_proto(leased)
    assert (lease.message.content, lease.delivery.delivery_count) == (1, 0)
    script = Script(lambda call: pb.AcknowledgeResponse())
    given: list[Any] = [lease, OTHER, str(OTHER), [lease], iter([OTHER])]
    for leases in given:
        exchange(script).acknowledge(OWNER, leases)
        assert script.calls[-1].request.lease_ids == [str(OTHER)]


def test_every_reason_of_a_dead_letter_has_its_name_and_newer_ones_their_number() -> None:
    for name, number in pb.DeadLetterReason.items():
        letter = pb.DeadLetter(dead_letter_id=str(OTHER), reason=number)
        letter.message.generic.SetInParent()
        expected = name.removeprefix("DEAD_LETTER_REASON_").lower() if number else "0"
        assert DeadLetter.from_proto(letter).reason == expected
    newer = pb.DeadLetter(dead_letter_id=str(OTHER), reason=99)  # type: ignore[arg-type]
    newer.message.generic.SetInParent()
    assert DeadLetter.from_proto(newer).reason == "99"


def test_settings_leave_out_what_they_leave_alone() -> None:
    assert ExchangeSettings().to_proto() == pb.ExchangeSettings()
    given = ExchangeSettings("at_send", 2, 3, 4, 5).to_proto()
    assert given == pb.ExchangeSettings(
        delivery=pb.DELIVERY_MODE_AT_SEND, max_deliveries=2, max_owners=3, max_messages=4, max_bytes=5
    )


def test_the_errors_of_the_adr_are_value_errors() -> None:
    assert issubclass(OwnerExistsError, ValueError)
    assert issubclass(OwnerNotFoundError, ValueError)


def test_the_exchange_has_the_names_of_the_adr() -> None:
    names = "register unregister send collect collect_all sync receive pop_message has owner_ids run stop get"
    for name in names.split():
        assert hasattr(Exchange, name)
        assert hasattr(AsyncExchange, name)
    with_sender = inspect.signature(exchange(Script(lambda call: None)).send)
    assert list(with_sender.parameters)[:4] == ["sender", "recipient", "content", "channel"]

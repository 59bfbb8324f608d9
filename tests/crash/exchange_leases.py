"""Messages through leases while consumers, and the service, are killed at random.

    PYTHONPATH=.:clients/python python -m tests.crash.exchange_leases --messages 100000 [--mutant twice]

Senders of a real server process queue messages for a few owners; consumers
lease, then acknowledge, reject or forget. A consumer is killed at a random
moment, in the middle of a call too, and another takes its place; so now and
then is the service, with kill -9. Some messages are poison: whoever leases one
gives it back or dies of it.

Held to: no message is acknowledged twice or handed out while another holds it;
each hand-out counts one more; when all leases have ended, whatever is queued
can be leased at once; a message is a dead letter if and only if it was
delivered exactly as often as the exchange allows; every message sent is
acknowledged or a dead letter in the end, and never both.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import grpc.aio

from antiphon.history.v1 import exchange_service_pb2 as pb
from antiphon.history.v1 import exchange_service_pb2_grpc as pb_grpc
from antiphon_client.ids import new_ordered_id
from tests.crash.kills import START_SECONDS, BrokenPromiseError, Service, kill, told_alone
from tests.support.exchange import letter, number_of
from tests.support.exchange_knowledge import MAX_DELIVERIES, Knowledge, is_poison
from tests.support.exchange_mutants import EXCHANGE_MUTANTS
from tests.support.history import uuid_of

EXCHANGE = "agents"
OWNERS = (1, 2, 3)
SENDERS = (11, 12, 13, 14)
CONSUMERS = 6
BATCH = 64
VISIBILITY_SECONDS = 1
FIRST = 1000
PATIENCE_SECONDS = 60.0


class Run:
    """One run of the harness.

    Attributes:
        known: What is known.
        seconds: How long sending and consuming took.
    """

    def __init__(self, folder: Path, messages: int, seed: int, mutant: str = "none") -> None:
        self.known = Knowledge()
        self.seconds = 0.0
        self._messages = messages
        self._chance = random.Random(seed)
        self._service = Service(folder, mutant)
        self._stub: Any = None
        self._up = asyncio.Event()
        self._ended = False

    async def go(self, *, consumer_life: float, service_kills: int) -> None:
        """Send, consume and kill; then drain and judge.

        Args:
            consumer_life: How long a consumer lives on average, in seconds.
            service_kills: How often the service is killed.

        Raises:
            BrokenPromiseError: A promise was broken.
        """
        with told_alone():
            await self._go(consumer_life, service_kills)

    async def _go(self, consumer_life: float, service_kills: int) -> None:
        async with asyncio.TaskGroup() as tasks:
            server = tasks.create_task(self._serve(service_kills))
            await self._up.wait()
            await self._register()
            began = time.monotonic()
            crew = [tasks.create_task(self._keep_consuming(slot, consumer_life)) for slot in range(CONSUMERS)]
            async with asyncio.TaskGroup() as senders:
                for sender in SENDERS:
                    senders.create_task(self._send_all(sender))
            await self._until_quiet()
            self.seconds = time.monotonic() - began
            self._ended = True
            await asyncio.wait(crew)
            await self._drain()
            await self._judge()
            server.cancel()

    # The service

    async def _serve(self, kills: int) -> None:
        """Keep a service running, and kill it so many times as the messages come in."""
        deaths = sorted(self._chance.sample(range(1, 100), kills))
        while True:
            async with self._service.running() as process, self._connected():
                self._up.set()
                while not deaths or self._ended or len(self.known.sent) < deaths[0] * self._messages // 100:
                    await asyncio.sleep(0.01)
                    if process.returncode is not None:
                        raise BrokenPromiseError(f"the service ended: {self._service.log_text()}")
                deaths.pop(0)
                self._up.clear()
                kill(process)
                await process.wait()

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[None]:
        options = [("grpc.use_local_subchannel_pool", 1)]
        async with grpc.aio.insecure_channel(self._service.address, options=options) as channel:
            await asyncio.wait_for(channel.channel_ready(), START_SECONDS)
            self._stub = pb_grpc.ExchangeServiceStub(channel)
            yield

    async def _call(self, method: str, request: Any) -> Any:
        """Call until it is answered, under one request id."""
        request.exchange_id = EXCHANGE
        if "request_id" in request.DESCRIPTOR.fields_by_name:
            request.request_id = request.request_id or new_ordered_id()
        while True:
            await self._up.wait()
            try:
                return await getattr(self._stub, method)(request, timeout=PATIENCE_SECONDS)
            except grpc.aio.AioRpcError as error:
                gone = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
                if error.code() not in gone:
                    raise
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if task is None or task.cancelling():
                    raise
            except grpc.aio.UsageError:  # the channel was closed under the call
                await asyncio.sleep(0.01)

    async def _register(self) -> None:
        settings = pb.ExchangeSettings(
            delivery=pb.DELIVERY_MODE_AT_SEND, max_deliveries=MAX_DELIVERIES, max_messages=10**9
        )
        for owner in (*OWNERS, *SENDERS):
            request = pb.RegisterOwnerRequest(owner_id=uuid_of(owner), settings=settings)
            await self._call("RegisterOwner", request)

    # Senders and consumers

    async def _send_all(self, sender: int) -> None:
        share = range(FIRST + SENDERS.index(sender), FIRST + self._messages, len(SENDERS))
        pending: set[asyncio.Task[None]] = set()
        for number in share:
            pending.add(asyncio.create_task(self._send(sender, number)))
            if len(pending) >= 8:
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
        await asyncio.gather(*pending)

    async def _send(self, sender: int, number: int) -> None:
        message = letter(sender, OWNERS[number % len(OWNERS)], number)
        await self._call("Send", pb.SendRequest(message=message))
        self.known.sent.add(number)

    async def _keep_consuming(self, slot: int, life: float) -> None:
        """Let one consumer live after another, until the run ends."""
        while not self._ended:
            consumer = asyncio.create_task(self._consume(OWNERS[slot % len(OWNERS)]))
            try:
                await asyncio.wait([consumer], timeout=self._chance.expovariate(1 / life))
                await self._kill(consumer)
            finally:
                consumer.cancel()
            self.known.consumers_killed += 1

    async def _kill(self, consumer: asyncio.Task[None]) -> None:
        """End a consumer wherever it stands, and raise what it raised."""
        while not consumer.done():
            # Asked again: a call that fails in the same moment takes the place of the cancellation.
            consumer.cancel()
            await asyncio.wait([consumer], timeout=1)
        if not consumer.cancelled():
            consumer.result()

    async def _consume(self, owner: int) -> None:
        while True:
            leases = await self._lease(owner)
            if not leases:
                await asyncio.sleep(0.05)
                continue
            good = [one for one in leases if not is_poison(number_of(one.delivery.message))]
            bad = [one for one in leases if is_poison(number_of(one.delivery.message))]
            if bad and self._chance.random() < 0.5:
                await self._reject(owner, bad)
            elif good and self._chance.random() < 0.02:
                await self._reject(owner, good)
                good = []
            if good:
                await self._acknowledge(owner, good)

    async def _lease(self, owner: int) -> list[pb.LeasedDelivery]:
        request = pb.LeaseRequest(
            owner_id=uuid_of(owner), max_messages=BATCH, visibility_seconds=VISIBILITY_SECONDS
        )
        leases = list((await self._call("Lease", request)).deliveries)
        for one in leases:
            self.known.note_grant(owner, one, VISIBILITY_SECONDS)
        return leases

    async def _acknowledge(self, owner: int, leases: list[pb.LeasedDelivery]) -> None:
        numbers = [number_of(one.delivery.message) for one in leases]
        ids = [one.lease_id for one in leases]
        request = pb.AcknowledgeRequest(owner_id=uuid_of(owner), lease_ids=ids)
        try:
            kept = await self._kept("Acknowledge", request)
        except asyncio.CancelledError:
            self.known.unanswered.append((request, numbers))
            raise
        if kept:
            self.known.note_acknowledged(numbers)

    async def _reject(self, owner: int, leases: list[pb.LeasedDelivery]) -> None:
        for one in leases:
            self.known.grants[owner, one.delivery.sequence].given_back = True
        ids = [one.lease_id for one in leases]
        await self._kept("Reject", pb.RejectRequest(owner_id=uuid_of(owner), lease_ids=ids))

    async def _kept(self, method: str, request: Any) -> bool:
        """Use leases; false when some were lost."""
        try:
            await self._call(method, request)
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.FAILED_PRECONDITION:
                raise
            self.known.lost_leases += 1
            return False
        return True

    # The end

    async def _queued(self) -> int:
        owners = (await self._call("ListOwners", pb.ListOwnersRequest())).owners
        return sum(owner.inbox_count + owner.outbox_count for owner in owners)

    async def _until_quiet(self) -> None:
        """Let the consumers work until little is left."""
        few = BATCH * len(OWNERS)
        end = time.monotonic() + PATIENCE_SECONDS
        while await self._queued() > few and time.monotonic() < end:
            await asyncio.sleep(0.1)

    async def _drain(self) -> None:
        """Once every lease has ended, all that is queued must come at once; acknowledge it."""
        await asyncio.sleep(VISIBILITY_SECONDS + 0.2)
        for request, numbers in self.known.unanswered:
            # Its leases have ended: repeated, it succeeds only if it had been done before.
            if request.request_id and await self._kept("Acknowledge", request):
                self.known.note_acknowledged(numbers)
        queued, dead = await self._queued(), len(await self._dead())
        held = [(owner, leases) for owner in OWNERS for leases in [await self._lease_all(owner)]]
        count = sum(len(leases) for _, leases in held)
        died = len(await self._dead()) - dead
        if queued != count + died:
            raise BrokenPromiseError(f"{queued} were queued, {count} could be leased and {died} died")
        for owner, leases in held:
            good = [one for one in leases if not is_poison(number_of(one.delivery.message))]
            if good:
                ids = [one.lease_id for one in good]
                await self._in_parts("Acknowledge", pb.AcknowledgeRequest, owner, ids)
                self.known.note_acknowledged([number_of(one.delivery.message) for one in good])
            await self._reject_to_death(owner, [one for one in leases if one not in good])
        if await self._queued():
            raise BrokenPromiseError(f"{await self._queued()} messages are left")

    async def _lease_all(self, owner: int) -> list[pb.LeasedDelivery]:
        leases: list[pb.LeasedDelivery] = []
        seconds = int(PATIENCE_SECONDS)
        request = {"owner_id": uuid_of(owner), "max_messages": 1000, "visibility_seconds": seconds}
        while found := (await self._call("Lease", pb.LeaseRequest(**request))).deliveries:  # type: ignore[arg-type]
            for one in found:
                self.known.note_grant(owner, one, seconds)
            leases.extend(found)
        return leases

    async def _reject_to_death(self, owner: int, leases: list[pb.LeasedDelivery]) -> None:
        while leases:
            await self._in_parts("Reject", pb.RejectRequest, owner, [one.lease_id for one in leases])
            for one in leases:
                self.known.grants[owner, one.delivery.sequence].given_back = True
            leases = await self._lease_all(owner)

    async def _in_parts(self, method: str, request: Callable[..., Any], owner: int, ids: list[str]) -> None:
        for start in range(0, len(ids), 1000):
            part = request(owner_id=uuid_of(owner), lease_ids=ids[start : start + 1000])
            await self._call(method, part)

    async def _dead(self) -> dict[int, pb.DeadLetter]:
        dead: dict[int, pb.DeadLetter] = {}
        token = ""
        while True:
            page = await self._call("ListDeadLetters", pb.ListDeadLettersRequest(page_token=token))
            for one in page.dead_letters:
                if number_of(one.message) in dead:
                    raise BrokenPromiseError(f"message {number_of(one.message)} is dead twice")
                dead[number_of(one.message)] = one
            token = page.next_page_token
            if not token:
                return dead

    async def _judge(self) -> None:
        known, dead = self.known, await self._dead()
        for number, one in dead.items():
            if (
                one.delivery_count != MAX_DELIVERIES
                or one.reason != pb.DEAD_LETTER_REASON_TOO_MANY_DELIVERIES
            ):
                raise BrokenPromiseError(f"message {number} died after {one.delivery_count} deliveries")
        both = known.acknowledged.intersection(dead)
        if both:
            raise BrokenPromiseError(f"{len(both)} messages are acknowledged and dead, as {min(both)}")
        lost = known.sent - known.acknowledged - dead.keys()
        if lost:
            raise BrokenPromiseError(f"{len(lost)} messages are lost, as {min(lost)}")
        if len(known.sent) != self._messages or dead.keys() - known.sent:
            raise BrokenPromiseError("not what was sent is there")
        poison = {number for number in known.sent if is_poison(number)}
        if poison - dead.keys():
            raise BrokenPromiseError(f"{len(poison - dead.keys())} poison messages did not die")
        self.dead = len(dead)


def main() -> int:
    """Run from the command line; 0 when every promise held."""
    parser = argparse.ArgumentParser(description="Leases with consumers and the service killed at random.")
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--consumer-life", type=float, default=0.5, help="seconds, on average")
    parser.add_argument("--service-kills", type=int, default=5)
    parser.add_argument("--mutant", choices=["none", *sorted(EXCHANGE_MUTANTS)], default="none")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        run = Run(Path(folder), options.messages, options.seed, options.mutant)
        try:
            asyncio.run(run.go(consumer_life=options.consumer_life, service_kills=options.service_kills))
        except BrokenPromiseError as broken:
            print(f"BROKEN: {broken}")
            return 1
    known = run.known
    print(
        f"{len(known.sent)} messages in {run.seconds:.0f} s, {len(known.sent) / run.seconds:.0f}/s; "
        f"{known.consumers_killed} consumers and {options.service_kills} services killed: "
        f"{len(known.acknowledged)} acknowledged ({len(known.unanswered)} times by one who died of it), "
        f"{run.dead} dead letters, {known.lost_leases} calls with a lost lease; "
        "0 lost, 0 twice, 0 stuck, 0 dead too early or too late"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

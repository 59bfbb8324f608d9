"""Random programs on an exchange: every store gives the model's answers, restarts included."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.history.v1 import exchange_service_pb2 as pb
from antiphon_client.errors import AntiphonError
from history_service.domain.exchange_ledger import FURTHER_STEP
from tests.support import exchange_model as model
from tests.support.exchange import Exchange, StillClock, counts, letter, message_numbers, number_of
from tests.support.history import STORES, make_store, uuid_of
from tests.support.history_runs import empty_folder

OWNERS = st.integers(1, 4)
UNKNOWN_LEASE = uuid_of(0xBAD)


@dataclass(frozen=True)
class Step:
    """A step of a program: what is done, and with what."""

    name: str
    values: tuple[Any, ...] = ()


def steps() -> st.SearchStrategy[Step]:
    """Any step; numbers that name leases or dead letters are taken modulo how many there are."""
    limits = st.fixed_dictionaries(
        {},
        optional={
            "at_send": st.booleans(),
            "max_deliveries": st.integers(1, 3),
            "max_owners": st.integers(2, 4),
            "max_messages": st.integers(3, 9),
        },
    )
    recipients = OWNERS | st.sampled_from(["broadcast", "broadcast", "role", "name", "unset", None])
    some = st.lists(st.integers(0, 9), min_size=1, max_size=3, unique=True)

    def made(name: str, *values: st.SearchStrategy[Any]) -> st.SearchStrategy[Step]:
        return st.tuples(*values).map(lambda drawn: Step(name, drawn))

    return st.one_of(
        made("register", OWNERS, limits),
        made("register", OWNERS, st.just({})),
        made("unregister", OWNERS, st.booleans()),
        made("send", OWNERS, recipients, st.integers(10, 14)),
        made("send", OWNERS, recipients, st.integers(10, 99)),
        made("send", OWNERS, OWNERS, st.integers(10, 99)),
        made("collect", OWNERS),
        made("collect_all"),
        made("pop", OWNERS, OWNERS),
        made("lease", OWNERS, st.none() | OWNERS, st.integers(0, 3), st.sampled_from([1, 10])),
        made("lease", OWNERS, st.none(), st.just(3), st.sampled_from([1, 10])),
        made("acknowledge", some),
        made("reject", some),
        made("redrive", st.integers(0, 9), st.none() | OWNERS),
        made("turn", st.sampled_from([0.5, 1.0, 5.0])),
        made("restart"),
    )


class Program:
    """A service over a store, and the model, step by step."""

    def __init__(self, kind: str, folder: Path, step_size: int) -> None:
        self._kind = kind
        self._folder = folder
        self._step_size = step_size
        self._clock = StillClock()
        self._expected = model.Model(step_size=step_size)
        self._leases: list[tuple[int, str]] = []
        self._requests = 0
        self._starts = 0

    async def run(self, program: list[Step]) -> None:
        """Run a program, and compare all that can be read at its end."""
        await self._start()
        try:
            for step in program:
                outcome, expected = await getattr(self, f"_{step.name}")(*step.values)
                assert outcome == expected, step
            await self._compare()
        finally:
            await self._store.close()

    async def _start(self) -> None:
        self._store = make_store(self._kind, self._folder)
        await self._store.start()
        self._starts += 1
        self._exchange = Exchange(
            self._store, first_id=0xE000_0000_0000 + (self._starts << 32), step_size=self._step_size
        )
        self._exchange.clock.now = self._clock.now

    async def _ask(self, request: Any) -> Any:
        """Make a request, twice under one id: the second answer is the first once more."""
        self._requests += 1
        request.request_id = uuid_of(0xAAAA_0000_0000 + self._requests)
        try:
            first = await self._exchange.call(request)
        except AntiphonError as error:
            return error.reason
        again = await self._exchange.call(request)
        assert again.replayed
        again.replayed = False
        assert again == first
        return first

    # Steps: what the service did, and what the model would have it do

    async def _register(self, owner: int, limits: dict[str, Any]) -> tuple[Any, Any]:
        given = {name: value for name, value in limits.items() if name != "at_send"}
        asked = pb.ExchangeSettings(**given)
        if "at_send" in limits:
            asked.delivery = pb.DELIVERY_MODE_AT_SEND if limits["at_send"] else pb.DELIVERY_MODE_ON_COLLECT
        response = await self._ask(pb.RegisterOwnerRequest(owner_id=uuid_of(owner), settings=asked))
        return _reason(response), _attempt(lambda: self._expected.register(owner, limits))

    async def _unregister(self, owner: int, give_back: bool) -> tuple[Any, Any]:
        fate = pb.QUEUED_MAIL_RETURN if give_back else pb.QUEUED_MAIL_DEAD_LETTER
        done = await self._ask(pb.UnregisterOwnerRequest(owner_id=uuid_of(owner), queued_mail=fate))
        outcome = (
            done.was_registered,
            message_numbers(done.inbox),
            message_numbers(done.outbox),
            done.dead_letter_count,
        )
        return outcome, self._expected.unregister(owner, self._clock.now, give_back)

    async def _send(self, sender: int, recipient: Any, number: int) -> tuple[Any, Any]:
        response = await self._ask(pb.SendRequest(message=letter(sender, recipient, number)))
        outcome = response if isinstance(response, str) else response.delivered_count
        return outcome, _attempt(lambda: self._expected.send(sender, recipient, number))

    async def _collect(self, owner: int) -> tuple[Any, Any]:
        response = await self._ask(pb.CollectRequest(owner_id=uuid_of(owner)))
        outcome = response if isinstance(response, str) else counts(response)
        return outcome, _attempt(lambda: self._expected.collect(owner))

    async def _collect_all(self) -> tuple[Any, Any]:
        return counts(await self._ask(pb.CollectAllRequest())), self._expected.collect_all()

    async def _pop(self, owner: int, sender: int) -> tuple[Any, Any]:
        response = await self._ask(pb.PopRequest(owner_id=uuid_of(owner), sender_id=uuid_of(sender)))
        outcome = number_of(response.delivery.message) if response.HasField("delivery") else None
        return outcome, self._expected.pop(owner, sender, self._clock.now)

    async def _lease(self, owner: int, sender: int | None, most: int, seconds: int) -> tuple[Any, Any]:
        request = pb.LeaseRequest(owner_id=uuid_of(owner), max_messages=most, visibility_seconds=seconds)
        if sender is not None:
            request.sender_id = uuid_of(sender)
        found = (await self._ask(request)).deliveries
        now = self._clock.now
        entries = self._expected.lease(owner, sender, most or 1, now, now + seconds * 10**9)
        outcome = [
            (number_of(one.delivery.message), one.delivery.sequence, one.delivery.delivery_count)
            for one in found
        ]
        expected = [(entry.number, entry.sequence, entry.count) for entry in entries]
        for one, entry in zip(found, entries, strict=False):
            entry.lease = one.lease_id
            self._leases.append((owner, one.lease_id))
        return outcome, expected

    def _some_leases(self, chosen: list[int]) -> tuple[int, list[str]]:
        """Leases of one owner, of late, or one that never was."""
        if not self._leases:
            return 1, [UNKNOWN_LEASE]
        owner = self._leases[-1 - chosen[0] % len(self._leases)][0]
        own = [lease for holder, lease in self._leases if holder == owner][::-1]
        return owner, list(dict.fromkeys(own[number % len(own)] for number in chosen))

    async def _acknowledge(self, chosen: list[int]) -> tuple[Any, Any]:
        owner, leases = self._some_leases(chosen)
        response = await self._ask(pb.AcknowledgeRequest(owner_id=uuid_of(owner), lease_ids=leases))
        now = self._clock.now
        return _reason(response), _attempt(lambda: self._expected.acknowledge(owner, leases, now))

    async def _reject(self, chosen: list[int]) -> tuple[Any, Any]:
        owner, leases = self._some_leases(chosen)
        response = await self._ask(pb.RejectRequest(owner_id=uuid_of(owner), lease_ids=leases))
        outcome = response if isinstance(response, str) else response.dead_letter_count
        now = self._clock.now
        return outcome, _attempt(lambda: self._expected.reject(owner, leases, now))

    async def _redrive(self, index: int, recipient: int | None) -> tuple[Any, Any]:
        dead = await self._exchange.dead_letters()
        if not dead:
            return None, None
        index %= len(dead)
        request = pb.RedriveDeadLetterRequest(dead_letter_id=dead[index].dead_letter_id)
        if recipient is not None:
            request.recipient_id = uuid_of(recipient)
        response = await self._ask(request)
        outcome = response if isinstance(response, str) else response.sequence
        return outcome, _attempt(lambda: self._expected.redrive(index, recipient))

    async def _turn(self, seconds: float) -> tuple[Any, Any]:
        self._clock.turn(seconds)
        self._exchange.clock.turn(seconds)
        return None, None

    async def _restart(self) -> tuple[Any, Any]:
        if self._kind != "memory":
            await self._store.close()
            await self._start()
        return None, None

    async def _compare(self) -> None:
        expected = self._expected
        owners = await self._exchange.owners(page_size=2)
        assert [
            (int(one.owner_id[-12:], 16), one.inbox_count, one.outbox_count, one.last_sequence)
            for one in owners
        ] == [
            (number, len(owner.inbox), len(owner.outbox), expected.sequences.get(number, 0))
            for number, owner in expected.owners.items()
        ]
        assert await self._exchange.dead(page_size=2) == [dead.shown() for dead in expected.dead]
        for number in range(1, 5):
            for sender in (None, 1, 2):
                narrowed = {} if sender is None else {"sender_id": uuid_of(sender)}
                shown = [
                    (number_of(one.message), one.sequence, one.delivery_count)
                    for one in await self._exchange.receive(number, page_size=2, **narrowed)
                ]
                owner = expected.owners.get(number, model.Owner())
                assert shown == [
                    (entry.number, entry.sequence, entry.count)
                    for entry in owner.inbox
                    if sender in (None, entry.sender)
                ]


def _reason(response: Any) -> str | None:
    return response if isinstance(response, str) else None


def _attempt(step: Any) -> Any:
    """Return what the model makes of a step: its answer, or why it refuses."""
    try:
        return step()
    except model.Refused as refusal:
        return str(refusal)


STARTING = [Step("register", (owner, {})) for owner in (1, 2, 3)]
PROGRAMS = st.lists(steps(), max_size=40).map(lambda program: STARTING + program)
STEP_SIZES = st.sampled_from([FURTHER_STEP.full_at, 1, 2, 12])
"""As the service's own, nearly all is done in one step; as the others, little is."""


@settings(max_examples=200)
@given(PROGRAMS, STEP_SIZES)
def test_the_memory_store_gives_the_models_answers(program: list[Step], step_size: int) -> None:
    asyncio.run(Program("memory", Path(), step_size).run(program))


@pytest.mark.parametrize("kind", STORES[1:])
@settings(max_examples=40)
@given(program=PROGRAMS, step_size=STEP_SIZES)
def test_every_store_gives_the_models_answers(kind: str, program: list[Step], step_size: int) -> None:
    with empty_folder(kind) as folder:
        asyncio.run(Program(kind, folder, step_size).run(program))

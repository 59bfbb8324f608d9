"""The RPCs of the exchange: check, run the rule in the store, encode.

As ``servicer`` does for the history. Errors per RPC are listed in the proto.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from functools import partial
from typing import Any, TypeVar

import grpc.aio
from google.protobuf.descriptor import Descriptor

from antiphon.history.v1 import exchange_service_pb2 as pb
from antiphon.history.v1 import exchange_service_pb2_grpc
from antiphon_client.edge.call import current_call
from antiphon_client.ids import new_ordered_id
from antiphon_client.limits import Limits
from history_service import exchange_checks as checks
from history_service import exchange_encoding as encoding
from history_service import inbox_stream, paging
from history_service.domain import exchange_dead_letters, exchange_inbox, exchange_owners
from history_service.domain.exchange_ledger import FIRST_STEP, FURTHER_STEP, Ledger, StepSize
from history_service.domain.exchange_steps import (
    Collection,
    CollectionOfAll,
    Outcome,
    RepeatedRule,
    Rule,
    Sending,
    SteppedWrite,
    Unregistration,
)
from history_service.domain.prepared import NANOSECONDS, Stamper
from history_service.domain.writes import Unfinished, WriteCall, write_step
from history_service.inbox_stream import Inbox
from history_service.signals import Signals
from history_service.storage.exchange_port import ExchangeKey
from history_service.storage.port import HistoryStore, WriteTransaction
from history_service.watch_stream import DEFAULT_TIMES, WatchTimes
from history_service.write_calls import WriteCalls

T = TypeVar("T")
Context = grpc.aio.ServicerContext[Any, Any]
Spliced = Any
"""An encoded response. The edge passes it through; the generated base class knows typed ones only."""


class ExchangeServicer(exchange_service_pb2_grpc.ExchangeServiceServicer):
    """Serves ``antiphon.history.v1.ExchangeService`` from a store."""

    def __init__(
        self,
        store: HistoryStore,
        limits: Limits,
        *,
        clock: Callable[[], int] = time.time_ns,
        make_id: Callable[[], str] = new_ordered_id,
        watch_times: WatchTimes = DEFAULT_TIMES,
        first_step: StepSize = FIRST_STEP,
        further_step: StepSize = FURTHER_STEP,
    ) -> None:
        """Set up the servicer.

        Args:
            store: Where exchanges are kept; started and closed by the caller.
            limits: Bounds on messages, pages, replies and frames.
            clock: Returns nanoseconds since the epoch; leases run by it.
            make_id: Returns a fresh canonical UUID for a message, a lease or a dead letter.
            watch_times: How long a watch is quiet.
            first_step: How much a write may move in a transaction that waits for nobody.
            further_step: How much it may move in each that is taken in turn.
        """
        self._store = store
        self._limits = limits
        self._clock = clock
        self._make_id = make_id
        self._watch_times = watch_times
        self._first_step = first_step
        self._further_step = further_step
        self._turns = asyncio.Lock()
        self._stamper = Stamper(
            clock, make_id, lambda count: [make_id() for _ in range(count)], limits.message_bytes
        )
        self._signals = Signals()
        self._write_calls = WriteCalls(clock)

    @property
    def signals(self) -> Signals:
        """What wakes watches of inboxes."""
        return self._signals

    # Owners

    async def RegisterOwner(self, request: pb.RegisterOwnerRequest, context: Context) -> Spliced:
        """Register an owner."""
        checks.check_register_owner(request)
        rule = partial(exchange_owners.register, owner_id=request.owner_id, settings=request.settings)
        return await self._apply(request, pb.RegisterOwnerResponse.DESCRIPTOR, rule)

    async def UnregisterOwner(self, request: pb.UnregisterOwnerRequest, context: Context) -> Spliced:
        """Unregister an owner."""
        checks.check_unregister_owner(request)
        write = Unregistration(
            request.owner_id,
            give_back=request.queued_mail == pb.QUEUED_MAIL_RETURN,
            max_messages=self._limits.page_messages,
            max_bytes=self._limits.page_bytes,
        )
        return await self._write(request, pb.UnregisterOwnerResponse.DESCRIPTOR, write)

    async def ListOwners(self, request: pb.ListOwnersRequest, context: Context) -> pb.ListOwnersResponse:
        """List registered owners."""
        checks.check_list_owners(request)
        key = _key(request)
        after = paging.read_number_token("owners", key, request.page_token)
        limit = paging.page_limit(request.page_size, self._limits.page_messages)
        rows, rank = await self._store.read(
            lambda tx: exchange_owners.list_owners(tx.exchange, key, after, limit)
        )
        token = "" if rank is None else paging.number_token("owners", key, rank)
        return pb.ListOwnersResponse(owners=map(encoding.owner, rows), next_page_token=token)

    # Delivery

    async def Send(self, request: pb.SendRequest, context: Context) -> Spliced:
        """Queue a message."""
        checks.check_send(request, self._limits)
        message = request.message
        prepared = self._stamper.prepare_all([message])[0]
        return await self._write(request, pb.SendResponse.DESCRIPTOR, Sending(message, prepared))

    async def Collect(self, request: pb.CollectRequest, context: Context) -> Spliced:
        """Deliver an owner's outbox."""
        checks.check_collect(request)
        return await self._write(request, pb.CollectResponse.DESCRIPTOR, Collection(request.owner_id))

    async def CollectAll(self, request: pb.CollectAllRequest, context: Context) -> Spliced:
        """Deliver every owner's outbox."""
        checks.check_collect_all(request)
        return await self._write(request, pb.CollectAllResponse.DESCRIPTOR, CollectionOfAll())

    # Consuming

    async def Receive(self, request: pb.ReceiveRequest, context: Context) -> Spliced:
        """Read an inbox."""
        checks.check_receive(request)
        key = _key(request)
        sender_id = request.sender_id if request.HasField("sender_id") else None
        filters = (*key, request.owner_id, sender_id)
        after = paging.read_number_token("inbox", filters, request.page_token)
        limit = paging.page_limit(request.page_size, self._limits.page_messages)
        page = await self._store.read(
            lambda tx: tx.exchange.inbox_page(
                key,
                request.owner_id,
                after=after,
                sender_id=sender_id,
                limit=limit,
                max_bytes=self._limits.page_bytes,
            )
        )
        token = ""  # nosec B105: a page's
        if not page.complete:
            token = paging.number_token("inbox", filters, page.deliveries[-1][0].sequence)
        return encoding.receive_response(page.deliveries, token)

    async def Pop(self, request: pb.PopRequest, context: Context) -> Spliced:
        """Take the oldest message of a sender."""
        checks.check_pop(request)

        def rule(ledger: Ledger) -> Outcome:
            popped = exchange_inbox.pop(ledger, request.owner_id, request.sender_id)
            return _answered(popped, encoding.pop_response)

        return await self._apply(request, pb.PopResponse.DESCRIPTOR, rule)

    async def Lease(self, request: pb.LeaseRequest, context: Context) -> Spliced:
        """Hand out messages for a time."""
        checks.check_lease(request)
        sender_id = request.sender_id if request.HasField("sender_id") else None
        seconds = request.visibility_seconds or checks.DEFAULT_VISIBILITY_SECONDS
        limit = min(request.max_messages or 1, self._limits.page_messages)

        def rule(ledger: Ledger) -> Outcome:
            leased = exchange_inbox.lease(
                ledger,
                request.owner_id,
                sender_id=sender_id,
                expires_at=ledger.now + seconds * NANOSECONDS,
                limit=limit,
                max_bytes=self._limits.page_bytes,
            )
            return _answered(leased, encoding.lease_response)

        return await self._apply(request, pb.LeaseResponse.DESCRIPTOR, rule)

    async def Acknowledge(self, request: pb.AcknowledgeRequest, context: Context) -> Spliced:
        """Remove leased messages."""
        checks.check_leases(request, self._limits)
        rule = partial(exchange_inbox.acknowledge, owner_id=request.owner_id, lease_ids=request.lease_ids)
        return await self._apply(request, pb.AcknowledgeResponse.DESCRIPTOR, rule)

    async def Reject(self, request: pb.RejectRequest, context: Context) -> Spliced:
        """Give leased messages back."""
        checks.check_leases(request, self._limits)
        rule = partial(exchange_inbox.reject, owner_id=request.owner_id, lease_ids=request.lease_ids)
        return await self._apply(request, pb.RejectResponse.DESCRIPTOR, rule)

    async def WatchInbox(self, request: pb.WatchInboxRequest, context: Context) -> AsyncIterator[Spliced]:
        """Stream the deliveries to an inbox."""
        checks.check_watch_inbox(request)
        inbox = Inbox(_key(request), request.owner_id)
        stream = inbox_stream.frames(
            self._store, self._signals, self._watch_times, self._limits, inbox, request.after_sequence
        )
        async with aclosing(stream) as frames:
            async for frame in frames:
                yield frame

    # Dead letters

    async def ListDeadLetters(self, request: pb.ListDeadLettersRequest, context: Context) -> Spliced:
        """List dead letters."""
        checks.check_list_dead_letters(request)
        key = _key(request)
        owner_id = request.owner_id if request.HasField("owner_id") else None
        filters = (*key, owner_id)
        after = paging.read_number_token("dead_letters", filters, request.page_token)
        limit = paging.page_limit(request.page_size, self._limits.page_messages)
        rows, complete = await self._store.read(
            lambda tx: tx.exchange.dead_letter_page(
                key, owner_id=owner_id, after=after, limit=limit, max_bytes=self._limits.page_bytes
            )
        )
        token = "" if complete else paging.number_token("dead_letters", filters, rows[-1][0].position)
        return encoding.dead_letters_response(rows, token)

    async def RedriveDeadLetter(self, request: pb.RedriveDeadLetterRequest, context: Context) -> Spliced:
        """Deliver a dead letter after all."""
        checks.check_redrive(request)
        recipient_id = request.recipient_id if request.HasField("recipient_id") else None
        rule = partial(
            exchange_dead_letters.redrive, dead_letter_id=request.dead_letter_id, recipient_id=recipient_id
        )
        return await self._apply(request, pb.RedriveDeadLetterResponse.DESCRIPTOR, rule)

    # What every write does

    async def _apply(self, request: checks.ExchangeWrite, response: Descriptor, rule: Rule) -> bytes:
        return await self._write(request, response, RepeatedRule(rule))

    async def _write(self, request: checks.ExchangeWrite, response: Descriptor, write: SteppedWrite) -> bytes:
        """Take a write's steps, unless they were taken before, until one answers.

        The first is small and waits for nobody: nearly every write is done with
        it, and the store commits many of them at once.
        """
        call = self._write_calls.make(request.request_id, response)
        key = _key(request)
        number = 0
        outcome = await self._step(call, key, number, write)
        while isinstance(outcome, Unfinished):
            write.follow(outcome.record)
            number += 1
            # One at a time: however many writes go on, others' works wait for one of their steps.
            async with self._turns:
                await asyncio.sleep(0)  # Those works are begun: not every store has a thread of its own.
                outcome = await self._step(call, key, number, write)
        return outcome

    async def _step(
        self, call: WriteCall, key: ExchangeKey, number: int, write: SteppedWrite
    ) -> bytes | Unfinished:
        """Run a step in one transaction; then wake who watches what it reached."""
        reached: set[str] = set()
        size = self._further_step if number else self._first_step

        def rule(tx: WriteTransaction) -> Outcome:
            # The time is read here: a write may wait for its turn, and leases run meanwhile.
            ledger = Ledger(tx.exchange, key, self._clock(), self._make_id, size)
            outcome = write.step(ledger)
            reached.update(ledger.reached)
            return outcome

        def work(tx: WriteTransaction) -> bytes | Unfinished:
            reached.clear()
            return write_step(tx, call, number, rule)

        outcome = await self._store.write(work, starts_commit=number > 0)
        for owner_id in reached:
            self._signals.notify(Inbox(key, owner_id))
        return outcome


def _answered(outcome: T | Unfinished, encode: Callable[[T], Outcome]) -> Outcome:
    return outcome if isinstance(outcome, Unfinished) else encode(outcome)


def _key(request: checks.ExchangeRequest) -> ExchangeKey:
    return ExchangeKey(current_call().tenant_id, request.exchange_id)

"""The RPCs of the exchange: check, run the rule in the store, encode.

As ``servicer`` does for the history. Errors per RPC are listed in the proto.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any

import grpc.aio
from google.protobuf.descriptor import Descriptor

from antiphon.history.v1 import exchange_service_pb2 as pb
from antiphon.history.v1 import exchange_service_pb2_grpc
from antiphon_client.edge.call import current_call
from antiphon_client.ids import derived_request_id, new_ordered_id
from antiphon_client.limits import Limits
from history_service import exchange_checks as checks
from history_service import exchange_encoding as encoding
from history_service import inbox_stream, paging
from history_service.domain import exchange_dead_letters, exchange_delivery, exchange_inbox, exchange_owners
from history_service.domain.exchange_delivery import Progress
from history_service.domain.exchange_ledger import Ledger
from history_service.domain.prepared import NANOSECONDS, Stamper
from history_service.domain.writes import CreationResponse, WriteCall, write_once
from history_service.inbox_stream import Inbox
from history_service.signals import Signals
from history_service.storage.exchange_port import ExchangeKey
from history_service.storage.port import HistoryStore, WriteTransaction
from history_service.watch_stream import DEFAULT_TIMES, WatchTimes
from history_service.write_calls import WriteCalls

Context = grpc.aio.ServicerContext[Any, Any]
Spliced = Any
"""An encoded response. The edge passes it through; the generated base class knows typed ones only."""
Rule = Callable[[Ledger], CreationResponse]


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
    ) -> None:
        """Set up the servicer.

        Args:
            store: Where exchanges are kept; started and closed by the caller.
            limits: Bounds on messages, pages, replies and frames.
            clock: Returns nanoseconds since the epoch; leases run by it.
            make_id: Returns a fresh canonical UUID for a message, a lease or a dead letter.
            watch_times: How long a watch is quiet.
        """
        self._store = store
        self._limits = limits
        self._clock = clock
        self._make_id = make_id
        self._watch_times = watch_times
        self._stamper = Stamper(clock, make_id, make_id, limits.message_bytes)
        self._signals = Signals()
        self._write_calls = WriteCalls(clock)

    # Owners

    async def RegisterOwner(self, request: pb.RegisterOwnerRequest, context: Context) -> Spliced:
        """Register an owner."""
        checks.check_register_owner(request)
        rule = partial(exchange_owners.register, owner_id=request.owner_id, settings=request.settings)
        return await self._step(request, pb.RegisterOwnerResponse.DESCRIPTOR, rule)

    async def UnregisterOwner(self, request: pb.UnregisterOwnerRequest, context: Context) -> Spliced:
        """Unregister an owner."""
        checks.check_unregister_owner(request)
        rule = partial(
            exchange_owners.unregister,
            owner_id=request.owner_id,
            give_back=request.queued_mail == pb.QUEUED_MAIL_RETURN,
            max_messages=self._limits.page_messages,
            max_bytes=self._limits.page_bytes,
        )
        return await self._step(request, pb.UnregisterOwnerResponse.DESCRIPTOR, rule)

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
        rule = partial(exchange_delivery.send, message=message, prepared=prepared)
        return await self._step(request, pb.SendResponse.DESCRIPTOR, rule)

    async def Collect(self, request: pb.CollectRequest, context: Context) -> Spliced:
        """Deliver an owner's outbox."""
        checks.check_collect(request)

        def rule(ledger: Ledger) -> pb.CollectResponse:
            delivered, dead, remaining = exchange_delivery.collect(ledger, request.owner_id)
            return pb.CollectResponse(
                delivered_count=delivered, dead_letter_count=dead, remaining_count=remaining
            )

        return await self._step(request, pb.CollectResponse.DESCRIPTOR, rule)

    async def CollectAll(self, request: pb.CollectAllRequest, context: Context) -> Spliced:
        """Deliver every owner's outbox, a transaction each."""
        checks.check_collect_all(request)
        call = self._write_calls.make(request.request_id, pb.CollectAllResponse.DESCRIPTOR)
        key, progress = _key(request), Progress(0)
        if not await self._is_recorded(call):
            progress = await self._collect_all(call, key)
        response = pb.CollectAllResponse(
            delivered_count=progress.delivered,
            dead_letter_count=progress.dead,
            remaining_count=progress.remaining,
        )
        return await self._store.write(lambda tx: write_once(tx, call, lambda _: response))

    async def _is_recorded(self, call: WriteCall) -> bool:
        if not call.request_id:
            return False
        return await self._store.read(
            lambda tx: tx.recorded_response(call.tenant_id, call.request_id) is not None
        )

    async def _collect_all(self, call: WriteCall, key: ExchangeKey) -> Progress:
        """Collect for one owner after another.

        Each transaction records how far it came, as the response to a request
        of its own: whoever sends the request again follows in these steps.
        """

        def step_call(number: int) -> WriteCall:
            request_id = derived_request_id(call.request_id, str(number)) if call.request_id else ""
            return replace(call, request_id=request_id, replay_mark=b"", expire_before=None)

        def begin(ledger: Ledger) -> Progress:
            return exchange_delivery.begin_collect_all(ledger.tx, key)

        number = 0
        progress = Progress.decoded(await self._run(step_call(number), key, begin))
        while not progress.finished:
            number += 1
            rule = partial(exchange_delivery.collect_next, progress=progress)
            progress = Progress.decoded(await self._run(step_call(number), key, rule))
        return progress

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
        token = ""
        if not page.complete:
            token = paging.number_token("inbox", filters, page.deliveries[-1][0].sequence)
        return encoding.receive_response(page.deliveries, token)

    async def Pop(self, request: pb.PopRequest, context: Context) -> Spliced:
        """Take the oldest message of a sender."""
        checks.check_pop(request)

        def rule(ledger: Ledger) -> CreationResponse:
            return encoding.pop_response(exchange_inbox.pop(ledger, request.owner_id, request.sender_id))

        return await self._step(request, pb.PopResponse.DESCRIPTOR, rule)

    async def Lease(self, request: pb.LeaseRequest, context: Context) -> Spliced:
        """Hand out messages for a time."""
        checks.check_lease(request)
        sender_id = request.sender_id if request.HasField("sender_id") else None
        seconds = request.visibility_seconds or checks.DEFAULT_VISIBILITY_SECONDS
        limit = min(request.max_messages or 1, self._limits.page_messages)

        def rule(ledger: Ledger) -> CreationResponse:
            leased = exchange_inbox.lease(
                ledger,
                request.owner_id,
                sender_id=sender_id,
                expires_at=ledger.now + seconds * NANOSECONDS,
                limit=limit,
                max_bytes=self._limits.page_bytes,
            )
            return encoding.lease_response(leased)

        return await self._step(request, pb.LeaseResponse.DESCRIPTOR, rule)

    async def Acknowledge(self, request: pb.AcknowledgeRequest, context: Context) -> Spliced:
        """Remove leased messages."""
        checks.check_leases(request, self._limits)
        rule = partial(exchange_inbox.acknowledge, owner_id=request.owner_id, lease_ids=request.lease_ids)
        return await self._step(request, pb.AcknowledgeResponse.DESCRIPTOR, rule)

    async def Reject(self, request: pb.RejectRequest, context: Context) -> Spliced:
        """Give leased messages back."""
        checks.check_leases(request, self._limits)
        rule = partial(exchange_inbox.reject, owner_id=request.owner_id, lease_ids=request.lease_ids)
        return await self._step(request, pb.RejectResponse.DESCRIPTOR, rule)

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
        return await self._step(request, pb.RedriveDeadLetterResponse.DESCRIPTOR, rule)

    # What every step does

    async def _step(self, request: checks.ExchangeWrite, response: Descriptor, rule: Rule) -> bytes:
        return await self._run(self._write_calls.make(request.request_id, response), _key(request), rule)

    async def _run(self, call: WriteCall, key: ExchangeKey, rule: Rule) -> bytes:
        """Run a step in one transaction, unless it was run before; then wake who watches what it reached."""
        reached: set[str] = set()

        def step(tx: WriteTransaction) -> CreationResponse:
            # The time is read here: a write may wait for its turn, and leases run meanwhile.
            ledger = Ledger(tx.exchange, key, self._clock(), self._make_id)
            response = rule(ledger)
            reached.update(ledger.reached)
            return response

        def work(tx: WriteTransaction) -> bytes:
            reached.clear()
            return write_once(tx, call, step)

        response = await self._store.write(work)
        for owner_id in reached:
            self._signals.notify(Inbox(key, owner_id))
        return response


def _key(request: checks.ExchangeRequest) -> ExchangeKey:
    return ExchangeKey(current_call().tenant_id, request.exchange_id)

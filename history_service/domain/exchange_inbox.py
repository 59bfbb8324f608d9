"""Consuming an inbox: pop, lease, acknowledge, reject (exchange design, at-least-once with ack)."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.history.v1 import exchange_service_pb2 as pb
from antiphon_client.errors import LeaseLostError, id_list
from history_service.domain.exchange_ledger import Ledger
from history_service.domain.writes import Unfinished
from history_service.storage.exchange_port import InboxEntry, OwnerRow


def pop(ledger: Ledger, owner_id: str, sender_id: str) -> tuple[InboxEntry, bytes] | Unfinished | None:
    """Take the oldest message of one sender that is under no lease; None when there is none."""
    owner = ledger.registered(owner_id)
    if owner is None:
        return None
    if not ledger.settle(owner).complete:
        return _to_be_continued(ledger)
    found = ledger.tx.available(ledger.key, owner_id, after=0, sender_id=sender_id, limit=1)
    popped = None
    if found:
        popped = found[0], ledger.tx.body(ledger.key, found[0].letter.body)
        ledger.consume(owner, found)
    ledger.save_if_changed()
    return popped


def lease(
    ledger: Ledger,
    owner_id: str,
    *,
    sender_id: str | None,
    expires_at: int,
    limit: int,
    max_bytes: int,
) -> list[tuple[InboxEntry, bytes]] | Unfinished:
    """Hand out the oldest messages under no lease and hide them until a time.

    Args:
        ledger: The books.
        owner_id: Whose inbox; an unknown owner's is empty.
        sender_id: Narrows it to one sender.
        expires_at: When the leases end, in nanoseconds since the epoch.
        limit: The most messages.
        max_bytes: The most bytes of messages, except that one is always handed out.
    """
    owner = ledger.registered(owner_id)
    if owner is None:
        return []
    if not ledger.settle(owner).complete:
        return _to_be_continued(ledger)
    found, spent = _leasable(ledger, owner, sender_id, limit, max_bytes)
    if spent:
        ledger.bury_spent(owner, spent)
    if len(spent) > ledger.step_size:
        return _to_be_continued(ledger)
    leased = [
        entry._replace(
            delivery_count=entry.delivery_count + 1, lease_id=ledger.new_id(), expires_at=expires_at
        )
        for entry in found
    ]
    if leased:
        ledger.tx.lease(ledger.key, owner_id, leased)
    ledger.save_if_changed()
    return [(entry, ledger.tx.body(ledger.key, entry.letter.body)) for entry in leased]


def _to_be_continued(ledger: Ledger) -> Unfinished:
    """End a step that has cleared the inbox of as much as a step may; the next goes on by itself."""
    ledger.save_if_changed()
    return Unfinished({})


def _leasable(
    ledger: Ledger, owner: OwnerRow, sender_id: str | None, limit: int, max_bytes: int
) -> tuple[list[InboxEntry], list[InboxEntry]]:
    """Find the entries to hand out, and those on the way that were handed out too often.

    The latter exist only where the limit of deliveries was lowered since; more
    of them than fill a step end the search.
    """
    found: list[InboxEntry] = []
    spent: list[InboxEntry] = []
    after = size = 0
    while len(found) < limit and len(spent) <= ledger.step_size:
        entries = ledger.tx.available(
            ledger.key, owner.owner_id, after=after, sender_id=sender_id, limit=limit - len(found)
        )
        for entry in entries:
            if entry.delivery_count >= ledger.exchange.max_deliveries:
                spent.append(entry)
                continue
            size += entry.letter.size
            if found and size > max_bytes:
                return found, spent
            found.append(entry)
        if not entries:
            break
        after = entries[-1].sequence
    return found, spent


def acknowledge(ledger: Ledger, owner_id: str, lease_ids: Sequence[str]) -> pb.AcknowledgeResponse:
    """Remove leased messages for good, all or none.

    Raises:
        LeaseLostError: Some leases are not held any more; all of these are listed.
    """
    owner, entries = _held(ledger, owner_id, lease_ids)
    ledger.consume(owner, entries)
    ledger.save()
    return pb.AcknowledgeResponse()


def reject(ledger: Ledger, owner_id: str, lease_ids: Sequence[str]) -> pb.RejectResponse:
    """Give leased messages back at once, all or none; those leased too often become dead letters.

    Raises:
        LeaseLostError: Some leases are not held any more; all of these are listed.
    """
    owner, entries = _held(ledger, owner_id, lease_ids)
    limit = ledger.exchange.max_deliveries
    spent = [entry for entry in entries if entry.delivery_count >= limit]
    back = [entry.lease_id for entry in entries if entry.delivery_count < limit and entry.lease_id]
    ledger.tx.end_leases(ledger.key, owner_id, back)
    if spent:
        ledger.bury_spent(owner, spent)
        ledger.save()
    return pb.RejectResponse(dead_letter_count=len(spent))


def _held(ledger: Ledger, owner_id: str, lease_ids: Sequence[str]) -> tuple[OwnerRow, list[InboxEntry]]:
    """Return the entries under leases that have not expired, by sequence."""
    owner = ledger.registered(owner_id)
    entries = ledger.tx.leased(ledger.key, owner_id, lease_ids)
    lost = [
        lease_id
        for lease_id in lease_ids
        if lease_id not in entries or entries[lease_id].expires_at <= ledger.now
    ]
    if lost or owner is None:
        raise LeaseLostError(
            f"{len(lost)} lease(s) are lost, first {lost[0]}", metadata=id_list("lease_id", lost)
        )
    return owner, sorted(entries.values())

"""Dead letters: listing them, and delivering them after all (exchange design, nothing vanishes)."""

from __future__ import annotations

from antiphon.history.v1 import exchange_service_pb2 as pb
from antiphon_client.errors import FieldInvalidError, MessageNotFoundError, id_list
from history_service.domain.exchange_ledger import Ledger


def redrive(ledger: Ledger, dead_letter_id: str, recipient_id: str | None) -> pb.RedriveDeadLetterResponse:
    """Deliver a dead letter's message, with a fresh count of deliveries.

    Args:
        ledger: The books.
        dead_letter_id: Which one.
        recipient_id: Whom to; None is the owner it was meant for.

    Raises:
        MessageNotFoundError: There is no such dead letter.
        FieldInvalidError: It was meant for nobody and no recipient is given.
        OwnerNotFoundError: The recipient is not registered.
        QuotaExceededError: The exchange is full.
    """
    row = ledger.tx.dead_letter(ledger.key, dead_letter_id)
    if row is None:
        raise MessageNotFoundError(
            f"dead letter {dead_letter_id} is not in the exchange",
            metadata=id_list("missing", [dead_letter_id]),
        )
    wanted = recipient_id or row.owner_id
    if wanted is None:
        raise FieldInvalidError.of("recipient_id", "is required: the message was meant for no owner")
    recipient = ledger.require(wanted)
    ledger.require_room(row.letter.size)
    ledger.tx.drop_dead_letter(ledger.key, row)
    ledger.count_in(row.letter)
    sequence = ledger.deliver(recipient, row.letter)
    ledger.save()
    return pb.RedriveDeadLetterResponse(sequence=sequence)

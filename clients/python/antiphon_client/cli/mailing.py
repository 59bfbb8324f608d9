"""``antiphon mail``: the mailboxes of an exchange, and what could not be delivered."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

import typer

from antiphon_client.cli.options import AsJson, HistoryAddress, open_history
from antiphon_client.cli.output import complain, say, say_json, say_table, time_text
from antiphon_client.exchange import Exchange
from antiphon_client.exchange_records import DeadLetter, OwnerRecord

OWNERS_EXAMPLES = """Examples:

  antiphon mail owners research
"""
DEAD_LETTERS_EXAMPLES = """Examples:

  antiphon mail dead-letters research
  antiphon mail dead-letters research --owner 0190c7a2-0000-7000-8000-000000000000 --json
"""
REDRIVE_EXAMPLES = """Examples:

  antiphon mail redrive research 0190c7a2-0000-7000-8000-000000000000
"""

ExchangeId = Annotated[str, typer.Argument(metavar="EXCHANGE", help="The exchange's id.")]


def owners(exchange: ExchangeId, history: HistoryAddress, as_json: AsJson = False) -> None:
    """List the owners that are registered, oldest first, with what waits in their mailboxes."""
    with open_history(history) as client:
        found = Exchange(client, exchange).owners()
    if as_json:
        for owner in found:
            say_json(_owner_object(owner))
    elif found:
        titles = ("OWNER", "REGISTERED", "INBOX", "OUTBOX", "LAST SEQUENCE")
        say_table(titles, list(map(_owner_row, found)))
    else:
        complain("no owners")


def dead_letters(
    exchange: ExchangeId,
    history: HistoryAddress,
    owner: Annotated[
        UUID | None, typer.Option(metavar="OWNER", help="Only those from or for this owner's inbox.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List what could not be delivered, oldest first, and why; with --json the messages too."""
    with open_history(history) as client:
        letters = Exchange(client, exchange).dead_letters(owner)
        if as_json:
            for letter in letters:
                say_json(_letter_object(letter))
            return
        rows = list(map(_letter_row, letters))
    if rows:
        say_table(("DEAD LETTER", "SINCE", "REASON", "OWNER", "LEASED"), rows)
    else:
        complain("no dead letters")


def redrive(
    exchange: ExchangeId,
    letter: Annotated[
        UUID, typer.Argument(metavar="LETTER", help="The dead letter's id, as dead-letters lists it.")
    ],
    history: HistoryAddress,
    recipient: Annotated[
        UUID | None, typer.Option("--to", metavar="OWNER", help="Whom to; else whom it was meant for.")
    ] = None,
) -> None:
    """Deliver a dead letter after all, with a fresh count of deliveries."""
    with open_history(history) as client:
        sequence = Exchange(client, exchange).redrive(letter, recipient)
    say(f"{letter}  delivered, sequence {sequence}")


def _owner_row(owner: OwnerRecord) -> tuple[str, ...]:
    counts = (owner.inbox_count, owner.outbox_count, owner.last_sequence)
    return (str(owner.owner_id), time_text(owner.registered_at), *map(str, counts))


def _owner_object(owner: OwnerRecord) -> dict[str, Any]:
    return {
        "owner_id": str(owner.owner_id),
        "registered_at": owner.registered_at,
        "inbox": owner.inbox_count,
        "outbox": owner.outbox_count,
        "last_sequence": owner.last_sequence,
    }


def _letter_row(letter: DeadLetter) -> tuple[str, ...]:
    owner = "-" if letter.owner_id is None else str(letter.owner_id)
    since = time_text(letter.dead_at)
    return (str(letter.dead_letter_id), since, letter.reason, owner, str(letter.delivery_count))


def _letter_object(letter: DeadLetter) -> dict[str, Any]:
    return {
        "dead_letter_id": str(letter.dead_letter_id),
        "reason": letter.reason,
        "owner_id": None if letter.owner_id is None else str(letter.owner_id),
        "delivery_count": letter.delivery_count,
        "dead_at": letter.dead_at,
        "message": letter.message.to_dict(),
    }

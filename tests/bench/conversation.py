"""The conversation that is stored, read and compiled: the same records for us and for every peer."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

from antiphon.message.v1 import message_pb2

Record = dict[str, Any]

SYSTEM = (
    "You are an airline agent. Follow the policy, confirm before you change a booking, and answer briefly."
)
QUESTION = "What did we agree on, and what is still open?"

_ASK = (
    "Please look up reservation {n} for me. I would like to know which flights are on it, whether the bag "
    "is paid for, and what a change to the following day would cost."
)
_ANSWER = (
    "Reservation {n} has two flights, both on time. One checked bag is paid for. Moving it to the next day "
    "costs {price} dollars, which I can charge to the card on file. Shall I go ahead?"
)


def conversation(size: int, *, tools: bool) -> list[Record]:
    """``size`` records in whole rounds: ask, call, result, answer; without ``tools`` ask and answer only."""
    return [record for _, record in zip(range(size), _records(tools), strict=False)]


def _records(tools: bool) -> Iterator[Record]:
    number = 0
    while True:
        number += 1
        yield {"kind": "instruction", "text": _ASK.format(n=number)}
        if tools:
            call = {"function": "get_reservation", "arguments": {"reservation_id": f"R{number:06}"}}
            yield {"kind": "action_request", **call}
            yield {"kind": "action_response", **call, "output": _reservation(number)}
        yield {"kind": "assistant", "text": _ANSWER.format(n=number, price=20 + number % 80)}


def _reservation(number: int) -> Record:
    return {
        "reservation_id": f"R{number:06}",
        "cabin": "economy",
        "flights": [
            {"flight_number": f"HAT{number % 400:03}", "origin": "JFK", "destination": "SEA", "price": 120},
            {
                "flight_number": f"HAT{(number + 7) % 400:03}",
                "origin": "SEA",
                "destination": "JFK",
                "price": 96,
            },
        ],
        "bags": {"total": 1, "paid": 1},
        "insurance": number % 2 == 0,
    }


def record_id(index: int) -> str:
    """Id of the record at ``index``; ids are unique within a branch only, so every branch may use them."""
    return str(uuid.UUID(int=(1 << 120) + index, version=4))


def to_messages(records: Sequence[Record], start: int = 0) -> list[message_pb2.Message]:
    """The records as messages; the first one has the id of ``start``."""
    return [_to_message(record, start + offset) for offset, record in enumerate(records)]


def _to_message(record: Record, index: int) -> message_pb2.Message:
    message = message_pb2.Message(id=record_id(index))
    match record["kind"]:
        case "instruction":
            message.instruction.instruction = record["text"]
        case "assistant":
            message.assistant_response.assistant_response = record["text"]
        case "action_request":
            message.action_request.function = record["function"]
            message.action_request.arguments_json = json.dumps(record["arguments"])
        case "action_response":
            message.action_response.function = record["function"]
            message.action_response.arguments_json = json.dumps(record["arguments"])
            message.action_response.output_json = json.dumps(record["output"])
            message.action_response.action_request_id = record_id(index - 1)
    return message

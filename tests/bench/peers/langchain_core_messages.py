"""langchain-core: its messages as an OpenAI chat request.

From what its stores keep, a JSON text a message, and from its message objects.
"""

from __future__ import annotations

import json
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    ToolMessage,
    message_to_dict,
    messages_from_dict,
)
from langchain_core.messages.utils import convert_to_openai_messages

from tests.bench.peers.measuring import Record, Request, Works, serve


def message_of(record: Record) -> BaseMessage:
    """Returns a record as a message."""
    match record["kind"]:
        case "instruction":
            return HumanMessage(record["text"])
        case "assistant":
            return AIMessage(record["text"])
        case "action_request":
            call = {"id": record["id"], "name": record["function"], "args": record["arguments"]}
            return AIMessage("", tool_calls=[call])
        case _:
            return ToolMessage(json.dumps(record["output"]), tool_call_id=record["call_id"])


def prepare(job: dict[str, Any]) -> Works:
    """Returns the works."""
    messages = [message_of(record) for record in job["records"]]
    question = HumanMessage(job["question"])
    stored = [json.dumps(message_to_dict(message)) for message in messages]

    def converted(history: list[BaseMessage]) -> Request:
        turns: Request = convert_to_openai_messages([*history, question])
        return turns

    def from_stored() -> Request:
        loaded = messages_from_dict([json.loads(text) for text in stored])
        return converted(loaded)

    return {"stored": from_stored, "ready": lambda: converted(messages)}


if __name__ == "__main__":
    serve(prepare)

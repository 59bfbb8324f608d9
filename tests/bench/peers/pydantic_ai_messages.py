"""Pydantic AI: its messages as an OpenAI chat request.

From what its documentation has stored, one JSON text of a history, and from its
message objects.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from tests.bench.peers.measuring import Record, Request, Works, serve


def message_of(record: Record) -> ModelMessage:
    """Returns a record as a message."""
    match record["kind"]:
        case "instruction":
            return ModelRequest([UserPromptPart(record["text"])])
        case "assistant":
            return ModelResponse([TextPart(record["text"])])
        case "action_request":
            call = ToolCallPart(record["function"], json.dumps(record["arguments"]), record["id"])
            return ModelResponse([call])
        case _:
            output = json.dumps(record["output"])
            return ModelRequest([ToolReturnPart(record["function"], output, record["call_id"])])


def prepare(job: dict[str, Any]) -> Works:
    """Returns the works."""
    model = OpenAIChatModel("gpt-4o", provider=OpenAIProvider(api_key="none"))
    parameters = ModelRequestParameters()
    loop = asyncio.new_event_loop()
    messages = [message_of(record) for record in job["records"]]
    question = ModelRequest([UserPromptPart(job["question"])])
    stored = ModelMessagesTypeAdapter.dump_json(messages)

    def mapped(history: list[ModelMessage]) -> Request:
        mapping = model._map_messages([*history, question], parameters)
        turns: Request = loop.run_until_complete(mapping)
        return turns

    return {
        "stored": lambda: mapped(ModelMessagesTypeAdapter.validate_json(stored)),
        "ready": lambda: mapped(messages),
    }


if __name__ == "__main__":
    serve(prepare)

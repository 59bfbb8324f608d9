"""LiteLLM: messages in OpenAI's form, which are its own, as an Anthropic request.

From a JSON text a message, and from the parsed messages.
"""

from __future__ import annotations

import json
import os
from typing import Any

# Without it the package asks the network for its list of prices.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

from litellm.llms.anthropic.chat.transformation import AnthropicConfig

from tests.bench.peers.measuring import Record, Request, Works, serve


def message_of(record: Record) -> Record:
    """Returns a record as a message."""
    match record["kind"]:
        case "instruction":
            return {"role": "user", "content": record["text"]}
        case "assistant":
            return {"role": "assistant", "content": record["text"]}
        case "action_request":
            function = {"name": record["function"], "arguments": json.dumps(record["arguments"])}
            call = {"id": record["id"], "type": "function", "function": function}
            return {"role": "assistant", "content": None, "tool_calls": [call]}
        case _:
            output = json.dumps(record["output"])
            return {"role": "tool", "tool_call_id": record["call_id"], "content": output}


def prepare(job: dict[str, Any]) -> Works:
    """Returns the works."""
    config = AnthropicConfig()
    messages = [message_of(record) for record in job["records"]]
    question = {"role": "user", "content": job["question"]}
    stored = [json.dumps(message) for message in messages]

    def transformed(history: list[Record]) -> Request:
        request = config.transform_request(
            model="claude-sonnet-4-5",
            messages=[*history, question],
            optional_params={"max_tokens": 4096},
            litellm_params={},
            headers={},
        )
        turns: Request = request["messages"]
        return turns

    return {
        "stored": lambda: transformed([json.loads(text) for text in stored]),
        "ready": lambda: transformed(messages),
    }


if __name__ == "__main__":
    serve(prepare)

"""``python -m antiphon_gateway.fake_upstream``: a stand-in for a provider, so that no key is needed.

It speaks OpenAI's Chat Completions and follows fixed rules: where there are
tools and the last message is a user's, it calls the first tool with the
message's last word; after a result it tells the result; else it tells how many
messages it was shown, and repeats the last one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterator
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from antiphon_gateway.__main__ import serve

MODEL = "fake"


def build_fake() -> Starlette:
    """Build the application."""
    return Starlette(
        routes=[
            Route("/v1/chat/completions", _chat_completions, methods=["POST"]),
            Route("/v1/models", _models),
        ]
    )


async def _models(_request: Request) -> Response:
    model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "fake"}
    return JSONResponse({"object": "list", "data": [model]})


async def _chat_completions(request: Request) -> Response:
    asked = await request.json()
    message = _answer(asked["messages"], asked.get("tools") or [])
    finish_reason = "tool_calls" if "tool_calls" in message else "stop"
    head = {"id": "chatcmpl-fake", "created": 0, "model": asked["model"]}
    if asked.get("stream"):
        return StreamingResponse(_events(head, message, finish_reason), media_type="text/event-stream")
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    usage = {"prompt_tokens": len(asked["messages"]), "completion_tokens": 1}
    usage["total_tokens"] = sum(usage.values())
    return JSONResponse({**head, "object": "chat.completion", "choices": [choice], "usage": usage})


def _answer(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
    last = messages[-1]
    said = last["content"] if isinstance(last["content"], str) else json.dumps(last["content"])
    if last["role"] == "tool":
        return {"role": "assistant", "content": f"The tool says: {said}"}
    if tools and last["role"] == "user":
        return {"role": "assistant", "content": None, "tool_calls": [_call(tools[0], said, len(messages))]}
    return {"role": "assistant", "content": f"I was shown {len(messages)} messages, the last is: {said}"}


def _call(tool: dict[str, Any], said: str, place: int) -> dict[str, Any]:
    function = tool["function"]
    properties = function.get("parameters", {}).get("properties", {})
    arguments = {name: said.split()[-1].strip("?!.,") for name in list(properties)[:1]}
    call_id = hashlib.sha256(f"{place}:{said}".encode()).hexdigest()[:12]
    called = {"name": function["name"], "arguments": json.dumps(arguments)}
    return {"id": f"call_{call_id}", "type": "function", "function": called}


def _events(head: dict[str, Any], message: dict[str, Any], finish_reason: str) -> Iterator[str]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    for word in (message["content"] or "").split(" "):
        deltas.append({"content": word if len(deltas) == 1 else f" {word}"})
    for index, call in enumerate(message.get("tool_calls", ())):
        deltas.append({"tool_calls": [{"index": index, **call}]})
    for delta in deltas:
        yield _event(head, delta, None)
    yield _event(head, {}, finish_reason)
    yield "data: [DONE]\n\n"


def _event(head: dict[str, Any], delta: dict[str, Any], finish_reason: str | None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return f"data: {json.dumps({**head, 'object': 'chat.completion.chunk', 'choices': [choice]})}\n\n"


def main() -> None:
    """Serve the stand-in."""
    parser = argparse.ArgumentParser(prog="antiphon_gateway.fake_upstream", description=__doc__)
    parser.add_argument("--port", type=int, default=8401, help="port on 127.0.0.1; 0 takes a free one")
    serve(build_fake(), "127.0.0.1", parser.parse_args().port, log_level="warning", grace_seconds=1)


if __name__ == "__main__":
    main()

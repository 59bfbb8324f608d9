"""One answer of each provider, whole and as its stream: the same words, calls and signatures.

Written as the providers document them and checked against their own packages.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

TEXT = 'Grüße aus 東京 🗼\n"{[\\" and more'
THINKING = "Let me lo🔎k — twice."
ARGUMENTS_A = '{"city":"Zürich 🏔","id":9007199254740993,"deep":{"b":[1,2.50],"a":null}}'
ARGUMENTS_B = '{"n":1}'
SIGNATURE = "++//c2lnbmF0dXJl"
SIGNATURE_2 = "c2Vjb25k+/+/"


@dataclass(frozen=True)
class Words:
    """What an answer says."""

    text: str = TEXT
    thinking: str = THINKING
    arguments: str = ARGUMENTS_A


@dataclass(frozen=True)
class Sample:
    """An answer.

    Attributes:
        target: The provider's API.
        whole: The whole answer's body.
        stream: The stream's body.
        frames: The stream's frames, for cutting out some.
        terminal: How many frames at the end say that the answer is complete.
    """

    target: str
    whole: str
    stream: bytes
    frames: tuple[bytes, ...]
    terminal: int


def compact(value: Any) -> str:
    """Return JSON text as providers write it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def raw(value: Any, **texts: str) -> str:
    """Return JSON text in which a text ``@name`` is replaced by a JSON text of its own spelling."""
    text = compact(value)
    for name, piece in texts.items():
        text = text.replace(f'"@{name}"', piece)
    return text


def event(data: str, name: str = "") -> bytes:
    """Return a server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {data}\n\n".encode()


def pieces(text: str, size: int = 7) -> list[str]:
    """Cut a text."""
    return [text[start : start + size] for start in range(0, len(text), size)]


def _sample(target: str, whole: str, frames: Sequence[bytes], terminal: int) -> Sample:
    return Sample(target, whole, b"".join(frames), tuple(frames), terminal)


def openai_chat(words: Words) -> Sample:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 50,
        "total_tokens": 150,
        "prompt_tokens_details": {"cached_tokens": 30, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 20, "audio_tokens": 0},
    }
    head = {"id": "chatcmpl-1", "created": 1700000000, "model": "gpt-x", "service_tier": "default"}
    calls = [
        {"id": "call_a", "type": "function", "function": {"name": "look_up", "arguments": words.arguments}},
        {"id": "call_b", "type": "function", "function": {"name": "count", "arguments": ARGUMENTS_B}},
    ]
    message = {
        "role": "assistant",
        "content": words.text,
        "refusal": None,
        "reasoning_content": words.thinking,
        "tool_calls": calls,
    }
    whole = compact(
        {
            **head,
            "object": "chat.completion",
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "tool_calls"}],
            "usage": usage,
        }
    )
    chunk_head = {**head, "object": "chat.completion.chunk"}

    def chunk(delta: Mapping[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return event(compact({**chunk_head, "choices": [choice], "usage": None}))

    def call(index: int, **fields: Any) -> bytes:
        return chunk({"tool_calls": [{"index": index, **fields}]})

    frames = [
        b": keep-alive\n\n",
        chunk({"role": "assistant", "content": "", "refusal": None}),
        *(chunk({"reasoning_content": piece}) for piece in pieces(words.thinking)),
        *(chunk({"content": piece}) for piece in pieces(words.text)),
        # Arguments before the id, and indexes with a gap.
        call(0, function={"arguments": words.arguments[:9]}),
        call(0, id="call_a", type="function", function={"name": "look_up", "arguments": ""}),
        call(3, id="call_b", type="function", function={"name": "count", "arguments": ""}),
        *(call(0, function={"arguments": piece}) for piece in pieces(words.arguments[9:], 11)),
        call(3, function={"arguments": ARGUMENTS_B}),
        chunk({}, "tool_calls"),
        event(compact({**chunk_head, "choices": [], "usage": usage})),
        event("[DONE]"),
    ]
    return _sample("openai.chat", whole, frames, 3)


def openai_responses(words: Words) -> Sample:
    reasoning = {
        "id": "rs_1",
        "type": "reasoning",
        "summary": [
            {"type": "summary_text", "text": words.thinking},
            {"type": "summary_text", "text": "Then act."},
        ],
        "encrypted_content": "gAAAA+/==",
    }
    part = {"type": "output_text", "text": words.text, "annotations": [], "logprobs": []}
    message = {
        "id": "msg_1",
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [part],
    }
    calls = [
        {
            "id": f"fc_{number}",
            "type": "function_call",
            "status": "completed",
            "call_id": call_id,
            "name": name,
            "arguments": arguments,
        }
        for number, (call_id, name, arguments) in enumerate(
            [("call_a", "look_up", words.arguments), ("call_b", "count", ARGUMENTS_B)]
        )
    ]
    search = {
        "id": "ws_1",
        "type": "web_search_call",
        "status": "completed",
        "action": {"type": "search", "query": "東京"},
    }
    items = [reasoning, search, message, *calls]
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 30, "cache_write_tokens": 0},
        "output_tokens": 50,
        "output_tokens_details": {"reasoning_tokens": 20},
        "total_tokens": 150,
    }

    def response(status: str, output: Sequence[Any], usage: Any) -> dict[str, Any]:
        return {
            "id": "resp_1",
            "object": "response",
            "created_at": 1700000000,
            "status": status,
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "model": "gpt-y",
            "output": output,
            "parallel_tool_calls": True,
            "temperature": 1.0,
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "usage": usage,
        }

    frames: list[bytes] = []

    def emit(kind: str, **fields: Any) -> None:
        data = {"type": kind, "sequence_number": len(frames), **fields}
        frames.append(event(compact(data), kind))

    emit("response.created", response=response("in_progress", [], None))
    emit("response.in_progress", response=response("in_progress", [], None))
    emit(
        "response.output_item.added",
        output_index=0,
        item={"id": "rs_1", "type": "reasoning", "summary": []},
    )
    for index, summary in enumerate(reasoning["summary"]):
        at: dict[str, Any] = {"item_id": "rs_1", "output_index": 0, "summary_index": index}
        emit("response.reasoning_summary_part.added", part={"type": "summary_text", "text": ""}, **at)
        for piece in pieces(summary["text"]):  # type: ignore[index]
            emit("response.reasoning_summary_text.delta", delta=piece, **at)
        emit("response.reasoning_summary_text.done", text=summary["text"], **at)  # type: ignore[index]
        emit("response.reasoning_summary_part.done", part=summary, **at)
    emit("response.output_item.done", output_index=0, item=reasoning)
    emit("response.output_item.added", output_index=1, item={**search, "status": "in_progress"})
    emit("response.output_item.done", output_index=1, item=search)
    emit(
        "response.output_item.added",
        output_index=2,
        item={**message, "status": "in_progress", "content": []},
    )
    at = {"item_id": "msg_1", "output_index": 2, "content_index": 0}
    emit("response.content_part.added", part={**part, "text": ""}, **at)
    for piece in pieces(words.text):
        emit("response.output_text.delta", delta=piece, logprobs=[], **at)
    emit("response.output_text.done", text=words.text, logprobs=[], **at)
    emit("response.content_part.done", part=part, **at)
    emit("response.output_item.done", output_index=2, item=message)
    for index, call in enumerate(calls, start=3):
        at = {"item_id": call["id"], "output_index": index}
        started = {**call, "status": "in_progress", "arguments": ""}
        emit("response.output_item.added", output_index=index, item=started)
        for piece in pieces(call["arguments"], 11):
            emit("response.function_call_arguments.delta", delta=piece, **at)
        emit("response.function_call_arguments.done", arguments=call["arguments"], **at)
        emit("response.output_item.done", output_index=index, item=call)
    emit("response.completed", response=response("completed", items, usage))
    return _sample("openai.responses", compact(response("completed", items, usage)), frames, 1)


def anthropic_messages(words: Words) -> Sample:
    usage = {
        "input_tokens": 70,
        "cache_creation_input_tokens": 5,
        "cache_read_input_tokens": 30,
        "output_tokens": 50,
        "service_tier": "standard",
    }
    blocks: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": words.thinking, "signature": SIGNATURE},
        {"type": "redacted_thinking", "data": "ZGF0YQ=="},
        # Thinking that is not shown: signed and empty.
        {"type": "thinking", "thinking": "", "signature": SIGNATURE_2},
        {"type": "text", "text": words.text, "citations": None},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "東京"}},
        {"type": "tool_use", "id": "toolu_a", "name": "look_up", "input": "@a"},
        {"type": "tool_use", "id": "toolu_b", "name": "count", "input": "@b"},
    ]
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x"}
    whole = raw(
        {**head, "content": blocks, "stop_reason": "tool_use", "stop_sequence": None, "usage": usage},
        a=words.arguments,
        b=ARGUMENTS_B,
    )

    def emit(kind: str, **fields: Any) -> bytes:
        return event(compact({"type": kind, **fields}), kind)

    def delta(index: int, **fields: Any) -> bytes:
        return emit("content_block_delta", index=index, delta=fields)

    start: dict[str, Any] = {**head, "content": [], "stop_reason": None, "stop_sequence": None}
    frames = [
        emit("message_start", message={**start, "usage": {**usage, "output_tokens": 1}}),
        emit("ping"),
    ]
    inputs = {4: '{"query":"東京"}', 5: words.arguments, 6: ARGUMENTS_B}
    for index, block in enumerate(blocks):
        kind = block["type"]
        empty = {"text": {"text": ""}, "thinking": {"thinking": "", "signature": ""}}
        begun = block | empty.get(kind, {}) | ({"input": {}} if index in inputs else {})
        frames.append(emit("content_block_start", index=index, content_block=begun))
        if kind == "thinking":
            frames += [delta(index, type="thinking_delta", thinking=p) for p in pieces(block["thinking"])]
            frames.append(delta(index, type="signature_delta", signature=block["signature"]))
        elif kind == "text":
            frames += [delta(index, type="text_delta", text=piece) for piece in pieces(words.text)]
        elif index in inputs:
            frames.append(delta(index, type="input_json_delta", partial_json=""))
            frames += [
                delta(index, type="input_json_delta", partial_json=p) for p in pieces(inputs[index], 11)
            ]
        frames.append(emit("content_block_stop", index=index))
    frames += [
        emit(
            "message_delta",
            delta={"stop_reason": "tool_use", "stop_sequence": None},
            usage={"output_tokens": 50},
        ),
        emit("message_stop"),
    ]
    return _sample("anthropic.messages", whole, frames, 2)


def gemini(words: Words, form: str = "sse") -> Sample:
    usage = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 30,
        "candidatesTokenCount": 30,
        "thoughtsTokenCount": 20,
        "totalTokenCount": 150,
    }
    code = {"executableCode": {"language": "PYTHON", "code": "print('é')"}}
    calls = [
        {"functionCall": {"name": "look_up", "args": "@a", "id": "fn_a"}, "thoughtSignature": SIGNATURE},
        {"functionCall": {"name": "count", "args": "@b"}},
    ]

    def chunk(parts: Sequence[Any], finish: str | None = None, tokens: Any = None) -> str:
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}}
        if finish:
            candidate["finishReason"] = finish
        candidate["index"] = 0
        value = {
            "candidates": [candidate],
            "usageMetadata": tokens or {"promptTokenCount": 100, "totalTokenCount": 100},
            "modelVersion": "gemini-x",
            "responseId": "r1",
        }
        return raw(value, a=words.arguments, b=ARGUMENTS_B)

    signed_text = {"text": words.text, "thoughtSignature": SIGNATURE_2}
    whole = chunk([{"text": words.thinking, "thought": True}, code, signed_text, *calls], "STOP", usage)
    chunks = [
        *(chunk([{"text": piece, "thought": True}]) for piece in pieces(words.thinking)),
        chunk([code]),
        *(chunk([{"text": piece}]) for piece in pieces(words.text)),
        chunk([{"text": "", "thoughtSignature": SIGNATURE_2}, calls[0]]),
        chunk([calls[1]]),
        chunk([{"text": ""}], "STOP", usage),
    ]
    if form == "array":
        lines = ["[" + chunks[0], *("\n,\r\n" + each for each in chunks[1:])]
        frames = [*(line.encode() for line in lines), b"\n]\n"]
        return _sample("gemini.generate_content", whole, frames, 2)
    frames = [event(each).replace(b"\n", b"\r\n") for each in chunks]
    return _sample("gemini.generate_content", whole, frames, 1)


def ollama(words: Words) -> Sample:
    head = {"model": "llama-x", "created_at": "2025-01-01T00:00:00.000000Z"}
    counts = {
        "total_duration": 5,
        "load_duration": 1,
        "prompt_eval_count": 100,
        "prompt_eval_duration": 2,
        "eval_count": 50,
        "eval_duration": 2,
    }
    calls = [
        {"function": {"name": "look_up", "arguments": "@a"}},
        {"function": {"name": "count", "arguments": "@b"}},
    ]

    def line(message: Mapping[str, Any], **rest: Any) -> str:
        value = {**head, "message": {"role": "assistant", **message}, **(rest or {"done": False})}
        return raw(value, a=words.arguments, b=ARGUMENTS_B)

    end = {"done": True, "done_reason": "stop", **counts}
    whole = line({"content": words.text, "thinking": words.thinking, "tool_calls": calls}, **end)
    lines = [
        *(line({"content": "", "thinking": piece}) for piece in pieces(words.thinking)),
        line({"content": "", "tool_calls": calls[:1]}),
        *(line({"content": piece}) for piece in pieces(words.text)),
        line({"content": "", "tool_calls": calls[1:]}),
        line({"content": ""}, **end),
    ]
    return _sample("ollama.chat", whole, [f"{each}\n".encode() for each in lines], 1)


def samples(words: Words) -> dict[str, Sample]:
    """Return every provider's answer; Gemini's stream in both of its forms."""
    return {
        "openai.chat": openai_chat(words),
        "openai.responses": openai_responses(words),
        "anthropic.messages": anthropic_messages(words),
        "gemini.generate_content": gemini(words),
        "gemini array": gemini(words, "array"),
        "ollama.chat": ollama(words),
    }


SAMPLES = samples(Words())
SHORT = samples(Words('東🗼"\\]', "ö", '{"c":"é"}'))

"""What every provider demands of the order of turns, checked on a request's body."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

ID_GRAMMARS = {
    "anthropic.messages": re.compile(r"[A-Za-z0-9_-]{1,64}"),
    "gemini.generate_content": re.compile(r".+", re.DOTALL),
    "openai.chat": re.compile(r".{1,40}", re.DOTALL),
    "openai.responses": re.compile(r".{1,64}", re.DOTALL),
}
NAME_GRAMMARS = {
    "anthropic.messages": re.compile(r"[A-Za-z0-9_-]{1,64}"),
    "gemini.generate_content": re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}"),
    "ollama.chat": re.compile(r".+", re.DOTALL),
    "openai.chat": re.compile(r"[A-Za-z0-9_-]{1,64}"),
    "openai.responses": re.compile(r"[A-Za-z0-9_-]{1,64}"),
}

_ANTHROPIC_THINKING = frozenset(("thinking", "redacted_thinking"))

Step = tuple[str, str, str]
"""What a request says, step by step: "user", "assistant", "call" or "result"; its id; its name."""


def check_rules(target: str, body: dict[str, Any]) -> list[Step]:
    """Return a request's steps; an AssertionError where they break a rule that all providers share."""
    steps = list(_STEPS[target](body))
    assert steps, "no turns"
    waiting: list[Step] = []
    answered = True
    for kind, call_id, name in steps:
        if kind == "call":
            assert answered, "a call after results of its own round"
            if target in ID_GRAMMARS:
                assert ID_GRAMMARS[target].fullmatch(call_id), call_id
                assert call_id not in [other for _, other, _ in waiting], "two calls of a round share an id"
            assert NAME_GRAMMARS[target].fullmatch(name), name
            waiting.append((kind, call_id, name))
        elif kind == "result":
            answered = False
            _, expected_id, expected_name = waiting.pop(0)
            assert call_id == expected_id
            assert not name or name == expected_name
            answered = not waiting
        elif kind == "user":
            assert not waiting, "calls without results"
    assert not waiting, "calls without results"
    assert steps[-1][0] in ("user", "result") or target in ("anthropic.messages", "ollama.chat")
    return steps


def _anthropic(body: dict[str, Any]) -> Iterator[Step]:
    roles = [message["role"] for message in body["messages"]]
    seen: set[str] = set()
    assert roles[0] == "user"
    assert all(former != latter for former, latter in itertools.pairwise(roles)), "no alternation"
    for message in body["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        assert blocks, "an empty message"
        kinds = [block["type"] for block in blocks]
        assert (
            kinds == sorted(kinds, key=lambda kind: kind != "tool_result") or message["role"] == "assistant"
        )
        assert kinds[-1] not in _ANTHROPIC_THINKING
        assert kinds[0] in _ANTHROPIC_THINKING or _ANTHROPIC_THINKING.isdisjoint(kinds), "thinking later"
        for block in blocks:
            source = block.get("source")
            assert not isinstance(source, dict) or source.get("url", "https:").startswith("https:"), (
                "an insecure address"
            )
            if block["type"] == "tool_use":
                assert block["id"] not in seen, "an id used again"
                seen.add(block["id"])
                yield "call", block["id"], block["name"]
            elif block["type"] == "tool_result":
                said = block.get("content", "")
                assert not block.get("is_error") or (said.strip() if isinstance(said, str) else said)
                yield "result", block["tool_use_id"], ""
            else:
                assert block.get("text", "x").strip(), "blank text"
                yield message["role"], "", ""


def _gemini(body: dict[str, Any]) -> Iterator[Step]:
    assert body["contents"][0]["role"] == "user"
    former: tuple[str, int, bool] = ("model", 0, False)
    for content in body["contents"]:
        parts = content["parts"]
        assert parts, "an empty content"
        responses = [part for part in parts if "functionResponse" in part]
        assert len(responses) in (0, len(parts)), "results beside something else"
        calls = [part for part in parts if "functionCall" in part]
        role, owed, had_responses = former
        assert len(responses) == owed, "results are not as many as calls"
        assert role != content["role"] or (role == "user" and had_responses), "no alternation"
        assert not any("thoughtSignature" in part for part in calls[1:])
        former = (content["role"], len(calls), bool(responses))
        for part in parts:
            if "functionCall" in part:
                yield "call", part["functionCall"]["id"], part["functionCall"]["name"]
            elif "functionResponse" in part:
                yield "result", part["functionResponse"]["id"], part["functionResponse"]["name"]
            else:
                assert part.get("text", "x").strip() or "thoughtSignature" in part, "blank text"
                yield "user" if content["role"] == "user" else "assistant", "", ""


def _ollama(body: dict[str, Any]) -> Iterator[Step]:
    for message in body["messages"]:
        if message["role"] == "tool":
            yield "result", "", message["tool_name"]
        elif message["role"] != "system":
            calls = message.get("tool_calls", [])
            assert message["content"].strip() or message.get("images") or calls, "an empty message"
            if message["content"] or message.get("images"):
                yield message["role"], "", ""
            for call in calls:
                yield "call", "", call["function"]["name"]


def _openai_chat(body: dict[str, Any]) -> Iterator[Step]:
    for message in body["messages"]:
        if message["role"] == "tool":
            yield "result", message["tool_call_id"], ""
        elif message["role"] not in ("system", "developer"):
            calls = message.get("tool_calls", [])
            content = message["content"]
            assert content if not calls else content is None or content, "an empty message"
            if content:
                assert not isinstance(content, str) or content.strip()
                yield message["role"], "", ""
            for call in calls:
                yield "call", call["id"], call["function"]["name"]


def _openai_responses(body: dict[str, Any]) -> Iterator[Step]:
    for item in body["input"]:
        if item["type"] == "function_call":
            yield "call", item["call_id"], item["name"]
        elif item["type"] == "function_call_output":
            yield "result", item["call_id"], ""
        elif item["type"] == "message":
            assert item["content"]
            yield item["role"], "", ""
        else:
            yield "assistant", "", ""


_STEPS = {
    "anthropic.messages": _anthropic,
    "gemini.generate_content": _gemini,
    "ollama.chat": _ollama,
    "openai.chat": _openai_chat,
    "openai.responses": _openai_responses,
}

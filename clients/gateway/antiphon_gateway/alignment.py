"""Where a request's messages meet those that are kept.

OpenAI's clients send the whole conversation each time. The kept history is the
truth: a request must say what it says, message by message, and only what comes
after is new.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from antiphon_client.json_text import JsonTextError, parse_json_text
from antiphon_gateway.errors import GatewayError

ChatMessage: TypeAlias = dict[str, Any]
"""One message of OpenAI's ``messages``, as parsed from JSON."""


def held_count(kept: Sequence[ChatMessage], given: Sequence[ChatMessage], cut: Collection[str] = ()) -> int:
    """Return how many of a request's messages are kept already: its first ones.

    When they are fewer than the kept ones, the request repeats the last turn,
    and the one kept message more is its answer.

    Args:
        kept: The history.
        given: The request's messages.
        cut: Texts of answers that were interrupted. Of such a text the client
            may have seen a beginning only.

    Raises:
        GatewayError: They differ (409).
    """
    for index, (mine, theirs) in enumerate(zip(kept, given, strict=False)):
        if not _same(mine, theirs, cut):
            raise _diverged(
                f"messages[{index}] is not what the conversation holds there", f"messages[{index}]"
            )
    more = kept[len(given) :]
    if more and not (len(more) == 1 and more[0]["role"] == "assistant"):
        raise _diverged(f"the conversation has {len(kept)} messages, the request only {len(given)}")
    return min(len(kept), len(given))


def repeats_end(kept: Sequence[ChatMessage], given: Sequence[ChatMessage]) -> bool:
    """Tell whether the history ends with a request's messages, so that they wait for their answer."""
    end = kept[-len(given) :]
    return len(end) == len(given) and all(_same(*pair) for pair in zip(end, given, strict=True))


def _diverged(reason: str, param: str | None = None) -> GatewayError:
    advice = "send what it holds and then what is new, or begin another conversation"
    # Sent again it would be refused again.
    return GatewayError(409, "HISTORY_DIVERGED", f"{reason}: {advice}", param=param, should_retry=False)


def _same(kept: ChatMessage, given: ChatMessage, cut: Collection[str] = ()) -> bool:
    mine, theirs = _said(kept), _said(given)
    if mine["role"] == "assistant" and mine["content"] in cut and isinstance(theirs["content"], str):
        beginning = mine["content"][: len(theirs["content"])]
        mine = {**mine, "content": beginning}
    return mine == theirs


def _said(message: ChatMessage) -> dict[str, Any]:
    """Return what a message says, whichever of the equal spellings it came in.

    Clients add keys (``annotations``, nulls), write a text as its one part, and
    spell a call's arguments anew. A refusal has no text: it says nothing else.
    """
    calls = message.get("tool_calls")
    return {
        "role": message.get("role"),
        "content": _text(message.get("content")),
        "calls": [_called(call) for call in calls] if isinstance(calls, list) else [],
        "answers": message.get("tool_call_id"),
        "name": message.get("name") if message.get("role") == "user" else None,
    }


def _text(content: Any) -> Any:
    if content is None:
        return ""
    if isinstance(content, list):
        texts = [part.get("text") if _is_text(part) else None for part in content]
        if all(isinstance(text, str) for text in texts):
            return "".join(map(str, texts))
    return content


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "text"


def _called(call: Any) -> Any:
    if not isinstance(call, dict):
        return call
    kind = call.get("type", "function")
    called = call.get(kind)
    if not isinstance(called, dict):
        return call
    arguments = called.get("arguments", called.get("input"))
    if isinstance(arguments, str):
        with suppress(JsonTextError):
            arguments = parse_json_text(arguments)
    return call.get("id"), kind, called.get("name"), arguments

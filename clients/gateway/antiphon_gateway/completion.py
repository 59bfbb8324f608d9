"""A kept answer in OpenAI's terms: as a whole completion, and as the chunks of a stream."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from antiphon_client import ActionRequest, Message
from antiphon_client.ids import new_id
from antiphon_client.provider_response import ProviderResponse
from antiphon_gateway.records import chat_messages

_CHUNK: Final = "chat.completion.chunk"

_FINISH_REASONS: Final = {
    "length": "length",
    "max_tokens": "length",
    "content_filter": "content_filter",
    "refusal": "content_filter",
}
"""Words of providers and of Antiphon for why a model stopped, where it is not that it had said everything."""


@dataclass(frozen=True, slots=True)
class Head:
    """What every chunk of a completion says of it.

    Attributes:
        id: The completion's id.
        created: When it was made, in seconds since the epoch.
        model: The model that answers.
    """

    id: str
    created: int
    model: str

    @classmethod
    def of_now(cls, model: str) -> Self:
        """Make the head of an answer that is made now."""
        return cls(f"chatcmpl-{new_id()}", int(time.time()), model)

    def object(self, kind: str) -> dict[str, Any]:
        """Return an object of OpenAI's that begins with it."""
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}

    def chunk(self, delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
        """Return one chunk of a stream."""
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return {**self.object(_CHUNK), "choices": [choice]}


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer.

    Attributes:
        head: Which one.
        message: The answer as OpenAI's message.
        finish_reason: Why the model stopped, in OpenAI's words.
        usage: What it cost, in OpenAI's terms; None for not known.
    """

    head: Head
    message: dict[str, Any]
    finish_reason: str
    usage: dict[str, Any] | None

    @classmethod
    def of_response(cls, response: ProviderResponse, head: Head) -> Self:
        """Make the completion of an answer that has just come."""
        messages = response.messages
        reason = _finish_reason(messages, response.stop_reason)
        return cls(head, chat_messages(messages)[0], reason, _usage(messages))

    @classmethod
    def of_records(cls, records: Sequence[Message]) -> Self:
        """Make the completion of an answer that is kept: the same one each time."""
        first = records[0]
        model = str(first.metadata.get("model", ""))
        head = Head(f"chatcmpl-{first.id}", int(first.created_at or 0), model)
        reason = _finish_reason(records, str(first.metadata.get("stop_reason")))
        return cls(head, chat_messages(records)[0], reason, _usage(records))

    def whole(self) -> dict[str, Any]:
        """Return it as the answer of a request without ``stream``."""
        choice = {
            "index": 0,
            "message": self.message,
            "logprobs": None,
            "finish_reason": self.finish_reason,
        }
        return {**self.head.object("chat.completion"), "choices": [choice], "usage": self.usage}

    def chunks(self, *, include_usage: bool, without_text: bool = False) -> Iterator[dict[str, Any]]:
        """Yield it as the chunks of a stream.

        Args:
            include_usage: Whether the last chunk says what it cost.
            without_text: Whether the text has been sent.
        """
        content = self.message.get("content")
        if content and not without_text:
            yield self.head.chunk({"role": "assistant", "content": content})
        calls = [{"index": index, **call} for index, call in enumerate(self.message.get("tool_calls", ()))]
        if calls:
            yield self.head.chunk({"role": "assistant", "tool_calls": calls})
        yield self.head.chunk({}, self.finish_reason)
        if include_usage:
            yield {**self.head.object(_CHUNK), "choices": [], "usage": self.usage}


def _finish_reason(records: Sequence[Message], word: str) -> str:
    if any(isinstance(each, ActionRequest) for each in records):
        return "tool_calls"
    return _FINISH_REASONS.get(word, "stop")


def _usage(records: Sequence[Message]) -> dict[str, Any] | None:
    """Return what an answer cost; its first record has that in its metadata."""
    usage = records[0].metadata.get("usage")
    if not isinstance(usage, dict):
        return None
    inputs = (usage.get(name, 0) for name in ("input_tokens", "cache_read_tokens", "cache_creation_tokens"))
    prompt, completion = sum(inputs), usage.get("output_tokens", 0)
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}

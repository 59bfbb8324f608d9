"""Making the deltas that all readers of responses share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from antiphon.compiler.v1.provider_pb2 import (
    OpaqueDelta,
    ProviderDelta,
    ResponseDone,
    StopReason,
    ToolCallArguments,
    ToolCallStart,
)
from antiphon_client.provider_streams.shapes import Node

ERROR_CHARACTERS = 500
"""Most characters of a provider's words about a fault that are passed on."""

WORDLESS = "an error without words"
"""What is passed on of a fault that a provider says nothing about."""


class CallNames:
    """Gives every call of one response a name of its own: the provider's id, where it has one.

    A second call of the same id is told apart by a local name, as is a call
    without an id.
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, provider_id: str | None) -> tuple[str, bool]:
        """Return a call's name within the response, and whether it is a local one."""
        if provider_id and provider_id not in self._taken:
            self._taken.add(provider_id)
            return provider_id, False
        number = len(self._taken)
        while (name := f"local:{number}") in self._taken:
            number += 1
        self._taken.add(name)
        return name, True


def call_start(
    name: tuple[str, bool], function: str, *, signature: str | None = None, is_free_text: bool = False
) -> ProviderDelta:
    """Make the start of a call from its name, as CallNames gave it, and its function."""
    start = ToolCallStart(
        id=name[0],
        name=function,
        thought_signature=signature,
        id_is_local=name[1],
        is_free_text=is_free_text,
    )
    return ProviderDelta(tool_call_start=start)


def call_arguments(call_id: str, text: str) -> ProviderDelta:
    """Make a piece of a call's arguments."""
    return ProviderDelta(tool_call_arguments=ToolCallArguments(id=call_id, text=text))


def whole_arguments(call_id: str, text: str) -> ProviderDelta:
    """Make the whole arguments of a call."""
    return ProviderDelta(tool_call_arguments_complete=ToolCallArguments(id=call_id, text=text))


def call_end(call_id: str) -> ProviderDelta:
    """Make the end of a call."""
    return ProviderDelta(tool_call_end=call_id)


def whole_call(
    name: tuple[str, bool], function: str, arguments: str, *, signature: str | None = None
) -> Iterator[ProviderDelta]:
    """Yield a call whose arguments the provider gives whole."""
    yield call_start(name, function, signature=signature)
    yield whole_arguments(name[0], arguments)
    yield call_end(name[0])


def opaque(node: Node, kind: str) -> ProviderDelta:
    """Make a part that only the provider can read, as it spelled it."""
    return ProviderDelta(opaque=OpaqueDelta(kind=kind, data_json=node.raw))


def done(word: str | None, reasons: Mapping[str, StopReason.ValueType]) -> ProviderDelta:
    """Make the end of a response from the provider's word for why it stopped; None for none."""
    reason = reasons.get(word or "", StopReason.STOP_REASON_UNSPECIFIED)
    return ProviderDelta(done=ResponseDone(stop_reason=reason, provider_stop_reason=word))


def error_words(node: Node) -> str | None:
    """Return what a provider says of a fault, bounded; None where the value reports none.

    The shapes: ``{"error": "words"}`` and ``{"error": {"message", and any of
    "type", "code", "status"}}``.
    """
    error = node.value.get("error") if isinstance(node.value, dict) else None
    if error is None or error is False:
        return None
    if isinstance(error, dict):
        labels = (error.get(key) for key in ("type", "status", "code"))
        label = next((str(value) for value in labels if isinstance(value, str | int) and value), "")
        message = error.get("message")
        words = ": ".join(part for part in (label, message) if isinstance(part, str) and part)
        return bounded(words or WORDLESS)
    return bounded(error if isinstance(error, str) and error else WORDLESS)


def bounded(words: str) -> str:
    """Return words about a fault, cut to what is passed on."""
    return words if len(words) <= ERROR_CHARACTERS else words[:ERROR_CHARACTERS] + "..."

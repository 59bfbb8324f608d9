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
    Usage,
)
from antiphon_client.provider_streams.shapes import MAX_COUNT, Node

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
        self._next_local = 0

    def take(self, provider_id: str | None) -> tuple[str, bool]:
        """Return a call's name within the response, and whether it is a local one."""
        if provider_id and provider_id not in self._taken:
            self._taken.add(provider_id)
            return provider_id, False
        # Never back to a number that was tried, so that names cost what there are calls.
        while (name := f"local:{self._next_local}") in self._taken:
            self._next_local += 1
        self._taken.add(name)
        return name, True


class ModelName:
    """The model that answers, which providers name in every piece of an answer."""

    def __init__(self) -> None:
        self._is_told = False

    def tell(self, name: str | None) -> Iterator[ProviderDelta]:
        """Yield the model when it is named for the first time."""
        if name and not self._is_told:
            self._is_told = True
            yield ProviderDelta(model=name)


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


def net_of(whole: int | None, cached: int | None) -> int | None:
    """Return the input tokens that were not read from the cache, never below 0; None for not known."""
    return None if whole is None else max(whole - (cached or 0), 0)


def spent(input_tokens: int | None, output_tokens: int | None, **rest: int | None) -> Iterator[ProviderDelta]:
    """Yield what a response cost; nothing where none of it is known.

    Args:
        input_tokens: Input net of the caches; None for not known.
        output_tokens: Output; None for not known.
        rest: The other fields of ``Usage``.
    """
    if input_tokens is None and output_tokens is None and all(count is None for count in rest.values()):
        return
    usage = Usage(input_tokens=min(input_tokens or 0, MAX_COUNT), output_tokens=output_tokens or 0, **rest)
    yield ProviderDelta(usage=usage)


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

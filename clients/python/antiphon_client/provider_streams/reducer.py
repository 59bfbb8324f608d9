"""The reducer: the deltas of one response, in order, become its parts.

===========================  =====================================================
delta                        effect
===========================  =====================================================
text, thinking, refusal      appended to the part of its kind that stands last, or
                             a new part
thinking_signature           appended to the reasoning that stands last; reasoning
                             after a signature is a new part
tool_call_start              a new call; ignored if its id was started before
tool_call_arguments          appended; ignored for an id that was not started, and
                             after the end of a call whose arguments came whole;
                             after the end of any other the call is not whole
tool_call_arguments_complete not empty: replaces what came before; else ignored
tool_call_end                the call is whole
usage                        merged field by field: what is given and not zero wins
done                         ends the response; the last one wins
error                        the first counts
model                        the first counts
opaque                       a new part
===========================  =====================================================

Cost: linear in the deltas.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from antiphon.compiler.v1.provider_pb2 import (
    OpaqueDelta,
    ProviderDelta,
    ResponseDone,
    ToolCallArguments,
    ToolCallStart,
    Usage,
)


@dataclass(slots=True, eq=False)
class ReducedText:
    """Text that stands together."""

    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text."""
        return "".join(self.pieces)


@dataclass(slots=True, eq=False)
class ReducedThinking:
    """Reasoning under one signature, or none."""

    pieces: list[str] = field(default_factory=list)
    signatures: list[str] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class ReducedCall:
    """One call.

    Attributes:
        start: What began it.
        pieces: Its arguments' text so far.
        has_arguments: Whether a text of its arguments was given, an empty one included.
        is_complete: Whether the provider gave the arguments whole.
        has_ended: Whether the provider ended it.
        has_late_arguments: Whether more of its arguments came after that.
    """

    start: ToolCallStart
    pieces: list[str] = field(default_factory=list)
    has_arguments: bool = False
    is_complete: bool = False
    has_ended: bool = False
    has_late_arguments: bool = False

    @property
    def arguments(self) -> str:
        """The arguments' text."""
        return "".join(self.pieces)


@dataclass(slots=True, eq=False)
class ReducedOpaque:
    """A part that only its issuer can read."""

    kind: str
    data_json: str


ReducedPart: TypeAlias = ReducedText | ReducedThinking | ReducedCall | ReducedOpaque


@dataclass(slots=True)
class Reduction:
    """What the deltas so far amount to.

    Attributes:
        parts: The parts in the order in which they began.
        refusal: The refusal's text.
        usage: What the response cost; None where it was not said.
        model: The model that answers; "" where it was not said.
        done: The end of the response; None before it.
        error: The first fault that the provider reported; None for none.
        is_done_after_error: Whether an end came after the last fault.
    """

    parts: list[ReducedPart] = field(default_factory=list)
    refusal: str = ""
    usage: Usage | None = None
    model: str = ""
    done: ResponseDone | None = None
    error: str | None = None
    is_done_after_error: bool = False

    @property
    def calls(self) -> list[ReducedCall]:
        """The calls, in the order in which they began."""
        return [part for part in self.parts if isinstance(part, ReducedCall)]

    @property
    def text(self) -> str:
        """The text of all parts, in order."""
        return "".join(part.text for part in self.parts if isinstance(part, ReducedText))


class Reducer:
    """Takes deltas; see the module."""

    def __init__(self) -> None:
        self._reduction = Reduction()
        self._calls: dict[str, ReducedCall] = {}
        self._refusal: list[str] = []
        self._effects: dict[str, Callable[[Any], None]] = {
            "text": self._text,
            "thinking": self._thinking,
            "thinking_signature": self._signature,
            "tool_call_start": self._start,
            "tool_call_arguments": self._arguments,
            "tool_call_arguments_complete": self._complete,
            "tool_call_end": self._end,
            "usage": self._usage,
            "done": self._done,
            "error": self._error,
            "opaque": self._opaque,
            "refusal": self._refusal.append,
            "model": self._model,
        }

    def add(self, delta: ProviderDelta) -> None:
        """Take the next delta; one of no kind changes nothing."""
        kind = delta.WhichOneof("delta")
        if kind is not None:
            self._effects[kind](getattr(delta, kind))

    def result(self) -> Reduction:
        """Return what the deltas amount to; called once, after the last."""
        self._reduction.refusal = "".join(self._refusal)
        return self._reduction

    def _text(self, text: str) -> None:
        last = self._reduction.parts[-1] if self._reduction.parts else None
        if isinstance(last, ReducedText):
            last.pieces.append(text)
        elif text:
            self._reduction.parts.append(ReducedText([text]))

    def _thinking(self, text: str) -> None:
        last = self._reduction.parts[-1] if self._reduction.parts else None
        if isinstance(last, ReducedThinking) and not last.signatures:
            last.pieces.append(text)
        else:
            self._reduction.parts.append(ReducedThinking([text]))

    def _signature(self, signature: str) -> None:
        last = self._reduction.parts[-1] if self._reduction.parts else None
        if not isinstance(last, ReducedThinking):
            last = ReducedThinking()
            self._reduction.parts.append(last)
        last.signatures.append(signature)

    def _start(self, start: ToolCallStart) -> None:
        if start.id not in self._calls:
            call = self._calls[start.id] = ReducedCall(start)
            self._reduction.parts.append(call)

    def _arguments(self, arguments: ToolCallArguments) -> None:
        call = self._calls.get(arguments.id)
        if call is None:
            return
        if call.has_ended:
            call.has_late_arguments = call.has_late_arguments or bool(arguments.text and not call.is_complete)
            return
        call.pieces.append(arguments.text)
        call.has_arguments = True

    def _complete(self, arguments: ToolCallArguments) -> None:
        call = self._calls.get(arguments.id)
        if call is not None and arguments.text:
            call.pieces = [arguments.text]
            call.has_arguments = call.is_complete = True

    def _end(self, call_id: str) -> None:
        call = self._calls.get(call_id)
        if call is not None:
            call.has_ended = True

    def _usage(self, usage: Usage) -> None:
        if self._reduction.usage is None:
            self._reduction.usage = Usage()
        merged = self._reduction.usage
        known = {spec.name for spec, _ in merged.ListFields()}
        for spec, value in usage.ListFields():
            if value or spec.name not in known:
                setattr(merged, spec.name, value)

    def _done(self, done: ResponseDone) -> None:
        self._reduction.done = done
        self._reduction.is_done_after_error = True

    def _error(self, words: str) -> None:
        if self._reduction.error is None:
            self._reduction.error = words
        self._reduction.is_done_after_error = False

    def _opaque(self, opaque: OpaqueDelta) -> None:
        self._reduction.parts.append(ReducedOpaque(opaque.kind, opaque.data_json))

    def _model(self, model: str) -> None:
        self._reduction.model = self._reduction.model or model

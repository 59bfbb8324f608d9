"""Running a scenario on a pair (the scenarios' README, Steps and Expectations)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message

from tests.polyglot.calls import (
    DEFAULT_TIMEOUT_MS,
    Call,
    CallError,
    Pair,
    ReplyStream,
    encode,
    method_named,
    to_json,
)
from tests.polyglot.digests import check_compiled, check_snapshot, check_stream
from tests.polyglot.faults import MismatchError, ScenarioError
from tests.polyglot.matching import MISSING, match, show
from tests.polyglot.pointers import resolve
from tests.polyglot.scenario import Scenario
from tests.polyglot.transcript import Transcript
from tests.polyglot.values import Variables

_STEP_KEYS = {
    "call": {
        "call",
        "request",
        "requests",
        "request_hex",
        "metadata",
        "timeout_ms",
        "take",
        "expect",
        "save",
    },
    "open": {"open", "call", "request", "request_hex", "metadata", "timeout_ms"},
    "read": {"read", "count", "expect", "save"},
    "cancel": {"cancel"},
}
_EXPECT_KEYS = {"reply", "replies", "count", "error"}
_ERROR_LEAVES = {"code", "reason", "domain", "metadata", "fields"}
_ERROR_KEYS = _ERROR_LEAVES | {"details", "retry"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a scenario went.

    Attributes:
        digests: Digests checked.
        transcript: What was answered.
        fault: What went wrong; None: nothing.
    """

    digests: int
    transcript: Transcript
    fault: str | None


def run(scenario: Scenario, pair: Pair, volatile: frozenset[str]) -> Outcome:
    """Run one scenario on a pair."""
    running = _Run(pair, Transcript(volatile))
    fault = None
    for number, step in enumerate(scenario.steps):
        try:
            running.step(number, step)
        except (MismatchError, ScenarioError) as error:
            fault = f"step {number}, {_title(step)}: {error}"
            break
    running.close()
    return Outcome(running.digests, running.transcript, fault)


def _title(step: Mapping[str, Any]) -> str:
    kind = _kind(step)
    return f"{kind} {step[kind]}" if kind in step else "of no kind"


def _kind(step: Mapping[str, Any]) -> str:
    return next((kind for kind in ("open", "read", "cancel") if kind in step), "call")


class _Run:
    """A scenario while it runs."""

    def __init__(self, pair: Pair, transcript: Transcript) -> None:
        self._pair = pair
        self._variables = Variables()
        self._streams: dict[str, ReplyStream] = {}
        self.transcript = transcript
        self.digests = 0

    def step(self, number: int, step: Mapping[str, Any]) -> None:
        """Run one step."""
        kind = _kind(step)
        _only(step, _STEP_KEYS[kind], "a step")
        if kind == "open":
            self._streams[step["open"]] = self._pair.start(self._call(step))
        elif kind == "read":
            self._answers(number, step, self._stream(step["read"]), step.get("count"))
        elif kind == "cancel":
            self._stream(step["cancel"]).cancel()
        else:
            stream = self._pair.start(self._call(step))
            replies = self._answers(number, step, stream, step.get("take"))
            if stream.ended and stream.error is None:
                self.digests += _check_digests(stream, replies, step)
            stream.cancel()

    def close(self) -> None:
        """End the streams that are open still."""
        for stream in self._streams.values():
            stream.cancel()

    def _stream(self, name: str) -> ReplyStream:
        if name not in self._streams:
            raise ScenarioError(f"no stream {name} is open")
        return self._streams[name]

    def _call(self, step: Mapping[str, Any]) -> Call:
        method = method_named(step["call"])
        if "request_hex" in step:
            requests = [bytes.fromhex(self._variables.text(step["request_hex"]))]
        elif method.client_streaming:
            requests = [encode(method, request) for request in self._variables.expand(step["requests"])]
        else:
            requests = [encode(method, self._variables.expand(step["request"]))]
        metadata = [(key, self._variables.text(text)) for key, text in step.get("metadata", {}).items()]
        return Call(method, requests, metadata, step.get("timeout_ms", DEFAULT_TIMEOUT_MS))

    def _answers(
        self, number: int, step: Mapping[str, Any], stream: ReplyStream, count: int | None
    ) -> list[Message]:
        """Read answers, write them down, and check and keep what the step says."""
        replies = stream.read(count)
        error = stream.error if count is None or len(replies) < count else None
        told = [to_json(reply) for reply in replies]
        for index, reply in enumerate(told):
            self.transcript.add(number, index, reply)
        if error is not None:
            self.transcript.add(number, "error", error.leaves)
        streams = stream.method.server_streaming
        self._check(self._variables.expand(step.get("expect", {}), expected=True), told, error, streams)
        if count is not None and len(replies) < count:
            raise MismatchError("", f"{count} replies", f"{len(replies)}, then the end")
        for name, pointer in step.get("save", {}).items():
            self._variables.keep(name, resolve(told if streams else told[0], pointer))
        return replies

    def _check(
        self, expect: Mapping[str, Any], told: list[Any], error: CallError | None, streams: bool
    ) -> None:
        _only(expect, _EXPECT_KEYS, "an expectation")
        if error is not None and "error" not in expect:
            raise MismatchError("", "no error", show(error.leaves))
        if "reply" in expect:
            match(expect["reply"], told[0] if told and not streams else MISSING)
        if "replies" in expect:
            match(expect["replies"], told)
        if "count" in expect and len(told) != expect["count"]:
            raise MismatchError("", f"{expect['count']} replies", str(len(told)))
        if "error" in expect:
            _check_error(expect["error"], error, told)


def _only(told: Mapping[str, Any], known: set[str], what: str) -> None:
    unknown = told.keys() - known
    if unknown:
        raise ScenarioError(f"{what} has no {', '.join(sorted(unknown))}")


def _check_error(expected: Mapping[str, Any], error: CallError | None, told: list[Any]) -> None:
    _only(expected, _ERROR_KEYS, "an error")
    if error is None:
        raise MismatchError("/error", show(expected), f"{len(told)} replies and no error")
    match(
        {name: member for name, member in expected.items() if name in _ERROR_LEAVES}, error.leaves, "/error"
    )
    match(expected.get("details", {}), error.details, "/error/details")
    if "retry" in expected and expected["retry"] != error.retry:
        raise MismatchError("/error/retry", show(expected["retry"]), show(error.retry))


_CHECKS: dict[str, Callable[..., int]] = {
    "Compile": lambda replies: check_compiled(replies[0]),
    "StreamCompile": check_stream,
    "ReadSnapshot": check_snapshot,
}


def _check_digests(stream: ReplyStream, replies: list[Message], step: Mapping[str, Any]) -> int:
    """Check the digests that answers read to their end carry; return how many they are."""
    name = stream.method.name
    if name not in _CHECKS or (name == "ReadSnapshot" and "sinceRevision" in step.get("request", {})):
        return 0
    return _CHECKS[name](replies)

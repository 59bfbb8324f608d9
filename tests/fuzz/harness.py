"""Sending a series of requests as raw bytes, and judging every answer."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import grpc
import grpc.aio
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from antiphon.compiler.v1 import errors_pb2 as compiler_errors
from antiphon.history.v1 import errors_pb2 as history_errors
from antiphon_client.edge.unknown_fields import discard_unknown
from antiphon_client.status import (
    COMPILER_DOMAIN,
    DETAILS_KEY,
    HISTORY_DOMAIN,
    MESSAGE_BYTES,
    STATUS_BYTES,
    error_from_rpc,
)
from tests.fuzz.cases import Case

_PREFIX = "ERROR_REASON_"
REGISTRIES = {
    HISTORY_DOMAIN: {name.removeprefix(_PREFIX) for name in history_errors.ErrorReason.keys()},  # noqa: SIM118
    COMPILER_DOMAIN: {name.removeprefix(_PREFIX) for name in compiler_errors.ErrorReason.keys()},  # noqa: SIM118
}
CALL_SECONDS = 60
BATCH = 16
PAST_PARSING = 0.3
"""The least share of requests that must get past parsing, lest the harness test the parser only."""


@dataclass
class Report:
    """What became of a series.

    Attributes:
        cases: Requests sent.
        past_parsing: Those that reached the servicer.
        answers: How often each answer came: OK or a reason.
        kinds: How often each way of making a request was used.
        fields: The fields aimed at, each with its method.
        failures: What must not happen, in words.
    """

    cases: int = 0
    past_parsing: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    fields: set[tuple[str, str]] = field(default_factory=set)
    failures: list[str] = field(default_factory=list)

    def add(self, other: Report) -> None:
        """Add what became of a further series."""
        self.cases += other.cases
        self.past_parsing += other.past_parsing
        self.answers += other.answers
        self.kinds += other.kinds
        self.fields |= other.fields
        self.failures += other.failures

    def check(self) -> None:
        """Raise AssertionError unless the series went as it must."""
        assert not self.failures, f"{len(self.failures)} failure(s):\n" + "\n".join(self.failures[:10])
        assert self.past_parsing >= PAST_PARSING * self.cases, (
            f"past parsing: {self.past_parsing}/{self.cases}"
        )

    def __str__(self) -> str:
        """Sum up in a few lines."""
        share = 100 * self.past_parsing / max(self.cases, 1)
        answers = ", ".join(f"{name} {count}" for name, count in self.answers.most_common())
        return (
            f"{self.cases} requests, {share:.0f} % past parsing, {len(self.fields)} fields aimed at, "
            f"{len(self.failures)} failures\n  {answers}"
        )


async def run(
    channel: grpc.aio.Channel,
    series: Iterator[Case],
    count: int,
    prepare: Callable[[int], Awaitable[None]] | None = None,
) -> Report:
    """Send ``count`` requests, a batch at a time, and report.

    Args:
        channel: A channel to the service.
        series: The requests.
        count: How many of them.
        prepare: Awaited with the number of the next case before every batch.
    """
    report = Report()
    for start in range(0, count, BATCH):
        if prepare is not None:
            await prepare(start)
        batch = list(islice(series, min(BATCH, count - start)))
        for case, (answer, complaint) in zip(
            batch, await asyncio.gather(*(_send(channel, case) for case in batch)), strict=True
        ):
            report.cases += 1
            report.answers[answer] += 1
            report.kinds[case.kind] += 1
            if case.focus:
                report.fields.add((case.method.name, case.focus))
            report.past_parsing += answer not in ("MALFORMED_REQUEST", "UNKNOWN_FIELD", "request_bytes")
            if complaint:
                report.failures.append(f"{complaint}: {case}")
    return report


async def _send(channel: grpc.aio.Channel, case: Case) -> tuple[str, str]:
    """Send one request; return the answer's name and a complaint, empty if there is none."""
    path = f"/{case.method.containing_service.full_name}/{case.method.name}"
    replies: list[bytes] = []
    try:
        if case.method.client_streaming:
            upload: Any = channel.stream_unary(path)
            replies.append(await upload(iter([case.body]), timeout=CALL_SECONDS))
        elif case.method.server_streaming:
            stream: Any = channel.unary_stream(path)
            replies += await _read(stream(case.body, timeout=CALL_SECONDS), case)
        else:
            unary: Any = channel.unary_unary(path)
            replies.append(await unary(case.body, timeout=CALL_SECONDS))
    except grpc.aio.AioRpcError as exc:
        return _judge(exc)
    return "OK", "".join(_judge_reply(case, reply) for reply in replies)


async def _read(stream: Any, case: Case) -> list[bytes]:
    """Read a stream to its end; one that would stay open, until it has nothing more to say for now."""
    replies: list[bytes] = []
    async for frame in stream:
        replies.append(frame)
        if _is_quiet(case, frame):
            stream.cancel()
            break
    return replies


def _is_quiet(case: Case, frame: bytes) -> bool:
    reply = GetMessageClass(case.method.output_type).FromString(frame)
    return "caught_up" in reply.DESCRIPTOR.fields_by_name and reply.HasField("caught_up")


def _judge_reply(case: Case, reply: bytes) -> str:
    try:
        message: Message = GetMessageClass(case.method.output_type).FromString(reply)
    except DecodeError:
        return "a reply that cannot be read"
    return "a reply with unknown fields" if discard_unknown(message) else ""


def _judge(failure: grpc.aio.AioRpcError) -> tuple[str, str]:
    error = error_from_rpc(failure)
    if error is None:
        return failure.code().name, f"{failure.code().name} without a reason ({failure.details()})"
    answer = error.metadata.get("limit_name", "")
    answer = answer if answer == "request_bytes" else error.reason
    return answer, "; ".join(_complaints(failure, error.reason, error.domain))


def _complaints(failure: grpc.aio.AioRpcError, reason: str, domain: str) -> Iterator[str]:
    error = error_from_rpc(failure)
    assert error is not None
    if reason == "INTERNAL_ERROR":
        yield f"INTERNAL_ERROR {error.metadata}"
    if reason not in REGISTRIES.get(domain, set()):
        yield f"{reason} is not registered in {domain!r}"
    if failure.code().name != error.code:
        yield f"{reason} came as {failure.code().name}"
    if reason in ("FIELD_INVALID", "UNKNOWN_FIELD") and not error.violations:
        yield f"{reason} names no field"
    if len((failure.details() or "").encode()) > MESSAGE_BYTES:
        yield "the message is too long"
    if any(len(value) > STATUS_BYTES for key, value in failure.trailing_metadata() if key == DETAILS_KEY):
        yield "the status is too long"

"""Tracing: off by default; a compilation is one trace through client, compiler and history; no contents."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from antiphon_client import (
    AsyncCompilerClient,
    AsyncHistoryClient,
    CompilerClient,
    HistoryClient,
    Instruction,
    TurnRequest,
)
from antiphon_client.edge.tracing import TracingError, start_tracing
from antiphon_client.errors import AntiphonError, BranchNotFoundError
from antiphon_client.tracing import disable_tracing, enable_tracing
from compiler_service.server import build_server as build_compiler
from compiler_service.server import open_history_channel
from compiler_service.settings import CompilerSettings
from history_service.server import build_server as build_history
from history_service.settings import HistorySettings
from history_service.storage import open_store
from tests.support.cli import PYTHONPATH, ROOT
from tests.support.history import uuid_of
from tests.support.pair import running_pair, served_pair
from tests.support.programs import program
from tests.support.secured import BY_NAME, empty, secured

pytestmark = pytest.mark.anyio

SECRET = "the words of a message"
HISTORY, COMPILER = "antiphon.history.v1.HistoryService", "antiphon.compiler.v1.CompilerService"


class Spans:
    """What was traced.

    Attributes:
        provider: Makes the spans.
    """

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))

    def take(self) -> list[ReadableSpan]:
        """Return the spans that have ended, in the order of their starts, and forget them."""
        found = sorted(self._exporter.get_finished_spans(), key=lambda span: span.start_time or 0)
        self._exporter.clear()
        return found


@pytest.fixture
def spans() -> Iterator[Spans]:
    """Tracing that is on for the test."""
    made = Spans()
    enable_tracing(made.provider)
    yield made
    disable_tracing()


def chain(found: list[ReadableSpan]) -> list[tuple[str, SpanKind]]:
    """Return names and kinds of spans that are one trace, each below the one before."""
    assert len({span.context.trace_id for span in found}) == 1
    for above, below in itertools.pairwise(found):
        assert below.parent is not None
        assert below.parent.span_id == above.context.span_id
    return [(span.name, span.kind) for span in found]


COMPILATION = [
    (f"{COMPILER}/Compile", SpanKind.CLIENT),
    (f"{COMPILER}/Compile", SpanKind.SERVER),
    (f"{HISTORY}/ReadSnapshot", SpanKind.CLIENT),
    (f"{HISTORY}/ReadSnapshot", SpanKind.SERVER),
]


async def test_a_compilation_is_one_trace(spans: Spans, tmp_path: Path) -> None:
    turn = TurnRequest(instruction=Instruction.create(SECRET))
    async with (
        running_pair(tmp_path) as pair,
        AsyncHistoryClient(pair.history) as history,
        AsyncCompilerClient(pair.compiler) as compiler,
    ):
        branch = await history.create_branch(external_key=SECRET, metadata={"title": SECRET})
        spans.take()
        with spans.provider.get_tracer("app").start_as_current_span("a turn"):
            await compiler.compile(branch.branch_id, turn)
        found = spans.take()
        assert chain(found) == [("a turn", SpanKind.INTERNAL), *COMPILATION]
        assert found[0].parent is None
        # Without a span around it, the client's is the first; another call is another trace.
        await compiler.compile(branch.branch_id, turn)
        assert chain(spans.take()) == COMPILATION
    for span in found:
        assert SECRET not in span.to_json()
        assert str(branch.branch_id) not in span.to_json()
    for span in found[1:]:
        service, _, method = span.name.partition("/")
        assert dict(span.attributes or {}) == {
            "rpc.system": "grpc", "rpc.service": service, "rpc.method": method, "rpc.grpc.status_code": 0,
        }  # fmt: skip


def test_a_blocking_client_traces_too(spans: Spans, tmp_path: Path) -> None:
    with served_pair(tmp_path) as pair, HistoryClient(pair.history) as history:
        branch = history.create_branch()
        with CompilerClient(pair.compiler) as compiler:
            spans.take()
            compiler.compile(branch.branch_id, TurnRequest(instruction=Instruction.create(SECRET)))
    assert chain(spans.take()) == COMPILATION


async def test_an_error_shows_its_code_and_reason_alone(spans: Spans, tmp_path: Path) -> None:
    async with running_pair(tmp_path) as pair, AsyncCompilerClient(pair.compiler) as compiler:
        with pytest.raises(BranchNotFoundError) as refused:
            await compiler.compile(uuid_of(1), TurnRequest(instruction=Instruction.create(SECRET)))
    found = spans.take()
    assert chain(found) == COMPILATION
    for span in found:
        attributes = span.attributes or {}
        assert attributes["rpc.grpc.status_code"] == 5
        is_client = span.kind is SpanKind.CLIENT
        # To a server, what a caller got wrong is no fault.
        assert (span.status.status_code is StatusCode.ERROR) == is_client
        assert attributes.get("error.type") == ("BRANCH_NOT_FOUND" if is_client else None)
        assert refused.value.message not in span.to_json()
        assert not span.events


@pytest.mark.parametrize("method", ["GetBranch", "AddMessages", "ReadSnapshot", "ImportBranch"])
async def test_a_call_that_is_not_let_in_is_refused_as_it_is_without_tracing(
    spans: Spans, tmp_path: Path, method: str
) -> None:
    async with secured(tmp_path) as services:
        outcome = await services.outcome(None, method, [empty(BY_NAME[method][1])], most=1)
    assert (outcome.code, outcome.reason) == ("UNAUTHENTICATED", "CREDENTIALS_MISSING")
    (span,) = (span for span in spans.take() if span.kind is SpanKind.SERVER)
    assert (span.attributes or {})["rpc.grpc.status_code"] == 16


async def test_a_cancelled_call_ends_its_spans(spans: Spans, tmp_path: Path) -> None:
    async with running_pair(tmp_path) as pair, AsyncHistoryClient(pair.history) as history:
        branch = await history.create_branch()
        spans.take()
        call = asyncio.create_task(history.get_branch(branch.branch_id))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    client = next(span for span in spans.take() if span.kind is SpanKind.CLIENT)
    assert (client.attributes or {})["rpc.grpc.status_code"] == 1


async def test_a_watch_makes_no_span(spans: Spans, tmp_path: Path) -> None:
    async with running_pair(tmp_path) as pair, AsyncHistoryClient(pair.history) as history:
        branch = await history.create_branch()
        spans.take()
        async with aclosing(history.watch_branch(branch.branch_id)) as changes:
            await anext(changes)
    assert not [span.name for span in spans.take() if span.name.endswith("WatchBranch")]


async def test_an_untraced_compiler_passes_a_callers_context_on(tmp_path: Path) -> None:
    traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    made = Spans()
    history_settings = HistorySettings(listen=f"unix:{tmp_path}/h.sock", store="memory:")
    history = build_history(history_settings, open_store("memory:"))
    enable_tracing(made.provider)
    try:
        address = await history.start()
    finally:
        # From here on only the history service is traced, as if in a process of its own.
        disable_tracing()
    try:
        settings = CompilerSettings(listen=f"unix:{tmp_path}/c.sock", history=address)
        compiler = build_compiler(settings, open_history_channel(settings))
        at = await compiler.start()
        try:
            async with AsyncCompilerClient(at, metadata=[("traceparent", traceparent)]) as client:
                with pytest.raises(BranchNotFoundError):
                    await client.compile(uuid_of(1), TurnRequest(instruction=Instruction.create(SECRET)))
        finally:
            await compiler.stop(0)
    finally:
        await history.stop(0)
    (span,) = made.take()
    assert span.parent is not None
    assert traceparent.split("-")[1:3] == [f"{span.context.trace_id:032x}", f"{span.parent.span_id:016x}"]


def test_nothing_of_opentelemetry_is_loaded_unless_it_is_asked_for() -> None:
    code = (
        "import sys, antiphon_client.rpc, history_service.__main__, compiler_service.__main__;"
        " print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": PYTHONPATH},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


def test_without_its_packages_tracing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(TracingError, match=r"antiphon\[otel\]"):
        start_tracing("otlp", "antiphon-history")


def spans_in(log: str) -> list[dict[str, Any]]:
    """The spans in a service's log."""
    lines = [json.loads(line) for line in log.splitlines()]
    return [line for line in lines if line["event"] == "span"]


async def test_two_processes_write_one_trace_into_their_logs(tmp_path: Path) -> None:
    at = ("--tracing", "log", "--listen")
    with (
        program("history_service", *at, f"unix:{tmp_path}/h.sock", "--store", "memory:") as history,
        program("compiler_service", *at, f"unix:{tmp_path}/c.sock", "--history", history.address) as compiler,
    ):
        async with AsyncCompilerClient(compiler.address) as client:
            with pytest.raises(AntiphonError):
                await client.compile(uuid_of(1), TurnRequest(instruction=Instruction.create(SECRET)))
        logs = [service.end(15)[1] for service in (compiler, history)]
    read, compile_, served = [*spans_in(logs[0]), *spans_in(logs[1])]
    assert [span["name"].partition("/")[2] for span in (compile_, read, served)] == [
        "Compile", "ReadSnapshot", "ReadSnapshot",
    ]  # fmt: skip
    assert len({span["trace_id"] for span in (read, compile_, served)}) == 1
    assert (read["parent_id"], served["parent_id"]) == (compile_["span_id"], read["span_id"])
    assert (read["grpc_status_code"], read["error_type"]) == (5, "BRANCH_NOT_FOUND")
    assert SECRET not in "".join(logs)

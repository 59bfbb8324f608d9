"""A caller's own names for its request stand in the logs of both services."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from antiphon_client import AsyncCompilerClient, AsyncHistoryClient, Instruction, TurnRequest
from antiphon_client.errors import BranchNotFoundError
from tests.support.history import uuid_of
from tests.support.pair import running_pair

pytestmark = pytest.mark.anyio

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
TRACEPARENT = f"00-{TRACE_ID}-b7ad6b7169203331-01"
TURN = TurnRequest(instruction=Instruction.create("Where is it?"))


def lines(caplog: pytest.LogCaptureFixture, event: str) -> list[Any]:
    """Log lines of an event; each is a mapping."""
    found: list[Any] = [record.msg for record in caplog.records if record.name.startswith("antiphon")]
    return [line for line in found if line["event"] == event]


async def test_a_failure_is_found_in_both_logs(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    metadata = [("x-request-id", "checkout-4711"), ("traceparent", TRACEPARENT)]
    with caplog.at_level(logging.INFO, "antiphon"):
        async with (
            running_pair(tmp_path) as pair,
            AsyncCompilerClient(pair.compiler, metadata=metadata) as compiler,
        ):
            with pytest.raises(BranchNotFoundError):
                await compiler.compile(uuid_of(1), TURN)
    failed = lines(caplog, "call_failed")
    assert [line["method"].rpartition("/")[2] for line in failed] == ["ReadSnapshot", "Compile"]
    for line in failed:
        assert (line["x_request_id"], line["trace_id"]) == ("checkout-4711", TRACE_ID)


@pytest.mark.parametrize("name", ["x" * 129, "two words", "a;b"])
async def test_what_is_no_short_word_stays_out(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    metadata = [("x-request-id", name), ("traceparent", f"{TRACEPARENT}-and-more")]
    with caplog.at_level(logging.DEBUG, "antiphon"):
        async with (
            running_pair(tmp_path) as pair,
            AsyncHistoryClient(pair.history, metadata=metadata) as history,
        ):
            await history.create_branch()
    (line,) = lines(caplog, "call")
    assert {"x_request_id", "trace_id"}.isdisjoint(line)

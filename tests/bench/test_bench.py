"""The benchmarks run, measure what they say, and refuse to compare unlike things."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from antiphon.history.v1 import history_service_pb2
from antiphon_client.ids import is_canonical_uuid
from tests.bench import append, compile, projection, snapshot
from tests.bench.__main__ import FIGURES, README
from tests.bench.conversation import conversation, to_messages
from tests.bench.peers.measuring import digest
from tests.bench.report import Bound, Row, format_row, write_json
from tests.bench.servers import running
from tests.bench.table import read_rows, table, with_table

pytestmark = pytest.mark.anyio


def _say(_text: str) -> None:
    """Progress that nobody reads."""


def _row(ratio: float, bound: Bound) -> Row:
    return Row("work", 2000, "calls/s", "floor", 4, "ms", ratio, 0.65, bound)


async def test_append_measures_every_load_beside_the_floor() -> None:
    async with running(append.reply_bytes()) as servers:
        rows = [row async for row in append.measure(servers, seconds=0.05, rounds=1, say=_say)]
    assert [row.beside_unit for row in rows] == ["calls/s"] * 4
    assert all(row.ours > 0 and row.theirs > 0 for row in rows)
    assert rows[-1].ratio == pytest.approx(rows[-1].ours / rows[-1].theirs)


async def test_snapshot_measures_the_same_bytes() -> None:
    async with running(append.reply_bytes()) as servers:
        rows = [row async for row in snapshot.measure(servers, rounds=1, say=_say)]
    assert len(rows) == 4
    assert all(row.ratio == pytest.approx(row.ours / row.theirs) for row in rows)


@pytest.mark.skipif(not compile.PEER_PYTHON.exists(), reason="needs `make bench-peers`")
async def test_compile_gives_what_the_reference_package_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = tuple(compile.Case(40, tools, 1, None, None) for tools in (True, False))
    monkeypatch.setattr(compile, "CASES", cases)
    async with running(append.reply_bytes()) as servers:
        rows = [row async for row in compile.measure(servers, rounds=1, say=_say)]
    assert [row.work.split(",")[0] for row in rows] == ["compile cold", "compile warm"] * 2


async def test_compile_refuses_to_compare_unlike_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    async def other_texts(_case: compile.Case, _rounds: int) -> compile.Times:
        return compile.Times(cold=[1.0], warm=[1.0], messages=21, digest="other")

    monkeypatch.setattr(compile, "CASES", (compile.Case(40, True, 1, None, None),))
    monkeypatch.setattr(compile, "reference", other_texts)
    async with running(append.reply_bytes()) as servers:
        with pytest.raises(RuntimeError, match="differ after the first"):
            await anext(compile.measure(servers, rounds=1, say=_say))


@pytest.mark.skipif(not compile.PEER_PYTHON.exists(), reason="needs `make bench-peers`")
async def test_projections_say_what_those_of_the_other_packages_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projection, "SIZE", 41)
    rows = [row async for row in projection.measure(rounds=2, say=_say)]
    beside = [row.beside for row in rows]
    assert beside == ["langchain-core"] * 2 + ["Pydantic AI"] * 2 + ["LiteLLM"] * 2
    assert all(row.ratio == pytest.approx(row.ours / row.theirs) for row in rows)


async def test_projections_are_measured_from_stored_and_from_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    peers = tuple(
        projection.Peer("ours again", projection.OURS, "someone", target)
        for target in ("openai.chat", "anthropic.messages")
    )
    monkeypatch.setattr(projection, "SIZE", 41)
    monkeypatch.setattr(projection, "PEERS", peers)
    rows = [row async for row in projection.measure(rounds=1, say=_say)]
    assert [row.work for row in rows] == [
        "project 41 messages, stored, to someone",
        "project 41 messages, ready, to someone",
    ] * 2
    assert all(row.ours > 0 and row.bound == "at most" for row in rows)
    assert rows[0].ours > rows[1].ours


async def test_projections_of_unlike_requests_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    other = projection.Peer("other", "tests.support.another_request", "OpenAI", "openai.chat")
    monkeypatch.setattr(projection, "SIZE", 8)
    monkeypatch.setattr(projection, "PEERS", (other,))
    monkeypatch.setattr(projection, "PEER_PYTHON", Path(sys.executable))
    with pytest.raises(RuntimeError, match="different things"):
        await anext(projection.measure(rounds=1, say=_say))


async def test_a_measured_program_that_ends_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = projection.Peer("gone", "tests.support.no_such_program", "OpenAI", "openai.chat")
    monkeypatch.setattr(projection, "PEERS", (gone,))
    monkeypatch.setattr(projection, "PEER_PYTHON", Path(sys.executable))
    with pytest.raises(RuntimeError, match="ended with code 1"):
        await anext(projection.measure(rounds=1, say=_say))


def test_requests_of_two_providers_that_say_the_same_have_one_digest() -> None:
    call: dict[str, Any] = {
        "id": "c1",
        "type": "function",
        "function": {"name": "f", "arguments": '{"a": 1}'},
    }
    openai: list[dict[str, Any]] = [
        {"role": "user", "content": "Go"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
        {"role": "user", "content": "Thanks"},
    ]
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "done"}
    anthropic: list[dict[str, Any]] = [
        {"role": "user", "content": [{"type": "text", "text": "Go"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}}]},
        {"role": "user", "content": [result, {"type": "text", "text": "Thanks"}]},
    ]
    assert digest(openai) == digest(anthropic) == digest(json.dumps({"messages": openai}))
    for changed in (openai[:-1], [*openai[:2], {**openai[2], "content": "other"}, openai[3]], openai[::-1]):
        assert digest(changed) != digest(openai)
    call["function"] = {"name": "f", "arguments": '{"a": 2}'}
    assert digest(openai) != digest(anthropic)


def test_append_requests_are_well_formed_and_never_repeat_an_id() -> None:
    make = append.requests("11111111-1111-4111-8111-111111111111", 3)
    first, second = (history_service_pb2.AddMessagesRequest.FromString(make()) for _ in range(2))
    assert len(first.messages) == 3
    assert is_canonical_uuid(first.request_id)
    assert first.request_id != second.request_id


def test_conversations_are_the_same_every_time_and_link_their_calls() -> None:
    assert conversation(41, tools=True) == conversation(41, tools=True)
    messages = to_messages(conversation(41, tools=True))
    ids = [message.id for message in messages]
    assert len(set(ids)) == 41
    assert all(map(is_canonical_uuid, ids))
    responses = [message for message in messages if message.WhichOneof("content") == "action_response"]
    assert len(responses) == 10
    assert {message.action_response.action_request_id for message in responses} < set(ids)


@pytest.mark.parametrize(
    ("ratio", "bound", "verdict"),
    [
        (0.7, "at least", "met"),
        (0.6, "at least", "MISSED"),
        (0.6, "at most", "met"),
        (0.7, "at most", "MISSED"),
    ],
)
def test_rows_say_whether_the_target_is_met(ratio: float, bound: Bound, verdict: str) -> None:
    assert verdict in format_row(_row(ratio, bound))


def test_figures_are_written_with_ratios_and_verdicts(tmp_path: Path) -> None:
    write_json(tmp_path / "bench.json", [_row(0.7, "at least")], [], quick=True)
    (row,) = json.loads((tmp_path / "bench.json").read_text("utf-8"))["rows"]
    assert (row["ratio"], row["target"], row["met"]) == (0.7, 0.65, True)


def test_the_table_in_the_readme_is_that_of_the_results_file() -> None:
    text = README.read_text("utf-8")
    assert with_table(text, read_rows(FIGURES)) == text


def test_a_missed_target_is_marked_in_the_table() -> None:
    missed, met = _row(0.5, "at least"), _row(0.9, "at least")
    assert [line.endswith(", open |") for line in table([missed, met]).splitlines()[2:]] == [True, False]


def test_a_text_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="no place for the figures"):
        with_table("nothing", [])

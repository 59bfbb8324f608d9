"""What reading an answer of many calls costs, counted and not timed: the lines of the package that run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from antiphon.compiler.v1 import provider_pb2 as pb
from antiphon_client.limits import DEFAULT_LIMITS
from antiphon_client.provider_streams import assemble, decode
from compiler_service.responses import parse_response
from tests.support.provider_responses import compact, event

FEW, MANY = 40, 320
PACKAGE = "antiphon_client/provider_streams"
CHAT = "openai.chat"


def lines_run(work: Callable[[], Any]) -> int:
    """Return how many lines of the package ran."""
    count = 0

    def on_line(frame: FrameType, kind: str, arg: Any) -> Any:
        nonlocal count
        count += kind == "line"
        return on_line

    def on_call(frame: FrameType, kind: str, arg: Any) -> Any:
        return on_line if PACKAGE in frame.f_code.co_filename else None

    before = sys.gettrace()
    sys.settrace(on_call)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def call(number: int, call_id: str | None, arguments: str = "{}") -> dict[str, Any]:
    made = {"index": number, "type": "function", "function": {"name": "f", "arguments": arguments}}
    return made if call_id is None else made | {"id": call_id}


def chunk(*calls: dict[str, Any], finish: str | None = None, **rest: Any) -> bytes:
    choice = {"index": 0, "delta": {"tool_calls": calls}, "finish_reason": finish}
    return event(compact({"choices": [choice], **rest}))


def streamed(*frames: bytes) -> None:
    assemble(pb.AssembleOptions(target=CHAT), decode(CHAT, frames))


def whole(count: int, arguments: str = "{}") -> None:
    calls = [call(number, f"c{number}", arguments) for number in range(count)]
    payload = {"choices": [{"message": {"tool_calls": calls}, "finish_reason": "tool_calls"}]}
    request = pb.ParseResponseRequest(target=CHAT, payload_json=compact(payload), keep_partial=True)
    parse_response(request, DEFAULT_LIMITS)


def whole_all_cut(count: int) -> None:
    whole(count, "{")


def one_after_another(count: int) -> None:
    streamed(*(chunk(call(each, f"c{each}")) for each in range(count)), chunk(finish="stop"))


def all_begun_then_all_ended(count: int) -> None:
    begun = [chunk(call(each, f"c{each}", "{")) for each in range(count)]
    rest = [chunk(call(each, None, "}")) for each in reversed(range(count))]
    streamed(*begun, *rest, chunk(finish="stop"))


def behind_one_without_an_id(count: int) -> None:
    streamed(*(chunk(call(each, f"c{each}" if each else None)) for each in range(count)))


def an_end_and_usage_each(count: int) -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 1}
    streamed(*(chunk(call(each, f"c{each}"), finish="stop", usage=usage) for each in range(count)))


def ids_like_made_ones(count: int) -> None:
    given = [chunk(call(each, f"local:{count + each}")) for each in range(count)]
    without = [chunk(call(count + each, None)) for each in range(count)]
    streamed(*given, *without, chunk(finish="stop"))


@pytest.mark.parametrize(
    "work",
    [
        whole,
        whole_all_cut,
        one_after_another,
        all_begun_then_all_ended,
        behind_one_without_an_id,
        an_end_and_usage_each,
        ids_like_made_ones,
    ],
)
def test_many_calls_cost_as_much_each_as_few(work: Callable[[int], None]) -> None:
    work(1)
    few, many = lines_run(lambda: work(FEW)), lines_run(lambda: work(MANY))
    assert few > FEW
    assert many / few < 1.2 * MANY / FEW

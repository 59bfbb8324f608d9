"""Streams with events repeated, lost or out of order: no call is lost unsaid, or called with nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from antiphon.compiler.v1 import provider_pb2 as pb
from antiphon_client.provider_streams import assemble, decode
from tests.support.provider_responses import compact, event

CHAT, RESPONSES, ANTHROPIC = "openai.chat", "openai.responses", "anthropic.messages"
TRUNCATED = pb.RESPONSE_FAULT_KIND_TRUNCATED_CALL


def assembled(target: str, *events: dict[str, Any]) -> pb.AssembleResponseResponse:
    frames = [event(compact(each)) for each in events]
    return assemble(pb.AssembleOptions(target=target), decode(target, frames))


def calls_of(reply: pb.AssembleResponseResponse) -> list[tuple[str, str, str]]:
    requests = [each.action_request for each in reply.messages if each.HasField("action_request")]
    return [(each.provider_call_id, each.function, each.arguments_json) for each in requests]


def start(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def tool(index: int, call_id: str = "t") -> dict[str, Any]:
    return start(index, type="tool_use", id=call_id, name="f", input={})


def delta(index: int, kind: str, **fields: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def piece(index: int, text: str) -> dict[str, Any]:
    return delta(index, "input_json_delta", partial_json=text)


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


STOPPED = (
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
    {"type": "message_stop"},
)
HELLO = (start(0, type="text", text=""), delta(0, "text_delta", text="hello"), stop(0))


@pytest.mark.parametrize(
    "events",
    [
        [tool(1), tool(1), piece(1, '{"n":1}'), stop(1)],
        [tool(1), piece(1, '{"n":'), tool(1), piece(1, "1}"), stop(1)],
        [tool(1), piece(1, '{"n":1}'), stop(1), tool(1), stop(1)],
        [tool(1), piece(1, '{"n":1}'), stop(1), stop(1)],
    ],
)
def test_anthropics_repeated_start_begins_no_second_call(events: list[dict[str, Any]]) -> None:
    reply = assembled(ANTHROPIC, *HELLO, *events, *STOPPED)
    assert calls_of(reply) == [("t", "f", '{"n":1}')]
    assert not reply.HasField("fault")


def test_anthropics_blocks_may_share_an_index_one_after_the_other() -> None:
    events = [tool(0, "a"), piece(0, '{"n":1}'), stop(0), tool(0, "b"), piece(0, '{"n":2}'), stop(0)]
    reply = assembled(ANTHROPIC, *HELLO, *events, *STOPPED)
    assert calls_of(reply) == [("a", "f", '{"n":1}'), ("b", "f", '{"n":2}')]
    assert not reply.HasField("fault")


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([piece(1, '{"n":1}'), stop(1)], id="never begun"),
        pytest.param([tool(1), stop(1), piece(1, '{"n":1}')], id="after the end"),
        pytest.param([tool(1)], id="never ended"),
        pytest.param([tool(1), piece(1, "[]")], id="no object, never ended"),
        pytest.param([tool(1), piece(1, "{}"), stop(1), piece(1, '{"n":1}')], id="more after the end"),
    ],
)
def test_anthropics_arguments_without_an_open_block_make_the_call_one_that_was_cut(
    events: list[dict[str, Any]],
) -> None:
    reply = assembled(ANTHROPIC, *HELLO, *events, *STOPPED)
    assert reply.fault.kind == TRUNCATED
    assert not calls_of(reply)
    assert reply.messages[0].assistant_response.assistant_response == "hello"


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([delta(1, "thinking_delta", thinking="hm")], id="thinking never begun"),
        pytest.param([delta(0, "signature_delta", signature="s")], id="signature after the end"),
        pytest.param([stop(1)], id="end never begun"),
        pytest.param([piece(0, "{}")], id="arguments for a text"),
        pytest.param(
            [start(1, type="redacted_thinking", data="x"), stop(1), piece(1, "1")], id="input after the end"
        ),
    ],
)
def test_anthropics_other_events_without_an_open_block_are_faults(events: list[dict[str, Any]]) -> None:
    reply = assembled(ANTHROPIC, *HELLO, *events, *STOPPED)
    assert reply.fault.kind == pb.RESPONSE_FAULT_KIND_ADVISORY
    assert "for block" in reply.fault.detail


def test_anthropics_call_within_which_another_begins_is_cut() -> None:
    reply = assembled(ANTHROPIC, *HELLO, tool(1, "a"), tool(1, "t"), piece(1, "{}"), stop(1), *STOPPED)
    assert calls_of(reply) == [("t", "f", "{}")]
    assert reply.fault == pb.ResponseFault(kind=TRUNCATED, detail="f: it had not ended")


def test_anthropics_arguments_that_are_an_object_need_no_end() -> None:
    reply = assembled(ANTHROPIC, *HELLO, tool(1), piece(1, '{"n":1}'), *STOPPED)
    assert calls_of(reply) == [("t", "f", '{"n":1}')]
    assert not reply.HasField("fault")


def test_anthropics_input_may_be_null() -> None:
    begun = start(1, type="tool_use", id="t", name="f", input=None)
    reply = assembled(ANTHROPIC, *HELLO, begun, stop(1), *STOPPED)
    assert calls_of(reply) == [("t", "f", "")]
    assert not reply.HasField("fault")


def test_anthropics_text_needs_no_open_block() -> None:
    reply = assembled(ANTHROPIC, delta(0, "text_delta", text="hello"), *STOPPED)
    assert reply.messages[0].assistant_response.assistant_response == "hello"
    assert not reply.HasField("fault")


def chunk(*calls: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"tool_calls": calls}, "finish_reason": finish}]}


def chat_call(index: int, call_id: str | None, name: str | None, arguments: str) -> dict[str, Any]:
    given = {"index": index, "id": call_id, "function": {"name": name, "arguments": arguments}}
    return {key: value for key, value in given.items() if value is not None}


FINISHED = chunk(finish="tool_calls")
SPENT = {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}


@pytest.mark.parametrize("spent", [(), (SPENT,)])
def test_chat_arguments_after_the_reason_for_stopping_make_the_call_one_that_was_cut(
    spent: tuple[dict[str, Any], ...],
) -> None:
    begun = chunk(chat_call(0, "a", "f", ""))
    for late in (chat_call(0, None, None, '{"n":1}'), chat_call(3, None, None, '{"n":1}')):
        reply = assembled(CHAT, begun, FINISHED, *spent, chunk(late))
        assert reply.fault.kind == TRUNCATED
        assert '{"n":1}' not in [arguments for _, _, arguments in calls_of(reply)]
    again = assembled(CHAT, chunk(chat_call(0, "a", "f", "{}"), finish="tool_calls"), begun)
    assert calls_of(again) == [("a", "f", "{}")]
    assert not again.HasField("fault")


def test_a_chat_call_that_begins_after_the_reason_for_stopping_is_a_call() -> None:
    first = chunk(chat_call(0, "a", "f", '{"n":1}'), finish="tool_calls")
    for call_id in ("b", None):
        reply = assembled(CHAT, first, chunk(chat_call(0, call_id, "g", '{"n":2}'), finish="tool_calls"))
        assert [call[1:] for call in calls_of(reply)] == [("f", '{"n":1}'), ("g", '{"n":2}')]
        assert not reply.HasField("fault")


def answer_of(index: int | None, text: str, finish: str | None = None) -> dict[str, Any]:
    choice = {"delta": {"content": text}, "finish_reason": finish}
    return choice if index is None else choice | {"index": index}


LAST = answer_of(0, "b", "stop")


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        ([answer_of(1, "a"), answer_of(1, "b", "stop")], "ab"),
        ([answer_of(2, "a"), answer_of(1, "x", "stop"), answer_of(2, "b", "stop")], "ab"),
        ([answer_of(1, "x", "stop"), answer_of(0, "a"), answer_of(0, "b", "stop")], "ab"),
        (
            [answer_of(1, "x"), answer_of(None, "a"), answer_of(1, "x", "length"), answer_of(0, "b", "stop")],
            "ab",
        ),
    ],
)
@pytest.mark.parametrize("spent", [(), (SPENT,)])
def test_of_several_chat_answers_that_of_index_0_is_read_or_else_the_first(
    choices: list[dict[str, Any]], text: str, spent: tuple[dict[str, Any], ...]
) -> None:
    for frames in ([{"choices": [each]} for each in choices], [{"choices": choices}]):
        reply = assembled(CHAT, *frames, *spent)
        assert reply.messages[0].assistant_response.assistant_response == text
        assert reply.stop_reason == pb.STOP_REASON_END_TURN
        assert reply.HasField("usage") == bool(spent)
        assert not reply.HasField("fault")


def test_a_chat_call_of_an_answer_that_is_not_read_is_not_called() -> None:
    other = {"choices": [{"index": 1, "delta": {"tool_calls": [chat_call(0, "x", "f", "{}")]}}]}
    reply = assembled(CHAT, other, chunk(chat_call(0, "a", "g", "{}"), finish="tool_calls"))
    assert calls_of(reply) == [("a", "g", "{}")]


def item(call_id: str, arguments: str, status: str = "completed") -> dict[str, Any]:
    return {
        "type": "function_call",
        "id": f"fc_{call_id}",
        "call_id": call_id,
        "name": "f",
        "arguments": arguments,
        "status": status,
    }


def added(index: int, call_id: str) -> dict[str, Any]:
    return {
        "type": "response.output_item.added",
        "output_index": index,
        "item": item(call_id, "", "in_progress"),
    }


def argued(index: int, text: str) -> dict[str, Any]:
    return {"type": "response.function_call_arguments.delta", "output_index": index, "delta": text}


def ended(index: int, value: dict[str, Any]) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": index, "item": value}


COMPLETED = {"type": "response.completed", "response": {"status": "completed"}}


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([added(0, "a"), added(0, "a"), ended(0, item("a", '{"n":1}'))], id="start twice"),
        pytest.param([argued(0, '{"n":1}'), ended(0, item("a", '{"n":1}'))], id="no start"),
        pytest.param([ended(0, item("a", '{"n":1}')), added(0, "a")], id="start after the end"),
        pytest.param(
            [added(0, "a"), ended(0, item("a", '{"n":1}')), argued(0, '{"n":1}')], id="pieces after the end"
        ),
        pytest.param([ended(0, item("a", '{"n":1}')), ended(0, item("a", '{"n":1}'))], id="end twice"),
    ],
)
def test_a_responses_call_is_put_together_from_what_arrives(events: list[dict[str, Any]]) -> None:
    reply = assembled(RESPONSES, *events, COMPLETED)
    assert calls_of(reply) == [("a", "f", '{"n":1}')]
    assert not reply.HasField("fault")


def test_responses_items_without_an_index_are_told_apart() -> None:
    events = [ended(0, item("a", '{"n":1}')), ended(0, item("b", '{"n":2}'))]
    reply = assembled(RESPONSES, *events, COMPLETED)
    assert calls_of(reply) == [("a", "f", '{"n":1}'), ("b", "f", '{"n":2}')]


def test_a_responses_item_that_ends_twice_is_one_part() -> None:
    reasoning = ended(0, {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"})
    text = {"type": "response.output_text.delta", "output_index": 1, "delta": "hello"}
    reply = assembled(RESPONSES, reasoning, reasoning, text, COMPLETED)
    kinds = [block.WhichOneof("block") for block in reply.messages[0].assistant_response.blocks]
    assert kinds == ["opaque", "text"]


def test_pieces_of_a_responses_call_that_neither_begins_nor_ends_are_a_call_that_was_cut() -> None:
    reply = assembled(RESPONSES, argued(0, '{"n":1}'), COMPLETED)
    assert reply.fault.kind == TRUNCATED
    assert not calls_of(reply)


SAID = {"error": {"type": "invalid_request_error", "message": "no such model"}}
GEMINI = "gemini.generate_content"


@pytest.mark.parametrize("target", [CHAT, RESPONSES, ANTHROPIC, GEMINI])
@pytest.mark.parametrize("head", [b"", b"\xef\xbb\xbf", b"\r\n "])
def test_an_error_in_place_of_a_stream_is_a_fault_in_the_providers_words(target: str, head: bytes) -> None:
    body = head + json.dumps(SAID, indent=2).encode()
    for size in (1, 5, len(body)):
        chunks = [body[at : at + size] for at in range(0, len(body), size)]
        reply = assemble(pb.AssembleOptions(target=target), decode(target, chunks))
        assert reply.fault.kind == pb.RESPONSE_FAULT_KIND_FAILED
        assert reply.fault.detail == "invalid_request_error: no such model"
        assert not reply.messages


@pytest.mark.parametrize(
    "body",
    [
        b'{"detail":"Not Found"}',
        b'{"detail":"Not Fou',
        b'{"choices":[{"message":{"content":"Not Found"},"finish_reason":"stop"}]}',
    ],
)
def test_an_object_in_place_of_a_stream_is_a_fault_that_shows_it(body: bytes) -> None:
    reply = assemble(pb.AssembleOptions(target=CHAT), decode(CHAT, [body]))
    assert reply.fault.kind == pb.RESPONSE_FAULT_KIND_FAILED
    assert body.decode() in reply.fault.detail

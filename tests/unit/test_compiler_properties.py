"""What holds for every compilation."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.compiler.v1.compiler_service_pb2 import CompileRequest
from antiphon.message.v1 import content_block_pb2, message_pb2
from antiphon_client.minimal_yaml import emit
from compiler_service.json_values import equality_key
from tests.support.compiler import CURRENT_ID, compile_inline, dump, mid, notes_of, openai_form, request_of
from tests.support.compiler_strategies import JSON_VALUES, OBJECTS, RESULTS, requests

DROPPING = {
    "EXCLUDED_DROPPED",
    "INTERIM_DROPPED",
    "GENERIC_DROPPED",
    "UNANSWERED_CALL_DROPPED",
    "RESULT_DEDUPLICATED",
    "EMPTY_DROPPED",
}


@settings(max_examples=200)
@given(requests())
def test_the_input_is_unchanged_and_the_outcome_is_the_same_again(request: CompileRequest) -> None:
    before = request.SerializeToString(deterministic=True)
    first = compile_inline(request)
    assert request.SerializeToString(deterministic=True) == before
    again = CompileRequest.FromString(before)
    assert compile_inline(again).SerializeToString() == first.SerializeToString()


@settings(max_examples=200)
@given(requests())
def test_nothing_disappears_without_a_note(request: CompileRequest) -> None:
    """Every record is a turn of its own, part of a merged turn, moved, or dropped with a note."""
    response = compile_inline(request)
    notes = notes_of(response)
    noted = {message_id for kind, ids in notes if kind in DROPPING for message_id in ids}
    merged = [ids for kind, ids in notes if kind == "ASSISTANTS_MERGED"]
    moved = {message_id for kind, ids in notes if kind == "RESULTS_MOVED" for message_id in ids}
    answered = {m.action_response.action_request_id for m in request.snapshot.messages}
    turns = 0
    for message in request.snapshot.messages:
        kind = message.WhichOneof("content")
        if message.status == message_pb2.MESSAGE_STATUS_EXCLUDED:
            assert message.id in noted
        elif kind == "action_response":
            assert message.id in noted or message.id in moved
        elif kind == "action_request":
            assert message.id in noted or message.id in answered
        elif kind in ("instruction", "assistant_response"):
            turns += message.id not in noted
        elif kind != "system":
            assert message.id in noted
    folded_away = sum(len([i for i in ids if i not in noted]) - 1 for ids in merged if set(ids) - noted)
    assert len(response.messages) == turns - folded_away + 1


@settings(max_examples=100)
@given(requests())
def test_roles_ids_and_order(request: CompileRequest) -> None:
    compiled = openai_form(compile_inline(request))
    assert compiled[-1]["role"] == "user"
    assert all(turn["content"] for turn in compiled)
    text = dump(compiled)
    for message in request.snapshot.messages:
        assert message.id not in text


def naively_equal(first: Any, second: Any) -> bool:
    """Equality of JSON values with types, written as plainly as can be."""
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, dict) and isinstance(second, dict):
        return set(first) == set(second) and all(naively_equal(first[key], second[key]) for key in first)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(naively_equal, first, second))
    if isinstance(first, (int, float)) and isinstance(second, (int, float)):
        return first == second
    return type(first) is type(second) and bool(first == second)


@settings(max_examples=500)
@given(JSON_VALUES, JSON_VALUES)
def test_equal_keys_mean_equal_values(first: Any, second: Any) -> None:
    assert (equality_key(first) == equality_key(second)) == naively_equal(first, second)
    assert equality_key(first) == equality_key(json.loads(dump(first)))


@pytest.mark.parametrize(
    ("first", "second", "equal"),
    [
        (True, 1, False),
        (False, 0, False),
        (1, 1.0, True),
        (0.0, -0.0, True),
        ("1", 1, False),
        (None, False, False),
        (None, "null", False),
        ([], {}, False),
        ({"a": 1, "b": [True]}, {"b": [True], "a": 1.0}, True),
        ({"a": 1}, {"a": 1, "b": None}, False),
        ([1, 2], [2, 1], False),
        (2**53 + 1, float(2**53), False),
        (10**22, 1e22, True),
        (10**23, 1e23, False),
        (0.1, 0.1000000000000000055, True),
        ("é", "e\u0301", False),
    ],
)
def test_equality_of_json_values(first: Any, second: Any, equal: bool) -> None:
    assert (equality_key(first) == equality_key(second)) is equal
    assert naively_equal(first, second) is equal


@settings(max_examples=200)
@given(st.lists(RESULTS, max_size=6), st.lists(OBJECTS | JSON_VALUES, max_size=3), st.randoms())
def test_results_are_deduplicated_as_a_naive_search_would(
    results: list[dict[str, Any]], context: list[Any], random: Any
) -> None:
    results = [{name: value for name, value in each.items() if name != "state"} for each in results]
    expected: list[Any] = list(context)
    if results and random.random() < 0.5:
        expected.append(projection_of(random.choice(results)))
    given_context = list(expected)
    kept, dropped = [], []
    for number, result in enumerate(results, start=1):
        projection = projection_of(result)
        if any(naively_equal(projection, item) for item in expected):
            dropped.append(mid(number))
        else:
            expected.append(projection)
            kept.append(mid(number))
    response = compile_inline(
        request_of(
            {
                "history": [{"type": "action_response", "content": result} for result in results],
                "instruction": {"instruction": "go", "prompt_context": given_context},
            }
        )
    )
    assert openai_form(response)[-1]["content"] == emit({"Instruction": "go", "Context": expected}).strip()
    notes = notes_of(response)
    assert [ids for kind, ids in notes if kind == "RESULTS_MOVED"] == ([kept] if kept else [])
    assert [ids for kind, ids in notes if kind == "RESULT_DEDUPLICATED"] == ([dropped] if dropped else [])


def projection_of(content: dict[str, Any]) -> dict[str, Any]:
    projection = {name: content.get(name) for name in ("function", "arguments", "output")}
    if "error" in content:
        projection["error"] = content["error"]
    return projection


def test_the_recorded_instruction_is_the_supplied_one_with_what_its_content_fixes() -> None:
    request = request_of(
        {
            "history": [
                {"type": "action_response", "content": {"function": "f", "arguments": {}, "output": 1}}
            ],
            "instruction": {
                "instruction": "i",
                "guidance": {"k": 1.0},
                "prompt_context": [1],
                "images": ["AAAA"],
            },
            "system": {"system_message": "s"},
            "context_blocks": [{"provider_name": "m", "content": "c"}],
            "tool_schemas": [{"a": 1}],
            "response_format": {"a": 1},
            "provider_kwargs_json": ' {"b": 1.50, "a": "\\u00e9"} ',
        }
    )
    given = request.instruction
    given.created_at.FromNanoseconds(1_234_567_890_123_456_789)
    given.role = message_pb2.ROLE_ASSISTANT
    given.sender.name = "someone"
    given.recipient.broadcast.SetInParent()
    given.channel = "c"
    given.metadata_json = '{"z": 1, "a": 2}'
    response = compile_inline(request)
    expected = message_pb2.Message()
    expected.CopyFrom(given)
    expected.role = message_pb2.ROLE_USER
    expected.instruction.image_detail = content_block_pb2.IMAGE_DETAIL_AUTO
    assert response.instruction == expected
    assert response.instruction.id == CURRENT_ID
    assert response.provider_kwargs_json == ' {"b": 1.50, "a": "\\u00e9"} '


def test_ids_and_times_are_never_invented() -> None:
    request = request_of({"instruction": {"instruction": "i"}})
    request.instruction.ClearField("id")
    response = compile_inline(request)
    assert response.instruction.id == ""
    assert not response.instruction.HasField("created_at")
    assert response.provider_kwargs_json == "{}"


def test_the_report_of_a_long_history_is_linear() -> None:
    """Neither the bytes nor the work per message grow with the history, whatever the results are."""

    def request(size: int) -> CompileRequest:
        # Numbers that share one Python hash: a set of them would be quadratic.
        outputs = [number * (2**61 - 1) for number in range(size)]
        return request_of(
            {
                "history": [
                    {
                        "type": "action_response",
                        "content": {"function": "f", "arguments": {}, "output": output},
                    }
                    for output in (*outputs, *outputs)
                ],
                "instruction": {"instruction": "go"},
            }
        )

    small, large = compile_inline(request(1000)), compile_inline(request(4000))
    for response, size in ((small, 1000), (large, 4000)):
        counts = {"RESULTS_MOVED": 0, "RESULT_DEDUPLICATED": 0}
        for kind, ids in notes_of(response):
            assert len(ids) <= 1001
            counts[kind] += len(ids)
        assert counts == {"RESULTS_MOVED": size, "RESULT_DEDUPLICATED": size}
    report_bytes = [sum(note.ByteSize() for note in response.report) for response in (small, large)]
    assert report_bytes[1] < 4.1 * report_bytes[0]


def test_a_long_conversation_reports_in_step_with_its_length() -> None:
    def report_bytes(rounds: int) -> int:
        turn: list[dict[str, Any]] = [
            {"type": "instruction", "content": {"plain_content": "p", "guidance": "g"}},
            {"type": "action_request", "content": {"function": "f", "arguments": {}}},
            {"type": "action_response", "content": {"function": "f", "arguments": {}, "output": 1}},
            {"type": "assistant_response", "content": {"assistant_response": "a"}},
            {"type": "assistant_response", "content": {"assistant_response": "b"}},
        ]
        response = compile_inline(
            request_of({"history": turn * rounds, "instruction": {"instruction": "go"}})
        )
        return sum(note.ByteSize() for note in response.report)

    assert report_bytes(400) < 4.1 * report_bytes(100)

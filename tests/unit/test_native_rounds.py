"""Which calls are of a model's round, and what becomes of those that are not."""

from __future__ import annotations

import json

from antiphon_client.openai_chat.marks import DIFFERENCE, FUNCTION_CALL, METADATA_KEY, ROLE
from tests.support.compiler import mid, notes_of
from tests.support.native import EXCLUDED, assistant, call, compile_native, mark, result, turns_of, user


def test_a_call_never_goes_before_a_user_s_turn_to_a_round_that_marks_its_id() -> None:
    history = [
        user(1, "a"),
        assistant(2, "", mark("call_0")),
        call(3, "call_0", status=EXCLUDED),
        result(4, 3, '"A"', call_id="call_0", status=EXCLUDED),
        user(5, "now b"),
        call(6, "call_0"),
        result(7, 6, '"B"'),
    ]
    response = compile_native(history)
    assert turns_of(response) == [
        ["user", "a"],
        ["user", "now b"],
        ["assistant", "call:call_0 f{}"],
        ["tool", {"call_0": ["text:B"]}],
    ]
    assert ("EMPTY_DROPPED", [mid(2)]) in notes_of(response)
    assert "HELD_BACK" not in [kind for kind, _ in notes_of(response)]


def test_a_call_behind_the_first_result_is_still_of_the_round_that_marks_it() -> None:
    history = [assistant(1, "", mark("a"), mark("b")), call(2, "a"), result(3, 2, '"A"')]
    history += [call(4, "b"), result(5, 4, '"B"')]
    assert turns_of(compile_native(history, "go"))[:3] == [
        ["assistant", "call:a f{}", "call:b f{}"],
        ["tool", {"a": ["text:A"]}],
        ["tool", {"b": ["text:B"]}],
    ]


def test_what_was_kept_beside_a_result_is_not_put_on_the_note_that_it_becomes() -> None:
    kept = json.dumps({METADATA_KEY: {ROLE: "function", DIFFERENCE: {"set": {"index": 7}}}})
    orphan = result(1, None, '"R"', metadata_json=kept)
    response = compile_native([orphan], "go", target="openai.chat")
    note = json.loads(response.provider_request_json)["messages"][0]
    assert note == {
        "role": "user",
        "content": "[Result of a call that is not in this conversation: f]\nR",
    }


def test_a_result_has_the_form_of_its_call_whoever_wrote_it() -> None:
    older = json.dumps({METADATA_KEY: {FUNCTION_CALL: True}})
    imported_result = json.dumps({METADATA_KEY: {ROLE: "function"}})
    history = [
        call(1, metadata_json=older),
        result(2, 1, '"A"'),
        user(3, "go on"),
        call(4, "c"),
        result(5, 4, '"B"', metadata_json=imported_result),
    ]
    response = compile_native(history, target="openai.chat")
    messages = json.loads(response.provider_request_json)["messages"]
    assert messages[:2] == [
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "A"},
    ]
    assert messages[4] == {"role": "tool", "tool_call_id": "c", "content": "B"}


def test_only_system_text_within_a_history_has_another_role_than_a_user_s() -> None:
    for role in ("tool", "function", "developer"):
        kept = json.dumps({METADATA_KEY: {ROLE: role}})
        response = compile_native([user(1, "a", metadata_json=kept)], target="openai.chat")
        assert json.loads(response.provider_request_json)["messages"] == [{"role": "user", "content": "a"}]

"""Field scenarios of the compiler, at the level of neutral turns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from antiphon.message.v1.message_pb2 import Message
from antiphon_client.errors import ConsecutiveInstructionsError, OpenCallsError
from antiphon_client.openai_chat import import_messages
from tests.support.compiler import compile_inline, mid, notes_of
from tests.support.native import (
    EXCLUDED,
    assistant,
    block,
    call,
    compile_native,
    mark,
    native_request,
    result,
    signed,
    summary,
    text_block,
    turns_of,
    unsigned,
    user,
)

MADE = (
    "text:No result was recorded: the call was interrupted. It may or may not have taken effect;"
    " verify before relying on either."
)


def ids(*numbers: int) -> list[str]:
    return [mid(number) for number in numbers]


def test_a_provider_id_used_again_in_a_later_round_is_another_call() -> None:
    response = compile_native(
        [
            call(1, "call_0", "read", '{"path":"a"}'),
            result(2, call_id="call_0", output='"A"'),
            user(3, "and b"),
            call(4, "call_0", "read", '{"path":"b"}'),
            result(5, call_id="call_0", output='"B"'),
        ]
    )
    assert turns_of(response) == [
        ["assistant", 'call:call_0 read{"path":"a"}'],
        ["tool", {"call_0": ["text:A"]}],
        ["user", "and b"],
        ["assistant", 'call:call_0 read{"path":"b"}'],
        ["tool", {"call_0": ["text:B"]}],
    ]
    assert notes_of(response) == []


def test_an_interrupted_old_call_is_not_answered_by_a_newer_result() -> None:
    response = compile_native(
        [
            call(1, "call_0"),
            user(2, "never mind"),
            call(3, "call_0"),
            result(4, call_id="call_0", output='"new"'),
        ]
    )
    assert turns_of(response)[1] == ["tool", {"call_0": ["error", "synthesized", MADE]}]
    assert turns_of(response)[4] == ["tool", {"call_0": ["text:new"]}]
    assert notes_of(response) == [("RESULT_SYNTHESIZED", ids(1))]


def test_merging_keeps_text_and_every_call() -> None:
    response = compile_native(
        [
            assistant(1, "thinking aloud"),
            assistant(2, "", mark("c1"), mark("c2")),
            call(3, "c1"),
            call(4, "c2"),
            result(5, 3, '"one"'),
            result(6, 4, '"two"'),
        ]
    )
    assert turns_of(response) == [
        ["assistant", "text:thinking aloud", "call:c1 f{}", "call:c2 f{}"],
        ["tool", {"c1": ["text:one"]}],
        ["tool", {"c2": ["text:two"]}],
    ]
    assert notes_of(response) == [("ASSISTANTS_MERGED", ids(1, 2))]


def test_signed_reasoning_of_two_responses_never_stands_in_one_turn() -> None:
    first = [assistant(1, "", signed("t1", "s1"), mark("c1")), call(2, "c1")]
    second = [assistant(3, "", signed("t2", "s2"), mark("c2")), call(4, "c2"), result(5, 4, '"two"')]
    assert turns_of(compile_native([*first, *second])) == [
        ["assistant", "thinking:t1 (s1)", "call:c1 f{}"],
        ["tool", {"c1": ["error", "synthesized", MADE]}],
        ["assistant", "thinking:t2 (s2)", "call:c2 f{}"],
        ["tool", {"c2": ["text:two"]}],
    ]
    late = compile_native([*first, *second, result(6, 2, '"one"')])
    assert turns_of(late)[1] == ["tool", {"c1": ["text:one"]}]
    assert notes_of(late) == [("RESULT_REORDERED", ids(6))]


def test_signed_reasoning_without_a_call_gives_way() -> None:
    response = compile_native(
        [
            assistant(1, "aloud", signed("t1", "s1")),
            assistant(2, "", signed("t2", "s2"), mark("c")),
            call(3, "c"),
            result(4, 3, "1"),
        ]
    )
    assert turns_of(response)[0] == ["assistant", "text:aloud", "thinking:t2 (s2)", "call:c f{}"]
    assert notes_of(response) == [("ASSISTANTS_MERGED", ids(1, 2)), ("THINKING_DROPPED", ids(1))]


def test_unsigned_reasoning_is_concatenated() -> None:
    response = compile_native(
        [assistant(1, "a", unsigned("x")), assistant(2, "b", unsigned("y")), user(3, "go")]
    )
    assert turns_of(response)[0] == ["assistant", "thinking:x\n\ny", "text:a", "text:b"]


def test_a_signature_holds_for_its_very_text() -> None:
    plain = block(thinking={"thinking": "x", "provider": "anthropic"})
    response = compile_native([assistant(1, "a", plain), assistant(2, "b", signed("y"), plain)], "go")
    assert turns_of(response)[0] == ["assistant", "thinking:x\n\nx", "text:a", "thinking:y (sig)", "text:b"]


def test_parallel_results_follow_in_the_order_of_the_calls() -> None:
    calls = [assistant(1, "", mark("a"), mark("b"), mark("c")), call(2, "a"), call(3, "b"), call(4, "c")]
    response = compile_native([*calls, result(5, 4, "3"), result(6, 2, "1"), result(7, 3, "2")])
    assert turns_of(response) == [
        ["assistant", "call:a f{}", "call:b f{}", "call:c f{}"],
        ["tool", {"a": ["json:1"]}],
        ["tool", {"b": ["json:2"]}],
        ["tool", {"c": ["json:3"]}],
    ]
    assert notes_of(response) == [("RESULT_REORDERED", ids(5))]


def test_calls_stored_with_their_results_between_are_one_round_where_it_is_marked() -> None:
    response = compile_native(
        [
            assistant(1, "both", mark("a"), mark("b")),
            call(2, "a"),
            result(3, 2, "1"),
            call(4, "b"),
            result(5, 4, "2"),
        ]
    )
    assert turns_of(response) == [
        ["assistant", "text:both", "call:a f{}", "call:b f{}"],
        ["tool", {"a": ["json:1"]}],
        ["tool", {"b": ["json:2"]}],
    ]
    assert notes_of(response) == [("RESULT_REORDERED", ids(3))]


def test_a_dangling_call_before_a_new_instruction() -> None:
    history = [user(1, "go"), call(2, "c")]
    responses = [compile_native(history, "something else") for _ in range(2)]
    assert turns_of(responses[0]) == [
        ["user", "go"],
        ["assistant", "call:c f{}"],
        ["tool", {"c": ["error", "synthesized", MADE]}],
        ["user", "something else"],
    ]
    assert notes_of(responses[0]) == [("RESULT_SYNTHESIZED", ids(2))]
    assert responses[0].SerializeToString() == responses[1].SerializeToString()
    folded = native_request([user(1, "go"), call(2, "c"), user(3, "on")], "else")
    folded.ClearField("profile")
    with pytest.raises(ConsecutiveInstructionsError):
        compile_inline(folded)


@pytest.mark.parametrize("after", [[], [user(4, "also y")], [result(5, 2, "1", state=2)]])
def test_a_continuation_with_open_calls_lists_them(after: list[Message]) -> None:
    history = [user(1, "go"), call(2, "c"), call(3, "d"), *after]
    with pytest.raises(OpenCallsError) as caught:
        compile_native(history)
    assert isinstance(caught.value, ValueError)
    assert caught.value.metadata == {"message_ids": ",".join(ids(2, 3)), "message_ids_count": "2"}


def test_a_continuation_makes_up_for_the_open_calls_of_earlier_rounds() -> None:
    response = compile_native([call(1, "c"), user(2, "go"), call(3, "d"), result(4, 3, "1")])
    assert notes_of(response) == [("RESULT_SYNTHESIZED", ids(1))]
    assert [turn[0] for turn in turns_of(response)] == ["assistant", "tool", "user", "assistant", "tool"]


def test_what_a_user_says_between_call_and_result_is_held_back() -> None:
    history = [
        call(1, "c"),
        user(2, "also check y"),
        user(3, "policy", sender={"role": 2}),
        result(4, 1, '"r"'),
        assistant(5, "done"),
    ]
    response = compile_native(history)
    assert turns_of(response) == [
        ["assistant", "call:c f{}"],
        ["tool", {"c": ["text:r"]}],
        ["user", "also check y"],
        ["user", "[System]\npolicy"],
        ["assistant", "done"],
    ]
    assert notes_of(response) == [("SYSTEM_TEXT_AS_USER", ids(3)), ("HELD_BACK", ids(2, 3))]


def test_what_was_held_back_comes_before_the_next_response() -> None:
    response = compile_native([call(1, "c"), user(2, "x"), assistant(3, "ok"), result(4, 1, "1")])
    assert [turn[0] for turn in turns_of(response)] == ["assistant", "tool", "user", "assistant"]
    assert notes_of(response) == [("RESULT_REORDERED", ids(4))]


def test_a_result_before_its_call_is_moved_behind_it() -> None:
    response = compile_native([user(1, "go"), result(2, 3, "1"), call(3, "c")])
    assert turns_of(response)[1:] == [["assistant", "call:c f{}"], ["tool", {"c": ["json:1"]}]]
    assert notes_of(response) == [("RESULT_REORDERED", ids(2))]


def test_an_orphan_becomes_a_note_and_a_duplicate_goes() -> None:
    response = compile_native(
        [
            user(1, "go"),
            call(2, "c"),
            result(3, 2, '"first"'),
            result(4, 2, '"second"'),
            result(5, call_id="c", output='"third"'),
            result(6, 99, '{"k": 1}', call_id="x", name="g"),
            result(7, call_id="y", error="broken", name=""),
        ]
    )
    assert turns_of(response)[2:] == [
        ["tool", {"c": ["text:first"]}],
        ["user", '[Result of a call that is not in this conversation: g (x)]\n{"k": 1}'],
        ["user", "[Result of a call that is not in this conversation: unknown (y)]\nbroken"],
    ]
    assert notes_of(response) == [
        ("DUPLICATE_RESULT_DROPPED", ids(4, 5)),
        ("ORPHAN_RESULT_NOTED", ids(6, 7)),
    ]


def test_numbers_and_the_order_of_keys_are_those_of_the_text() -> None:
    arguments = '{"n":1,"id":9007199254740993, "z":1.50,"a":2}'
    response = compile_native([call(1, "c", arguments=arguments), result(2, 1, '{"raw":1.0,"parsed":[ ]}')])
    assert turns_of(response) == [
        ["assistant", f"call:c f{arguments}"],
        ["tool", {"c": ['json:{"raw":1.0,"parsed":[ ]}']}],
    ]


def test_the_prefix_keeps_its_bytes_when_a_turn_is_added() -> None:
    history = [user(1, "a"), assistant(2, "b", mark("c")), call(3, "c"), result(4, 3, "1"), assistant(5, "d")]
    question = user(6, "e", guidance="g")
    before = compile_native(history, question, context_blocks=[{"provider_name": "p", "content": "x"}])
    after = compile_native([*history, question, assistant(7, "f")], "g")
    earlier = [each.SerializeToString() for each in before.messages]
    later = [each.SerializeToString() for each in after.messages]
    assert later[: len(earlier) - 1] == earlier[:-1]
    # Measured: retrieved context lasts for one call, so that the turn it stood before changes.
    assert later[len(earlier) - 1] != earlier[-1]
    without = compile_native(history, question)
    assert [each.SerializeToString() for each in without.messages] == later[: len(earlier)]


def test_system_text_within_a_foreign_history_stays_in_its_place() -> None:
    imported = import_messages(
        [
            {"role": "system", "content": "one"},
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": "b"},
            {"role": "developer", "content": "two"},
            {"role": "user", "content": "c"},
        ],
        seed="s",
    )
    request = native_request(imported.messages)
    assert imported.system is not None
    request.snapshot.system.CopyFrom(imported.system)
    response = compile_inline(request)
    assert response.system_text == "one"
    assert turns_of(response) == [["user", "a"], ["assistant", "b"], ["user", "[System]\ntwo"], ["user", "c"]]
    assert notes_of(response) == [("SYSTEM_TEXT_AS_USER", [imported.messages[2].id])]


def test_a_rejected_answer_is_left_out_and_what_was_executed_stays() -> None:
    response = compile_native(
        [
            user(1, "a"),
            call(2, "c"),
            result(3, 2, "1"),
            assistant(4, "blocked", status=EXCLUDED),
            user(5, "b"),
        ]
    )
    assert turns_of(response) == [
        ["user", "a"],
        ["assistant", "call:c f{}"],
        ["tool", {"c": ["json:1"]}],
        ["user", "b"],
    ]
    assert notes_of(response) == [("EXCLUDED_DROPPED", ids(4))]


def test_an_empty_answer_with_a_call_has_no_text() -> None:
    response = compile_native([assistant(1, "", mark("c")), call(2, "c"), result(3, 2, "1")])
    assert turns_of(response)[0] == ["assistant", "call:c f{}"]
    assert notes_of(response) == []


def test_a_wholly_empty_turn_is_skipped_and_its_neighbours_looked_at_again() -> None:
    response = compile_native(
        [
            assistant(1, "a"),
            user(2, " \n"),
            assistant(3, ""),
            assistant(4, "b", text_block("")),
            user(5, "go"),
        ]
    )
    assert turns_of(response) == [["assistant", "text:a", "text:b"], ["user", "go"]]
    assert notes_of(response) == [
        ("EMPTY_DROPPED", ids(2)),
        ("ASSISTANTS_MERGED", ids(1, 4)),
        ("EMPTY_PART_DROPPED", ids(4)),
        ("EMPTY_DROPPED", ids(3)),
    ]


def test_a_blank_result_stays() -> None:
    response = compile_native([call(1, "c"), call(2, "d"), result(3, 1, '""'), result(4, 2, '" \\n"')])
    assert turns_of(response)[1:] == [["tool", {"c": ["text:"]}], ["tool", {"d": ["text: \n"]}]]


@pytest.mark.parametrize("text", ["", '""', "[]", "null", '{"a":'])
def test_arguments_that_are_no_object_never_stop_a_compilation(text: str) -> None:
    response = compile_native([call(1, "c", arguments_text=text), result(2, 1, "1")])
    compiled = response.messages[0].parts.parts[0].tool_call
    assert (compiled.arguments_json, compiled.arguments_text) == ("{}", text)


def test_signatures_and_opaque_parts_stay_byte_for_byte_before_the_call() -> None:
    redacted: dict[str, Any] = {
        "provider": "anthropic",
        "model": "m",
        "kind": "redacted_thinking",
        "data_json": '{"data": "x\\u00e9"}',
    }
    record = assistant(1, "", signed("", "c2ln"), mark("c"))
    record.assistant_response.blocks.insert(1, block(opaque=redacted))
    response = compile_native([record, call(2, "c"), result(3, 2, "1")])
    thinking, opaque, called = response.messages[0].parts.parts
    assert thinking.thinking == signed("", "c2ln").thinking
    assert (opaque.opaque.data_json, opaque.opaque.provider) == (redacted["data_json"], "anthropic")
    assert called.tool_call.id == "c"


def test_only_the_first_of_parallel_calls_bears_a_signature() -> None:
    response = compile_native(
        [
            call(1, "a", thought_signature="s"),
            call(2, "b"),
            result(3, 1, "1"),
            result(4, 2, "2"),
        ]
    )
    first, second = (part.tool_call for part in response.messages[0].parts.parts)
    assert first.thought_signature == "s"
    assert not second.HasField("thought_signature")


def test_nul_and_the_text_of_its_escape_are_two_things() -> None:
    response = compile_native(
        [call(1, "c"), call(2, "d"), result(3, 1, '"a\\u0000b"'), result(4, 2, '"a\\\\u0000b"')]
    )
    assert turns_of(response)[1:] == [["tool", {"c": ["text:a\0b"]}], ["tool", {"d": ["text:a\\u0000b"]}]]


def test_compaction_leaves_a_summary_at_the_head() -> None:
    response = compile_native([user(5, "go"), assistant(6, "ok"), summary(7, "before", 1, 4)], "on")
    assert turns_of(response)[:2] == [["user", "[Conversation summary]\nbefore"], ["user", "go"]]
    assert notes_of(response) == [("SUMMARY_MOVED", ids(7))]


def test_real_conversations_need_no_repair(shared_data: Path) -> None:
    """Every message of every conversation becomes one turn, and nothing is to be reported."""
    transcripts = sorted(shared_data.rglob("*.jsonl"))
    assert transcripts
    for line in [line for path in transcripts for line in path.read_text("utf-8").splitlines()]:
        messages = json.loads(line)["messages"]
        imported = import_messages(messages, seed="s")
        request = native_request(imported.messages)
        if imported.system is not None:
            request.snapshot.system.CopyFrom(imported.system)
        response = compile_inline(request)
        assert notes_of(response) == []
        said = [each["role"] for each in messages if each["role"] != "system"]
        assert [turn[0] for turn in turns_of(response)] == said

"""What single records become in NATIVE."""

from __future__ import annotations

import json
from typing import Any

import pytest

from antiphon.compiler.v1 import compiled_message_pb2
from antiphon.compiler.v1.compiler_service_pb2 import PlanWindowRequest
from antiphon.message.v1.content_block_pb2 import ContentBlock
from antiphon.message.v1.message_pb2 import Message
from antiphon_client.errors import FieldInvalidError, ProgressionInvalidError, UnsupportedContentError
from antiphon_client.openai_chat.marks import DIFFERENCE, METADATA_KEY
from compiler_service.compilation import CompileSource, compile_turn
from compiler_service.tokens.counter import Estimate
from compiler_service.windows import plan_window
from tests.support.compiler import SYSTEM_ID, compile_inline, mid, notes_of
from tests.support.native import (
    EXCLUDED,
    INTERIM,
    INTERRUPTED,
    assistant,
    block,
    call,
    compile_native,
    generic,
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

URL = "https://example.com/a.png"
CACHED = block(text={"text": "c", "cache_control": {"type": "ephemeral", "ttl": "1h"}})
OPAQUE = block(opaque={"provider": "openai", "model": "m", "kind": "reasoning", "data_json": "{}"})
PICTURE = block(image={"mime_type": "image/png", "data": b"\x89P"})
UNKNOWN = ContentBlock.FromString(b"\x7a\x00")


def ids(*numbers: int) -> list[str]:
    return [mid(number) for number in numbers]


@pytest.mark.parametrize(
    ("fields", "parts", "notes"),
    [
        ({"text": " raw\n"}, [" raw\n"], []),
        ({"plain_content": " plain "}, [" plain "], []),
        ({"text": "t", "guidance": "g"}, ["Guidance: g\nInstruction: t"], []),
        ({"text": "t", "guidance_json": '{"k": 1}'}, ["Guidance:\n  k: 1\nInstruction: t"], []),
        ({"text": "t", "prompt_context_json": ['"c"', "1"]}, ["Instruction: t\nContext:\n- c\n- 1"], []),
        ({"text": "t", "images": [URL]}, ["text:t", f"image:{URL}"], []),
        ({"images": ["/9j/"]}, ["image:data:image/jpeg;base64,/9j/"], []),
        ({"text": " ", "images": [URL]}, [f"image:{URL}"], ["EMPTY_PART_DROPPED"]),
        (
            {"text": "t", "plain_content": "p", "guidance": "g", "prompt_context_json": ["1"]},
            ["p"],
            ["GUIDANCE_NOT_RENDERED", "INSTRUCTION_NOT_RENDERED", "PROMPT_CONTEXT_NOT_RENDERED"],
        ),
        ({"blocks": [text_block("a")]}, ["a"], []),
        (
            {"blocks": [text_block("a"), PICTURE, CACHED, block(json={"value_json": "[1]"}), OPAQUE]},
            ["text:a", "image:image/png b'\\x89P'", "text:c <ephemeral>", "json:[1]", "opaque:{}"],
            [],
        ),
        ({"blocks": [CACHED]}, ["text:c <ephemeral>"], []),
        ({"blocks": [block(image={"url": URL})]}, [f"image:{URL}"], []),
        (
            {"blocks": [text_block("a")], "guidance": "g", "prompt_context_json": ["1"]},
            ["text:Guidance: g\nContext:\n- 1", "text:a"],
            [],
        ),
        (
            {"blocks": [text_block("a")], "text": "t", "plain_content": "p", "images": [URL]},
            ["a"],
            ["PART_DROPPED"] * 3,
        ),
        ({"blocks": [text_block("a"), text_block(" ")]}, ["a"], ["EMPTY_PART_DROPPED"]),
        (
            {"blocks": [text_block("a"), block(text={"text": "", "cache_control": {"type": "x"}})]},
            ["a"],
            ["EMPTY_PART_DROPPED", "CACHE_MARK_DROPPED"],
        ),
        ({"blocks": [text_block("a"), unsigned("x"), mark("c")]}, ["a"], ["PART_DROPPED"] * 2),
    ],
)
def test_an_instruction(fields: dict[str, Any], parts: list[str], notes: list[str]) -> None:
    """It renders the same in the history and as the request's own."""
    history = compile_native([user(1, **fields)])
    assert turns_of(history) == [["user", *parts]]
    assert notes_of(history) == [(kind, ids(1)) for kind in notes]
    own = compile_native([], user(1, **fields))
    assert own.messages == history.messages
    assert notes_of(own) == [(kind, []) for kind in notes]


def test_reasons_say_what_exactly_was_left_out() -> None:
    response = compile_native([user(1, "t", blocks=[text_block("a"), unsigned("x")], images=[URL])])
    assert [note.reason for note in response.report] == [
        "a part has no place here: instruction beside blocks",
        "a part has no place here: images beside blocks",
        "a part has no place here: thinking in a user's turn",
    ]


@pytest.mark.parametrize(
    ("record", "parts", "notes"),
    [
        (assistant(1, "a\n"), ["a\n"], []),
        (assistant(1, "a", text_block("a")), ["a"], []),
        (assistant(1, "", text_block("a"), text_block("b")), ["text:a", "text:b"], []),
        (assistant(1, "ab", text_block("a"), text_block("b")), ["text:a", "text:b"], []),
        (assistant(1, "a\nb", text_block("a"), text_block("b")), ["text:a", "text:b"], []),
        (assistant(1, "a\n\nb", text_block("a"), text_block("b")), ["text:a", "text:b"], []),
        (assistant(1, "edited", text_block("a"), unsigned("x"), text_block("b")),
         ["text:edited", "thinking:x"], ["PART_DROPPED"]),
        (assistant(1, "a", signed("x"), OPAQUE), ["thinking:x (sig)", "opaque:{}", "text:a"], []),
        (assistant(1, "a", unsigned(" ")), ["a"], ["EMPTY_PART_DROPPED"]),
        (assistant(1, "a", PICTURE), ["image:image/png b'\\x89P'", "text:a"], []),
        (assistant(1, "a", mark("gone")), ["a"], ["PART_DROPPED"]),
        (assistant(1, "", CACHED), ["text:c <ephemeral>"], []),
    ],
)  # fmt: skip
def test_a_response(record: Message, parts: list[str], notes: list[str]) -> None:
    response = compile_native([record], "go")
    assert turns_of(response)[0] == ["assistant", *parts]
    assert notes_of(response) == [(kind, ids(1)) for kind in notes]


@pytest.mark.parametrize(
    ("fields", "content", "notes"),
    [
        ({"output": '"text"'}, ["text:text"], []),
        ({"output": ' "te\\u00e9xt" '}, ["text:teéxt"], []),
        ({"output": ' {"a": 1.0} '}, ['json: {"a": 1.0} '], []),
        ({"output": "null"}, ["json:null"], []),
        ({}, ["json:null"], []),
        ({"error": "broken"}, ["error", "text:broken"], []),
        ({"error": ""}, ["error", "text:"], []),
        ({"error": "broken", "output": "1"}, ["error", "text:broken", "json:1"], []),
        ({"blocks": [PICTURE]}, ["image:image/png b'\\x89P'"], []),
        ({"blocks": [block(image={"url": URL})]}, [f"image: '{URL}'"], []),
        ({"output": '"ab"', "blocks": [text_block("a"), PICTURE, text_block("b")]},
         ["text:a", "image:image/png b'\\x89P'", "text:b"], []),
        ({"output": '"c"', "blocks": [text_block("a")]}, ["text:c", "text:a"], []),
        ({"output": '""', "blocks": [PICTURE]}, ["image:image/png b'\\x89P'"], []),
        ({"output": "1", "blocks": [CACHED, block(json={"value_json": "2"})]},
         ["json:1", "text:c <ephemeral>", "json:2"], []),
        ({"blocks": [OPAQUE]}, ["opaque:{}"], []),
        ({"blocks": [unsigned("a")]}, ["json:null"], ["PART_DROPPED"]),
    ],
)  # fmt: skip
def test_a_result(fields: dict[str, Any], content: list[str], notes: list[str]) -> None:
    response = compile_native([call(1, "c"), result(2, 1, fields.pop("output", None), **fields)])
    assert turns_of(response)[1] == ["tool", {"c": content}]
    assert notes_of(response) == [(kind, ids(2)) for kind in notes]
    compiled = response.messages[1].parts.parts[0].tool_result
    assert (compiled.message_id, compiled.name) == (mid(2), "f")


def test_an_orphan_keeps_its_picture() -> None:
    response = compile_native([result(1, output="1", call_id="x", blocks=[PICTURE])])
    head = "text:[Result of a call that is not in this conversation: f (x)]"
    assert turns_of(response) == [["user", head, "json:1", "image:image/png b'\\x89P'"]]


def test_where_calls_stand() -> None:
    response = compile_native(
        [
            assistant(1, "", text_block("a"), mark("c2"), text_block("b"), mark("", "g"), mark("c1")),
            call(2, "c1"),
            call(3, "c2"),
            call(4, name="g"),
            call(5, "c5"),
            *[result(number + 10, number, "1") for number in (3, 4, 2, 5)],
        ]
    )
    assert turns_of(response)[0] == [
        "assistant",
        "text:a",
        "call:c2 f{}",
        "text:b",
        f"call:{mid(4)} g{{}}",
        "call:c1 f{}",
        "call:c5 f{}",
    ]
    assert [list(turn[1]) for turn in turns_of(response)[1:]] == [["c2"], [mid(4)], ["c1"], ["c5"]]
    assert notes_of(response) == []


def test_calls_of_merged_responses_stand_with_their_own() -> None:
    response = compile_native(
        [
            call(1, "c0"),
            assistant(2, "a"),
            call(3, "c1"),
            assistant(4, "b"),
            call(5, "c2"),
            *[result(number + 10, number, "1") for number in (1, 3, 5)],
        ]
    )
    assert turns_of(response)[0] == [
        "assistant",
        "call:c0 f{}",
        "text:a",
        "call:c1 f{}",
        "text:b",
        "call:c2 f{}",
    ]


def test_calls_of_one_round_with_one_id_are_told_apart() -> None:
    response = compile_native(
        [
            call(1, "c", arguments='{"n":1}'),
            call(2, "c", arguments='{"n":2}'),
            result(3, call_id="c", output='"one"'),
            result(4, call_id="c", output='"two"'),
        ]
    )
    assert turns_of(response) == [
        ["assistant", 'call:c f{"n":1}', f'call:{mid(2)} f{{"n":2}}'],
        ["tool", {"c": ["text:one"]}],
        ["tool", {mid(2): ["text:two"]}],
    ]
    assert notes_of(response) == [("CALL_ID_MAPPED", ids(2))]


def test_the_first_of_two_calls_with_one_id_takes_the_first_position() -> None:
    response = compile_native(
        [
            assistant(1, "", mark("c"), text_block("t"), mark("c")),
            call(2, "c", "first"),
            call(3, "c", "second"),
            result(4, 2, "1"),
            result(5, 3, "2"),
        ]
    )
    assert turns_of(response)[0] == ["assistant", "call:c first{}", "text:t", f"call:{mid(3)} second{{}}"]
    assert notes_of(response) == [("CALL_ID_MAPPED", ids(3))]


def test_records_own_links_count_before_the_providers_ids() -> None:
    response = compile_native(
        [
            call(1, "c"),
            call(2, "c", action_response_id=mid(5)),
            result(3, call_id="c", output='"by id"'),
            result(4, 1, '"by record"'),
            result(5, call_id="c", output='"linked"'),
        ]
    )
    assert [turn[1] for turn in turns_of(response)[1:]] == [
        {"c": ["text:by record"]},
        {mid(2): ["text:linked"]},
    ]
    assert ("DUPLICATE_RESULT_DROPPED", ids(3)) in notes_of(response)


def test_a_result_that_names_a_call_which_is_not_selected_takes_no_other() -> None:
    response = compile_native(
        [call(1, "c"), user(2, "x"), call(3, "c", status=EXCLUDED), result(4, 3, "1", call_id="c")], "go"
    )
    assert notes_of(response) == [
        ("EXCLUDED_DROPPED", ids(3)),
        ("ORPHAN_RESULT_NOTED", ids(4)),
        ("RESULT_SYNTHESIZED", ids(1)),
    ]


@pytest.mark.parametrize("by_id", [False, True])
def test_news_on_the_way_counts_until_the_outcome_is_there(by_id: bool) -> None:
    def answer(number: int, output: str, **fields: Any) -> Message:
        link: dict[str, Any] = {"call_id": "c"} if by_id else {"of": 1}
        return result(number, output=output, **link, **fields)

    news = [call(1, "c"), answer(2, "1", state=INTERIM), answer(3, "2", state=INTERIM)]
    running = compile_native(news, "and?")
    assert turns_of(running)[1] == ["tool", {"c": ["json:2"]}]
    assert notes_of(running) == [("DUPLICATE_RESULT_DROPPED", ids(2))]
    done = compile_native([*news, answer(4, "3")])
    assert turns_of(done)[1] == ["tool", {"c": ["json:3"]}]
    assert notes_of(done) == [("INTERIM_DROPPED", ids(2, 3))]


def test_generic_and_interrupted_records() -> None:
    response = compile_native(
        [
            assistant(1, "a", status=INTERRUPTED),
            generic(2),
            assistant(3, "b"),
            user(4, "go", status=INTERRUPTED),
        ],
        user(9, "on", status=INTERRUPTED),
    )
    assert turns_of(response)[0] == ["assistant", "text:a", "text:b"]
    assert notes_of(response) == [
        ("INTERRUPTED_KEPT", ids(1, 4)),
        ("GENERIC_DROPPED", ids(2)),
        ("ASSISTANTS_MERGED", ids(1, 3)),
        ("INTERRUPTED_KEPT", []),
    ]


def test_an_interrupted_call_is_noted() -> None:
    response = compile_native(
        [user(1, "q"), call(2, "c", status=INTERRUPTED), result(3, 2, "1")], user(9, "on", status=INTERRUPTED)
    )
    assert notes_of(response)[0] == ("INTERRUPTED_KEPT", ids(2))


@pytest.mark.parametrize(
    "records",
    [
        [user(1, blocks=[UNKNOWN])],
        [assistant(1, "a", UNKNOWN)],
        [call(2, "c"), result(1, 2, "1", blocks=[UNKNOWN])],
        [result(1, 9, "1", blocks=[UNKNOWN])],
    ],
)
def test_a_block_of_an_unknown_kind_is_refused(records: list[Message]) -> None:
    # A branch holds what a newer writer stored; inline it is refused before.
    with pytest.raises(UnsupportedContentError) as caught:
        compile_turn(native_request([], "go"), CompileSource(None, records))
    assert caught.value.metadata == {"message_ids": mid(1), "message_ids_count": "1"}


@pytest.mark.parametrize(
    "first",
    [user(1, blocks=[UNKNOWN]), assistant(1, "a", UNKNOWN), result(1, 9, "1", blocks=[UNKNOWN])],
)
def test_all_messages_with_a_block_of_an_unknown_kind_are_listed(first: Message) -> None:
    others = [user(2, "a"), assistant(3, "b", text_block("b"), UNKNOWN), call(4, "c")]
    others += [result(5, 4, "1", blocks=[UNKNOWN]), user(6, blocks=[UNKNOWN])]
    records = [first, *others]
    with pytest.raises(UnsupportedContentError) as caught:
        compile_turn(native_request([], "go"), CompileSource(None, records))
    assert caught.value.metadata["message_ids"] == ",".join(ids(1, 3, 5, 6))
    assert f"{mid(1)} (and 3 more)" in str(caught.value)


def test_a_plan_lists_all_messages_with_a_block_of_an_unknown_kind() -> None:
    records = [assistant(1, "a", UNKNOWN), call(2, "c"), result(3, 2, "1", blocks=[UNKNOWN])]
    with pytest.raises(UnsupportedContentError) as caught:
        plan_window(PlanWindowRequest(budget_tokens=1), CompileSource(None, records), Estimate())
    assert caught.value.metadata["message_ids"] == ",".join(ids(1, 3))


def test_notes_of_one_kind_with_and_without_a_detail_keep_their_own_reasons() -> None:
    history = [call(1, "c"), call(2, "c"), call(3, "c 3")]
    history += [result(4, 1, "1"), result(5, 2, "2"), result(6, 3, "3")]
    response = compile_native(history, "go", target="anthropic.messages")
    kinds = compiled_message_pb2.CompileNoteKind
    reasons = [n.reason for n in response.report if n.kind == kinds.COMPILE_NOTE_KIND_CALL_ID_MAPPED]
    plain = "the id cannot stand here; call and result bear another"
    assert reasons == [f"{plain}: a call beside it has it too", plain]


def test_the_summary_heads_the_history() -> None:
    head = compile_native([summary(7, "s", 1, 4), user(5, "a")])
    assert turns_of(head)[0] == ["user", "[Conversation summary]\ns"]
    assert notes_of(head) == []
    covered = compile_native([user(1, "a"), summary(7, "s", 1, 4)], "go")
    assert turns_of(covered) == [["user", "a"], ["user", "go"]]
    assert notes_of(covered) == [("SUMMARY_DROPPED", ids(7))]


def test_a_selection_holds_one_summary() -> None:
    with pytest.raises(ProgressionInvalidError) as caught:
        compile_native([summary(7, "s", 1, 4), summary(8, "t", 5, 6)], "go")
    assert caught.value.metadata == {"summaries": ",".join(ids(7, 8)), "summaries_count": "2"}


def test_system_text_travels_beside() -> None:
    response = compile_native([user(1, "a")], system="policy")
    assert response.system_text == "policy"
    assert turns_of(response) == [["user", "a"]]
    assert compile_native([user(1, "a")], system="").HasField("system_text")
    assert not compile_native([user(1, "a")]).HasField("system_text")
    request = native_request([user(1, "a")], system="policy")
    request.snapshot.system.status = EXCLUDED
    response = compile_inline(request)
    assert not response.HasField("system_text")
    assert notes_of(response) == [("EXCLUDED_DROPPED", [SYSTEM_ID])]


def test_context_goes_in_front_of_the_own_turn() -> None:
    block_of_context = {"provider_name": "p", "content": 'c"'}
    response = compile_native([user(1, "a")], "b", context_blocks=[block_of_context])
    section = '[{"content":"c\\"","provider_name":"p"}]'
    section = f"LIONAGI_CONTEXT_BLOCKS_JSON\n{section}\nEND_LIONAGI_CONTEXT_BLOCKS_JSON"
    assert turns_of(response) == [["user", "a"], ["user", f"text:{section}", "text:b"]]
    assert response.instruction.instruction.instruction == "b"


def test_tools_and_formats_enter_no_text() -> None:
    plain = compile_native([user(1, "a")], "b")
    request_fields: dict[str, Any] = {
        "tool_schemas_json": ['{"name":"f"}'],
        "response_format": {"example_json": "{}"},
    }
    assert compile_native([user(1, "a")], "b", **request_fields).messages == plain.messages


@pytest.mark.parametrize(
    ("instruction", "path"),
    [
        (user(9), "instruction"),
        (user(9, ""), "instruction.instruction.instruction"),
        (user(9, " \n"), "instruction.instruction.instruction"),
        (user(9, blocks=[text_block(" ")]), "instruction.instruction.blocks"),
        (user(9, guidance=""), "instruction"),
    ],
)
def test_an_instruction_that_says_nothing_is_refused(instruction: Message, path: str) -> None:
    with pytest.raises(FieldInvalidError) as caught:
        compile_native([user(1, "a")], instruction)
    assert [violation.field for violation in caught.value.violations] == [path]


def test_a_continuation_needs_a_history() -> None:
    for history in ([], [user(1, " ")], [generic(1)]):
        with pytest.raises(FieldInvalidError) as caught:
            compile_native(history)
        assert [violation.field for violation in caught.value.violations] == ["instruction"]
    response = compile_native([assistant(1, "a")])
    assert turns_of(response) == [["assistant", "a"]]
    assert not response.HasField("instruction")


def test_a_continuation_takes_no_context() -> None:
    with pytest.raises(FieldInvalidError) as caught:
        compile_native([user(1, "a")], context_blocks=[{"provider_name": "p", "content": "c"}])
    assert [violation.field for violation in caught.value.violations] == ["context_blocks"]


def test_record_ids_travel_beside_the_parts() -> None:
    response = compile_native([call(1, "c"), result(2, 1, "1")])
    assert response.messages[0].parts.parts[0].tool_call.message_id == mid(1)
    assert response.messages[1].parts.parts[0].tool_result.message_id == mid(2)


def test_what_was_kept_beside_a_call_goes_back_to_the_call_alone() -> None:
    kept = json.dumps({METADATA_KEY: {DIFFERENCE: {"set": {"index": 7}}}})
    for history in (
        [call(1, "c", metadata_json=kept)],
        [assistant(3, "x"), call(1, "c", metadata_json=kept)],
    ):
        response = compile_native([*history, result(2, 1, "1")], "go", target="openai.chat")
        message = json.loads(response.provider_request_json)["messages"][0]
        assert "index" not in message
        assert message["tool_calls"][0]["index"] == 7


def test_a_result_behind_the_next_round_s_response_has_moved() -> None:
    history = [call(1, "a"), call(2, "b"), result(3, 1, "1")]
    history += [assistant(4, "x"), result(5, 2, "2"), call(6, "c"), result(7, 6, "3")]
    response = compile_native(history, "go")
    assert notes_of(response) == [("RESULT_REORDERED", ids(5))]

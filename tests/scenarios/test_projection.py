"""The compiler's field scenarios, for every target they apply to: what is stored comes out right."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from antiphon.compiler.v1.compiler_service_pb2 import PROFILE_FOLDED, CompileResponse
from antiphon.compiler.v1.target_pb2 import TargetOptions
from antiphon.message.v1.message_pb2 import Message
from antiphon_client.errors import FieldInvalidError, OpenCallsError
from antiphon_client.openai_chat import import_messages
from tests.support.compiler import compile_inline, notes_of
from tests.support.native import (
    assistant,
    block,
    call,
    compile_native,
    mark,
    native_request,
    result,
    signed,
    unsigned,
    user,
)
from tests.support.projection import TARGETS
from tests.support.projection_rules import check_rules
from tests.support.provider_types import check_request

ANTHROPIC, GEMINI, OLLAMA, CHAT, RESPONSES = TARGETS


def compile_for(
    target: str, messages: Sequence[Message], instruction: str | None = "go", **fields: Any
) -> tuple[dict[str, Any], CompileResponse]:
    """Compile for a target; the request's types and the rules of order are checked on the way."""
    flags = fields.pop("flags", [])
    options = TargetOptions(model="m", flags=flags)
    response = compile_native(messages, instruction, target=target, target_options=options, **fields)
    body = json.loads(response.provider_request_json)
    # What this switch adds is no part of the providers' own types.
    if "reasoning_echo" not in flags:
        check_request(target, response.provider_request_json)
    check_rules(target, body)
    return body, response


def steps_of(target: str, body: dict[str, Any]) -> list[str]:
    """Return what a request says, step by step."""
    return [kind for kind, _, _ in check_rules(target, body)]


def kinds_of(response: CompileResponse) -> set[str]:
    return {kind for kind, _ in notes_of(response)}


def result_texts(target: str, body: dict[str, Any]) -> list[str]:
    """Return the texts of the results, in order."""
    if target == ANTHROPIC:
        blocks = [
            each
            for message in body["messages"]
            if isinstance(message["content"], list)
            for each in message["content"]
        ]
        return [each["content"] for each in blocks if each["type"] == "tool_result"]
    if target == GEMINI:
        parts = [part for content in body["contents"] for part in content["parts"]]
        return [
            part["functionResponse"]["response"]["result"] for part in parts if "functionResponse" in part
        ]
    if target == RESPONSES:
        return [item["output"] for item in body["input"] if item["type"] == "function_call_output"]
    return [message["content"] for message in body["messages"] if message["role"] == "tool"]


every_target = pytest.mark.parametrize("target", TARGETS)

TWO_ROUNDS = [
    user(1, "hi"),
    assistant(2),
    call(3, "call_0", "read", '{"f":"a"}'),
    result(4, 3, '"A"', call_id="call_0", name="read"),
    user(5, "and b"),
    assistant(6),
    call(7, "call_0", "read", '{"f":"b"}'),
    result(8, 7, '"B"', call_id="call_0", name="read"),
]
PARALLEL = [
    user(1, "hi"),
    assistant(2, "thinking aloud"),
    assistant(3),
    call(4, "c1"),
    call(5, "c2"),
    call(6, "c3"),
    result(7, 6, '"three"'),
    result(8, 4, '"one"'),
    result(9, 5, '"two"'),
]


@every_target
def test_provider_id_reused_in_a_later_round(target: str) -> None:
    body, _ = compile_for(target, TWO_ROUNDS)
    assert result_texts(target, body) == ["A", "B"]
    if target != OLLAMA:
        # Anthropic takes an id once in a request.
        assert json.dumps(body).count('"call_0"') == (2 if target == ANTHROPIC else 4)
    if target in (ANTHROPIC, GEMINI, CHAT, RESPONSES):
        unique, response = compile_for(target, TWO_ROUNDS, flags=["unique_call_ids"])
        calls = [call_id for kind, call_id, _ in check_rules(target, unique) if kind == "call"]
        assert calls[0] == "call_0"
        assert calls[1] != "call_0"
        assert "CALL_ID_MAPPED" in kinds_of(response)
        assert compile_for(target, TWO_ROUNDS, flags=["unique_call_ids"])[0] == unique


@every_target
def test_merging_keeps_text_and_calls_and_results_stay_apart(target: str) -> None:
    body, response = compile_for(target, PARALLEL)
    assert steps_of(target, body) == ["user", "assistant", *["call"] * 3, *["result"] * 3, "user"]
    assert "thinking aloud" in json.dumps(body)
    assert {"ASSISTANTS_MERGED", "RESULT_REORDERED"} <= kinds_of(response)


@every_target
def test_parallel_results(target: str) -> None:
    body, _ = compile_for(target, PARALLEL)
    assert result_texts(target, body) == ["one", "two", "three"]
    if target == ANTHROPIC:
        assert [each["type"] for each in body["messages"][2]["content"]] == [*["tool_result"] * 3, "text"]
    if target == GEMINI:
        assert [list(part) for part in body["contents"][2]["parts"]] == [["functionResponse"]] * 3


@every_target
def test_results_with_an_image_and_guidance_after(target: str) -> None:
    image = block(image={"mime_type": "image/png", "data": b"\x89"})
    messages = [user(1, "hi"), assistant(2), call(3, "c"), result(4, 3, '"seen"', blocks=[image])]
    body, response = compile_for(target, messages, "use it")
    assert result_texts(target, body)[0] == "seen" or target == RESPONSES
    shown = "iQ==" in json.dumps(body)
    assert shown == (target in (ANTHROPIC, GEMINI, RESPONSES))
    assert shown != ("PART_DROPPED" in kinds_of(response))


@every_target
def test_dangling_call_then_a_new_instruction(target: str) -> None:
    messages = [user(1, "hi"), assistant(2), call(3, "c1")]
    body, response = compile_for(target, messages, "never mind")
    assert steps_of(target, body) == ["user", "call", "result", "user"]
    assert "RESULT_SYNTHESIZED" in kinds_of(response)
    assert compile_for(target, messages, "never mind")[1] == response
    with pytest.raises(OpenCallsError) as raised:
        compile_for(target, messages, None)
    assert raised.value.metadata["message_ids"] == messages[2].id


@every_target
def test_user_text_between_call_and_result(target: str) -> None:
    messages = [user(1, "hi"), assistant(2), call(3, "c1"), user(4, "also check y"), result(5, 3, '"r"')]
    body, response = compile_for(target, messages, None)
    assert steps_of(target, body) == ["user", "call", "result", "user"]
    assert "also check y" in json.dumps(body)
    assert {"HELD_BACK"} <= kinds_of(response)


@every_target
def test_numbers_and_key_order_survive(target: str) -> None:
    arguments = '{"n":1,"id":9007199254740993,"f":1.50,"b":0,"a":0}'
    messages = [
        user(1, "hi"),
        assistant(2),
        call(3, "c1", "f", arguments),
        result(4, 3, '{"raw":1.0,"parsed":2}'),
    ]
    _, response = compile_for(target, messages)
    written = response.provider_request_json
    assert (arguments if target in (ANTHROPIC, GEMINI, OLLAMA) else json.dumps(arguments)) in written
    output = '{"raw":1.0,"parsed":2}'
    assert (output if target == GEMINI else json.dumps(output)) in written


@every_target
def test_prefix_stays_when_messages_follow(target: str) -> None:
    key = "contents" if target == GEMINI else "input" if target == RESPONSES else "messages"
    former: list[Any] = []
    for end in (1, 4, 5, 8):
        body, _ = compile_for(target, TWO_ROUNDS[:end], None)
        assert body[key][: len(former)] == former
        # The last turn may still grow where turns of one role are one.
        former = body[key][:-1] if target in (ANTHROPIC, GEMINI) else body[key]


@every_target
def test_system_text_in_the_middle_of_a_foreign_history(target: str) -> None:
    history = import_messages(
        [
            {"role": "system", "content": "first"},
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "hello"},
            {"role": "system", "content": "second"},
            {"role": "user", "content": "go on"},
        ],
        seed="x",
    )
    body, response = compile_for(target, history.messages, None)
    assert "SYSTEM_TEXT_AS_USER" in kinds_of(response)
    written = json.dumps(body)
    assert written.index("hello") < written.index("second") < written.index("go on")
    if target == CHAT:
        assert body["messages"][2] == {"role": "system", "content": "second"}


@every_target
def test_empty_text_parts_leave_no_filler(target: str) -> None:
    messages = [
        user(1, "hi"),
        assistant(2, "", block(text={"text": ""}), mark("c1")),
        call(3, "c1"),
        result(4, 3, '""'),
        assistant(5, " "),
        user(6, "more"),
    ]
    body, _ = compile_for(target, messages, None)
    assert steps_of(target, body) == ["user", "call", "result", "user"]
    assert '" "' not in json.dumps(body)
    assert result_texts(target, body) == [""]


@every_target
@pytest.mark.parametrize("arguments", ["", '""', "[]", '{"a":'])
def test_arguments_that_are_no_object(target: str, arguments: str) -> None:
    broken = call(3, "c1")
    broken.action_request.arguments_text = arguments
    _, response = compile_for(target, [user(1, "hi"), assistant(2), broken, result(4, 3, '"r"')])
    is_text = target in (CHAT, RESPONSES)
    if arguments != '{"a":':
        assert ('"arguments":"{}"' if is_text else ":{}") in response.provider_request_json
        assert "ARGUMENTS_WRAPPED" in kinds_of(response)
    else:
        assert json.dumps(arguments) in response.provider_request_json
        assert ("ARGUMENTS_WRAPPED" in kinds_of(response)) != is_text


def test_ollama_shapes() -> None:
    image = block(image={"mime_type": "image/png", "data": b"\x89"})
    asked = user(1, None, blocks=[block(text={"text": "look"}), image, block(text={"text": "closely"})])
    body, _ = compile_for(
        OLLAMA, [asked, assistant(2, "ok"), call(3, "c1", "f", '{"a":1}'), result(4, 3, '"r"')]
    )
    assert body["messages"][:3] == [
        {"role": "user", "content": "look\nclosely", "images": ["iQ=="]},
        {
            "role": "assistant",
            "content": "ok",
            "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}],
        },
        {"role": "tool", "tool_name": "f", "content": "r"},
    ]


@every_target
def test_signatures_go_back_to_their_issuer_only(target: str) -> None:
    redacted = '{"type":"redacted_thinking","data":"abc="}'
    messages = [
        user(1, "hi"),
        assistant(
            2,
            "",
            signed("", "c2ln", "anthropic"),
            block(opaque={"provider": "anthropic", "kind": "redacted_thinking", "data_json": redacted}),
            mark("c1"),
        ),
        call(3, "c1"),
        result(4, 3, '"r"'),
    ]
    body, response = compile_for(target, messages, None)
    if target == ANTHROPIC:
        assert [each["type"] for each in body["messages"][1]["content"]] == [
            "thinking",
            "redacted_thinking",
            "tool_use",
        ]
        assert body["messages"][1]["content"][0] == {"type": "thinking", "thinking": "", "signature": "c2ln"}
        assert redacted in response.provider_request_json
    else:
        assert "c2ln" not in response.provider_request_json
        assert "abc=" not in response.provider_request_json
        assert {"THINKING_DROPPED", "PART_DROPPED"} & kinds_of(response)


def test_gemini_signs_the_first_of_parallel_calls() -> None:
    messages = [
        user(1, "hi"),
        assistant(2),
        call(3, "c1", thought_signature="c2ln"),
        call(4, "c2"),
        call(5, "c3"),
        *[result(6 + number, 3 + number, '"r"') for number in range(3)],
    ]
    body, _ = compile_for(GEMINI, messages, None)
    assert ["thoughtSignature" in part for part in body["contents"][1]["parts"]] == [True, False, False]


@pytest.mark.parametrize(("target", "key"), [(CHAT, "reasoning_content"), (OLLAMA, "thinking")])
def test_plain_reasoning_is_echoed_where_it_must_be(target: str, key: str) -> None:
    messages = [
        user(1, "hi"),
        assistant(2, "A", unsigned("old")),
        user(3, "more"),
        assistant(4, "A"),
        assistant(5, "", unsigned("new"), mark("c1")),
        call(6, "c1"),
        result(7, 6, '"r"'),
        assistant(8, "", mark("c2")),
        call(9, "c2"),
        result(10, 9, '"r"'),
    ]
    body, _ = compile_for(target, messages, None, flags=["reasoning_echo"])
    spoken = [message.get(key) for message in body["messages"] if message["role"] == "assistant"]
    assert spoken == [None, "new", ""]
    assert key not in json.dumps(compile_for(target, messages, None)[0])


@every_target
def test_nul_and_what_looks_like_it(target: str) -> None:
    said = "a\x00b \\u0000"
    messages = [user(1, said), assistant(2, said), call(3, "c1"), result(4, 3, json.dumps(said))]
    body, _ = compile_for(target, messages, said)
    assert result_texts(target, body) == [said]
    assert str(body).count(repr(said)[1:-1]) == 4


@every_target
def test_history_that_begins_with_an_assistant(target: str) -> None:
    body, response = compile_for(target, [assistant(1, "Hello, how can I help?")])
    opens = target in (ANTHROPIC, GEMINI)
    assert steps_of(target, body) == (["user"] if opens else []) + ["assistant", "user"]
    assert ("OPENING_TURN_MADE" in kinds_of(response)) == opens


@every_target
def test_history_that_ends_with_an_assistant_is_continued_or_refused(target: str) -> None:
    messages = [user(1, "hi"), assistant(2, "I was say")]
    if target in (ANTHROPIC, OLLAMA):
        body, _ = compile_for(target, messages, None)
        assert steps_of(target, body) == ["user", "assistant"]
    else:
        with pytest.raises(FieldInvalidError):
            compile_for(target, messages, None)


@every_target
def test_result_without_its_call_is_a_users_note(target: str) -> None:
    body, response = compile_for(
        target, [user(1, "hi"), assistant(2, "ok"), result(3, None, '"lost"', call_id="c9")]
    )
    assert "result" not in steps_of(target, body)
    assert "lost" in json.dumps(body)
    assert "ORPHAN_RESULT_NOTED" in kinds_of(response)


@every_target
def test_folded_goes_to_every_target(target: str) -> None:
    messages = [user(1, "hi"), assistant(2, "ok"), call(3, "c1"), result(4, 3, '"r"'), assistant(5, "done")]
    request = native_request(
        messages, "go", target=target, target_options=TargetOptions(model="m"), system="be"
    )
    request.profile = PROFILE_FOLDED
    response = compile_inline(request)
    body = check_request(target, response.provider_request_json)
    assert steps_of(target, body) == ["user", "assistant", "user"]
    assert response.messages[0].text in str(body) or json.dumps(response.messages[0].text)[
        1:-1
    ] in json.dumps(body)
    assert response.capability_version

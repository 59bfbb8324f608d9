"""What records an Anthropic conversation becomes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.anthropic_messages import METADATA_KEY, ImportedConversation, NoteKind, import_messages

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
CALL = {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 2**70, "b": [None]}}


def one(message: dict[str, Any]) -> pb.Message:
    """Return the only record of a message."""
    [record] = import_messages([message]).messages
    return record


def rounds(*results: dict[str, Any], calls: list[dict[str, Any]] | None = None) -> ImportedConversation:
    return import_messages(
        [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": calls or [CALL]},
            {"role": "user", "content": list(results)},
        ]
    )


def metadata(record: pb.Message) -> Any:
    return json.loads(record.metadata_json)[METADATA_KEY] if record.metadata_json else None


def test_a_users_text_goes_to_the_instruction_as_it_is() -> None:
    record = one({"role": "user", "content": " a\r\n"})
    assert (record.instruction.instruction, list(record.instruction.blocks)) == (" a\r\n", [])
    assert record.metadata_json == ""


def test_a_users_blocks_stay_in_order() -> None:
    text = {"type": "text", "text": "b", "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    document = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "d"}}
    conversation = import_messages([{"role": "user", "content": [IMAGE, text, document]}])
    image, said, whole = conversation.messages[0].instruction.blocks
    assert (image.image.mime_type, image.image.data) == ("image/png", b"hi")
    mark = said.text.cache_control
    assert (said.text.text, mark.type, mark.ttl) == ("b", "ephemeral", "1h")
    assert (whole.opaque.provider, whole.opaque.kind) == ("anthropic", "document")
    assert json.loads(whole.opaque.data_json) == document
    assert conversation.messages[0].instruction.instruction == ""
    assert [(note.kind, note.path) for note in conversation.notes] == [
        (NoteKind.PART_NOT_SHOWN, "messages[0].content[2]")
    ]


def test_thinking_is_signed_by_its_issuer_and_redacted_thinking_kept_whole() -> None:
    redacted = {"type": "redacted_thinking", "data": ""}
    content = [
        {"type": "thinking", "thinking": "", "signature": "sg"},
        redacted,
        {"type": "text", "text": "a"},
        CALL,
        {"type": "text", "text": "b"},
    ]
    turn, call = import_messages([{"role": "assistant", "content": content}]).messages
    blocks = turn.assistant_response.blocks
    assert [block.WhichOneof("block") for block in blocks] == [
        "thinking",
        "opaque",
        "text",
        "tool_call",
        "text",
    ]
    thinking = blocks[0].thinking
    assert (thinking.thinking, thinking.signature, thinking.provider) == ("", "sg", "anthropic")
    assert (blocks[1].opaque.kind, json.loads(blocks[1].opaque.data_json)) == ("redacted_thinking", redacted)
    assert (blocks[3].tool_call.id, blocks[3].tool_call.name) == ("t1", "f")
    assert turn.assistant_response.assistant_response == "ab"
    assert turn.recipient.role == pb.ROLE_USER
    request = call.action_request
    assert (request.function, request.provider_call_id) == ("f", "t1")
    assert request.arguments_json == '{"a":1180591620717411303424,"b":[null]}'
    assert call.metadata_json == ""


def test_an_unsigned_thought_is_kept_and_noted() -> None:
    conversation = import_messages(
        [{"role": "assistant", "content": [{"type": "thinking", "thinking": "x"}]}]
    )
    [block] = conversation.messages[0].assistant_response.blocks
    assert (block.thinking.thinking, block.thinking.HasField("signature")) == ("x", False)
    assert [note.kind for note in conversation.notes] == [NoteKind.PART_NOT_SHOWN]


@pytest.mark.parametrize(
    ("result", "output", "error", "kinds"),
    [
        ({"content": '{"a": 1.0}'}, '"{\\"a\\": 1.0}"', None, []),
        ({"content": ""}, '""', None, []),
        ({}, '""', None, []),
        ({"content": [{"type": "text", "text": "a"}, IMAGE]}, '"a"', None, ["text", "image"]),
        ({"content": [{"type": "tool_reference", "tool_name": "g"}]}, '""', None, ["opaque"]),
        ({"content": "no", "is_error": True}, "", "no", []),
        ({"content": "no", "is_error": False}, '"no"', None, []),
        ({"is_error": True}, "", "", []),
        ({"content": [{"type": "text", "text": "a"}, IMAGE], "is_error": True}, "", "a", ["image"]),
        ({"content": [IMAGE], "is_error": True}, "", "", ["image"]),
        ({"content": "a", "cache_control": {"type": "ephemeral"}}, '"a"', None, ["text"]),
    ],
)
def test_a_result(result: dict[str, Any], output: str, error: str | None, kinds: list[str]) -> None:
    *_, call, answer = rounds({"type": "tool_result", "tool_use_id": "t1", **result}).messages
    response = answer.action_response
    assert (response.output_json, response.HasField("output_json")) == (output, error is None)
    assert (response.error if response.HasField("error") else None) == error
    assert [block.WhichOneof("block") for block in response.blocks] == kinds
    assert (response.action_request_id, response.provider_call_id) == (call.id, "t1")
    assert (response.function, response.arguments_json) == ("f", call.action_request.arguments_json)


def test_what_a_user_says_beside_results_stays_in_its_place() -> None:
    answer = {"type": "tool_result", "tool_use_id": "t1", "content": "r"}
    kinds = [
        record.WhichOneof("content")
        for record in rounds({"type": "text", "text": "a"}, answer, {"type": "text", "text": "b"}).messages[
            3:
        ]
    ]
    assert kinds == ["instruction", "action_response", "instruction"]


def test_results_answer_the_calls_of_the_nearest_round() -> None:
    answer = {"type": "tool_result", "tool_use_id": "t1", "content": "r"}
    messages: list[dict[str, Any]] = []
    for _ in range(2):
        messages += [
            {"role": "assistant", "content": [CALL, CALL]},
            {"role": "user", "content": [answer] * 2},
        ]
    records = import_messages(messages).messages
    calls = [record.id for record in records if record.HasField("action_request")]
    answered = [
        record.action_response.action_request_id for record in records if record.HasField("action_response")
    ]
    assert answered == calls


def test_a_result_without_a_call_is_kept_and_noted() -> None:
    answer = {"type": "tool_result", "tool_use_id": "t9", "content": "r"}
    conversation = rounds({**answer, "tool_use_id": "t1"}, answer)
    response = conversation.messages[-1].action_response
    assert (response.HasField("action_request_id"), response.output_json) == (False, '"r"')
    assert [(note.kind, note.path) for note in conversation.notes] == [
        (NoteKind.RESULT_UNCORRELATED, "messages[2].content[1]")
    ]


def test_arguments_that_are_no_object_are_kept_as_text() -> None:
    conversation = import_messages([{"role": "assistant", "content": [{**CALL, "input": [1.0]}]}])
    request = conversation.messages[1].action_request
    assert (request.arguments_text, request.arguments_json) == ("[1.0]", "")
    assert [note.kind for note in conversation.notes] == [NoteKind.ARGUMENTS_NOT_OBJECT]


def test_the_system_text_is_the_system_record() -> None:
    blocks = [
        {"type": "text", "text": "a\n", "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "b"},
    ]
    for system, text in (("a", "a"), (blocks, "a\n\n\nb"), ([], "")):
        record = import_messages([], system=system).system  # type: ignore[arg-type]
        assert record is not None
        assert record.system.system_message == text
        assert (record.sender.role, record.recipient.role) == (pb.ROLE_SYSTEM, pb.ROLE_ASSISTANT)
    assert import_messages([]).system is None


def test_system_text_among_the_messages_stays_in_its_place() -> None:
    conversation = import_messages(
        [
            {"role": "user", "content": "a"},
            {"role": "system", "content": "be"},
            {"role": "user", "content": "b"},
        ]
    )
    assert [record.instruction.instruction for record in conversation.messages] == ["a", "be", "b"]
    assert [record.sender.role for record in conversation.messages] == [0, pb.ROLE_SYSTEM, 0]
    assert [(note.kind, note.path) for note in conversation.notes] == [
        (NoteKind.SYSTEM_IN_PLACE, "messages[1]")
    ]


def test_what_is_not_modelled_travels_in_metadata() -> None:
    call = {**CALL, "cache_control": {"type": "ephemeral"}}
    turn, request = import_messages([{"role": "assistant", "content": [call], "id": "msg_1"}]).messages
    assert metadata(turn) == {"message": {"set": {"id": "msg_1"}}}
    assert metadata(request) == {"block": {"set": {"cache_control": {"type": "ephemeral"}}}}


def test_a_seed_makes_the_same_records() -> None:
    messages = [{"role": "assistant", "content": [CALL]}]
    one, same, other = (import_messages(messages, system="s", seed=seed).records for seed in "aab")
    assert [record.SerializeToString() for record in one] == [record.SerializeToString() for record in same]
    assert not {record.id for record in one} & {record.id for record in other}


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (1, "messages[0]: must be an object"),
        ({}, "messages[0].role: is required"),
        ({"role": "user"}, "messages[0].content: is required"),
        ({"role": "user", "content": None}, "messages[0].content: must be text or a list of blocks"),
        ({"role": "tool", "content": "x"}, "messages[0].role: 'tool' is not a role"),
        ({"role": "user", "content": ["x"]}, "messages[0].content[0]: must be an object"),
        ({"role": "user", "content": [{"text": "x"}]}, "messages[0].content[0].type: is required"),
        ({"role": "user", "content": [{"type": "text"}]}, "messages[0].content[0].text: is required"),
        (
            {"role": "user", "content": [{"type": "image"}]},
            "messages[0].content[0].source: must be an object",
        ),
        ({"role": "user", "content": [CALL]}, "messages[0].content[0].type: a user calls no tools"),
        (
            {"role": "user", "content": [{"type": "tool_result"}]},
            "messages[0].content[0].tool_use_id: is requir",
        ),
        (
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": {}}]},
            "messages[0].content[0].content: must be text or a list of blocks",
        ),
        (
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [1]}]},
            "messages[0].content[0].content[0]: must be an object",
        ),
        (
            {"role": "assistant", "content": [{"type": "tool_result", "tool_use_id": "t"}]},
            "messages[0].content[0].type: an assistant gives no results",
        ),
        (
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t"}]},
            "messages[0].content[0].name: is required",
        ),
        (
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "x", "signature": 1}]},
            "messages[0].content[0].signature: must be text",
        ),
        (
            {"role": "user", "content": [{"type": "text", "text": "\ud800"}]},
            "messages[0].content[0].text: ",
        ),
        (
            {"role": "assistant", "content": [{**CALL, "input": {"x": float("nan")}}]},
            "messages[0].content[0].input.x: ",
        ),
    ],
)
def test_what_is_no_message_is_refused_with_its_path(message: Any, error: str) -> None:
    with pytest.raises(ValueError) as raised:  # noqa: PT011
        import_messages([message])
    assert str(raised.value).startswith(error)


@pytest.mark.parametrize(
    ("system", "error"),
    [
        (1, "system: must be text or a list of text blocks"),
        ([{"type": "image"}], "system[0].type: must be 'text'"),
        ([{"type": "text"}], "system[0].text: is required"),
        ("\ud800", "system: "),
        ([{"type": "text", "text": "a", "x": float("inf")}], "system[0].x: "),
    ],
)
def test_what_is_no_system_text_is_refused_with_its_path(system: Any, error: str) -> None:
    with pytest.raises(ValueError) as raised:  # noqa: PT011
        import_messages([], system=system)
    assert str(raised.value).startswith(error)

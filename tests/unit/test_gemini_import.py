"""What records a Gemini conversation becomes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.gemini_contents import ImportedConversation, NoteKind, import_contents

CALL = {"functionCall": {"name": "f", "args": {"a": 2**70}}}
RESULT = {"functionResponse": {"name": "f", "response": {"result": "r"}}}


def said(*parts: dict[str, Any], role: str = "user") -> ImportedConversation:
    return import_contents([{"role": role, "parts": list(parts)}])


def rounds(*turns: tuple[list[dict[str, Any]], list[dict[str, Any]]]) -> list[pb.Message]:
    contents: list[dict[str, Any]] = []
    for calls, results in turns:
        contents += [{"role": "model", "parts": calls}, {"role": "user", "parts": results}]
    return list(import_contents(contents).messages)


def pairs(records: list[pb.Message]) -> list[int | None]:
    """Return which call each result answers, by number."""
    calls = [record.id for record in records if record.HasField("action_request")]
    return [
        calls.index(record.action_response.action_request_id)
        if record.action_response.HasField("action_request_id")
        else None
        for record in records
        if record.HasField("action_response")
    ]


def named(name: str, call_id: str | None = None) -> dict[str, Any]:
    return {"functionCall": {"name": name, **({} if call_id is None else {"id": call_id})}}


def answer(name: str, call_id: str | None = None) -> dict[str, Any]:
    given = {} if call_id is None else {"id": call_id}
    return {"functionResponse": {"name": name, "response": {}, **given}}


def test_a_users_text_goes_to_the_instruction() -> None:
    [record] = said({"text": " a\n"}).messages
    assert (record.instruction.instruction, record.metadata_json) == (" a\n", "")


def test_a_users_parts_stay_in_order() -> None:
    audio = {"inlineData": {"mimeType": "audio/wav", "data": "aGk="}}
    conversation = said(
        {"text": "a"},
        {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
        {"fileData": {"mimeType": "image/png", "fileUri": "https://example.org/a.png"}},
        {"fileData": {"mimeType": "image/png", "fileUri": "gs://bucket/a.png"}},
        audio,
    )
    blocks = conversation.messages[0].instruction.blocks
    assert [block.WhichOneof("block") for block in blocks] == ["text", "image", "image", "opaque", "opaque"]
    assert (blocks[1].image.data, blocks[2].image.url) == (b"hi", "https://example.org/a.png")
    opaque = blocks[4].opaque
    assert (opaque.provider, opaque.kind, json.loads(opaque.data_json)) == ("gemini", "inlineData", audio)
    assert [note.path for note in conversation.notes] == ["contents[0].parts[3]", "contents[0].parts[4]"]


def test_a_models_parts() -> None:
    image = {"inlineData": {"mimeType": "image/png", "data": "aGk="}, "thoughtSignature": "c2ln"}
    turn, call = said(
        {"text": "t", "thought": True, "thoughtSignature": "AAAA"},
        {"text": "a", "thoughtSignature": "BBBB"},
        {**CALL, "thoughtSignature": "CCCC"},
        {"text": "", "thoughtSignature": "DDDD"},
        image,
        role="model",
    ).messages
    blocks = turn.assistant_response.blocks
    thoughts = [
        (each.thinking.thinking, each.thinking.signature) for each in (blocks[0], blocks[2], blocks[4])
    ]
    assert thoughts == [("t", "AAAA"), ("", "BBBB"), ("", "DDDD")]
    assert {blocks[number].thinking.provider for number in (0, 2, 4)} == {"gemini"}
    assert (blocks[1].text.text, turn.assistant_response.assistant_response) == ("a", "a")
    assert (blocks[3].tool_call.name, blocks[3].tool_call.thought_signature) == ("f", "CCCC")
    assert json.loads(blocks[5].opaque.data_json) == image
    request = call.action_request
    assert (request.function, request.thought_signature) == ("f", "CCCC")
    assert request.arguments_json == '{"a":1180591620717411303424}'
    assert not request.HasField("provider_call_id")


def test_an_unsigned_thought_is_kept_and_noted() -> None:
    conversation = said({"text": "t", "thought": True}, role="model")
    [block] = conversation.messages[0].assistant_response.blocks
    assert (block.thinking.thinking, block.thinking.HasField("signature")) == ("t", False)
    assert [note.kind for note in conversation.notes] == [NoteKind.PART_NOT_SHOWN]


@pytest.mark.parametrize(
    ("response", "output"),
    [
        ({"result": "r"}, '"r"'),
        ({"result": {"a": 1.0}}, '{"result":{"a":1.0}}'),
        ({"result": "r", "more": 1}, '{"result":"r","more":1}'),
        ({"error": "no"}, '{"error":"no"}'),
        ({}, "{}"),
        (None, "{}"),
    ],
)
def test_a_result(response: dict[str, Any] | None, output: str) -> None:
    *_, result = rounds(([CALL], [{"functionResponse": {"name": "f", "response": response}}]))
    assert (result.action_response.output_json, result.action_response.function) == (output, "f")


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        # Without ids: by name, first in first out.
        ([([named("f"), named("g"), named("f")], [answer("g"), answer("f"), answer("f")])], [1, 0, 2]),
        # In the nearest round.
        ([([named("f")], [answer("f")]), ([named("f")], [answer("f")])], [0, 1]),
        ([([named("f")], [answer("g")]), ([named("f")], [answer("f"), answer("f")])], [None, 1, 0]),
        # By ids.
        ([([named("f", "i"), named("f", "j")], [answer("f", "j"), answer("f", "i")])], [1, 0]),
        # A result without an id answers a call with one, and one with an id a call without.
        ([([named("f", "i")], [answer("f")])], [0]),
        ([([named("f")], [answer("f", "i")])], [0]),
        # Another call's id is no name.
        ([([named("f", "i")], [answer("f", "j")])], [None]),
        # Each call is answered once, however it is found.
        ([([named("f", "i"), named("f", "j")], [answer("f", "i"), answer("f"), answer("f")])], [0, 1, None]),
    ],
)
def test_results_find_their_calls(turns: Any, expected: list[int | None]) -> None:
    assert pairs(rounds(*turns)) == expected


def test_a_result_without_a_call_is_kept_and_noted() -> None:
    conversation = said(RESULT)
    response = conversation.messages[0].action_response
    assert (response.function, response.output_json) == ("f", '"r"')
    assert [note.kind for note in conversation.notes] == [NoteKind.RESULT_UNCORRELATED]


def test_a_results_own_parts_are_kept_and_noted() -> None:
    part = {"inlineData": {"mimeType": "image/png", "data": "aGk="}}
    result = {"functionResponse": {"name": "f", "response": {}, "parts": [part]}}
    conversation = import_contents([{"role": "model", "parts": [CALL]}, {"role": "user", "parts": [result]}])
    assert "aGk=" in conversation.messages[-1].metadata_json
    assert [(note.kind, note.path) for note in conversation.notes] == [
        (NoteKind.PART_NOT_SHOWN, "contents[1].parts[0].functionResponse.parts")
    ]


def test_snake_case_is_read_too() -> None:
    turn, call = said(
        {"text": "t", "thought": None, "thought_signature": "AAAA"},
        {"function_call": {"name": "f", "args": None}, "thought_signature": "BBBB"},
        role="model",
    ).messages
    assert turn.assistant_response.blocks[1].thinking.signature == "AAAA"
    assert call.action_request.thought_signature == "BBBB"
    [picture] = said({"inline_data": {"mime_type": "image/png", "data": "aGk="}}).messages
    assert picture.instruction.blocks[0].image.data == b"hi"


@pytest.mark.parametrize(
    ("given", "text"),
    [("a", "a"), ({"parts": [{"text": "a\n"}, {"text": "b"}], "role": "system"}, "a\n\n\nb")],
)
def test_the_system_instruction_is_the_system_record(given: Any, text: str) -> None:
    record = import_contents([], system_instruction=given).system
    assert record is not None
    assert (record.system.system_message, record.sender.role) == (text, pb.ROLE_SYSTEM)


def test_system_text_among_the_contents_stays_in_its_place() -> None:
    conversation = said({"text": "be"}, role="system")
    [record] = conversation.messages
    assert (record.instruction.instruction, record.sender.role) == ("be", pb.ROLE_SYSTEM)
    assert [note.kind for note in conversation.notes] == [NoteKind.SYSTEM_IN_PLACE]


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (1, "contents[0]: must be an object"),
        ({"role": "user"}, "contents[0].parts: is required"),
        ({"role": "user", "parts": {}}, "contents[0].parts: must be a list"),
        ({"role": "user", "parts": ["x"]}, "contents[0].parts[0]: must be an object"),
        ({"role": "user", "parts": [{}]}, "contents[0].parts[0]: holds nothing"),
        (
            {"role": "user", "parts": [{"text": "a", **CALL}]},
            "contents[0].parts[0]: holds text and functionCall",
        ),
        (
            {"role": "user", "parts": [{"inlineData": {}, "inline_data": {}}]},
            "contents[0].parts[0].inlineData: is given in two spellings",
        ),
        ({"role": "assistant", "parts": []}, "contents[0].role: 'assistant' is not a role"),
        ({"role": "user", "parts": [{"text": 1}]}, "contents[0].parts[0].text: must be text"),
        ({"role": "user", "parts": [CALL]}, "contents[0].parts[0].functionCall: a user calls no functions"),
        (
            {"role": "model", "parts": [RESULT]},
            "contents[0].parts[0].functionResponse: a model gives no results",
        ),
        (
            {"role": "model", "parts": [{"functionCall": 1}]},
            "contents[0].parts[0].functionCall: must be an object",
        ),
        (
            {"role": "model", "parts": [{"functionCall": {}}]},
            "contents[0].parts[0].functionCall.name: is required",
        ),
        (
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": []}}]},
            "contents[0].parts[0].functionCall.args: must be an object",
        ),
        (
            {"role": "model", "parts": [{"functionCall": {"name": "f", "id": 1}}]},
            "contents[0].parts[0].functionCall.id: must be text",
        ),
        (
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": "r"}}]},
            "contents[0].parts[0].functionResponse.response: must be an object",
        ),
        (
            {"role": "model", "parts": [{"text": "a", "thoughtSignature": 1}]},
            "contents[0].parts[0].thoughtSignature: must be text",
        ),
        ({"role": "user", "parts": [{"text": "\ud800"}]}, "contents[0].parts[0].text: "),
    ],
)
def test_what_is_no_content_is_refused_with_its_path(content: Any, error: str) -> None:
    with pytest.raises(ValueError) as raised:  # noqa: PT011
        import_contents([content])
    assert str(raised.value).startswith(error)


@pytest.mark.parametrize(
    "given", [1, "\ud800", {}, {"parts": [{"inlineData": {}}]}, {"parts": [{"text": 1}]}]
)
def test_what_is_no_system_instruction_is_refused_with_its_path(given: Any) -> None:
    with pytest.raises(ValueError, match=r"^systemInstruction"):
        import_contents([], system_instruction=given)

"""Forms of imported messages: put back on what they were read from, and on nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from antiphon.message.v1.message_pb2 import InstructionContent, Message, SystemContent
from antiphon_client.importing.conversation import ImportedConversation
from antiphon_client.importing.forms import join_pieces, split_pieces
from tests.support.compiler import mid
from tests.support.compiler_strategies import JSON_VALUES
from tests.support.imported import (
    ANTHROPIC,
    GEMINI,
    OPENAI,
    body_of,
    compile_imported,
    import_request,
    note_kinds,
)
from tests.support.provider_types import check_request
from tests.support.recorded_conversations import (
    EPHEMERAL,
    GEMINI_ASKED,
    HOUR,
    IMAGE,
    SIGNATURE,
    TOOL_RESULT,
    TOOL_USE,
)

CITED = {"type": "text", "text": "so", "citations": []}


def imported(*messages: dict[str, Any], system: Any = None) -> ImportedConversation:
    return import_request(ANTHROPIC, {"messages": list(messages), "system": system})


def sent(conversation: ImportedConversation, target: str = ANTHROPIC, **fields: Any) -> list[Any]:
    body = body_of(compile_imported(conversation, target, **fields))
    return list(body["messages" if target == ANTHROPIC else "contents"])


def test_an_edited_block_is_written_as_any_other() -> None:
    other = {**CITED, "text": "other", "citations": None}
    conversation = imported({"role": "user", "content": [CITED, other]})
    conversation.messages[0].instruction.blocks[0].text.text = "edited"
    assert sent(conversation)[0]["content"] == [{"type": "text", "text": "edited"}, other]


def test_equal_blocks_take_their_forms_in_order() -> None:
    content = [CITED, {"type": "text", "text": "so"}, {**CITED, "citations": None}]
    assert sent(imported({"role": "user", "content": content}))[0]["content"] == content


def test_base64_of_an_unusual_spelling_is_shown_and_comes_back() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "aGl="}
    conversation = imported({"role": "user", "content": [{"type": "image", "source": source}]})
    assert conversation.notes == ()
    assert conversation.messages[0].instruction.blocks[0].image.data == b"hi"
    assert sent(conversation)[0]["content"][0]["source"] == source


def test_a_block_that_is_left_out_passes_its_form_to_no_other() -> None:
    content = [
        {"type": "thinking", "thinking": "x"},
        {"type": "text", "text": " ", "citations": [1]},
        CITED,
        {"type": "text", "text": "end"},
    ]
    conversation = imported({"role": "user", "content": "a"}, {"role": "assistant", "content": content})
    response = compile_imported(conversation, ANTHROPIC)
    assert body_of(response)["messages"][1]["content"] == [CITED, {"type": "text", "text": "end"}]
    assert note_kinds(response) == ["EMPTY_PART_DROPPED", "THINKING_DROPPED", "DEFAULT_APPLIED"]


def test_an_edited_result_and_an_edited_call_are_written_as_any_other() -> None:
    call = {"type": "tool_use", "id": "t", "name": "f"}
    result = {"type": "tool_result", "tool_use_id": "t"}
    conversation = imported(
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
    )
    assert sent(conversation)[1:] == [
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
    ]
    *_, request, response = conversation.messages
    request.action_request.arguments_json = '{"a":1}'
    response.action_response.output_json = '"r"'
    assert sent(conversation)[1:] == [
        {"role": "assistant", "content": [{**call, "input": {"a": 1}}]},
        {"role": "user", "content": [{**result, "content": "r"}]},
    ]


def test_an_edited_system_text_is_one_block() -> None:
    blocks = [{"type": "text", "text": "a", "cache_control": HOUR}, {"type": "text", "text": "b"}]
    conversation = imported({"role": "user", "content": "q"}, system=blocks)
    assert body_of(compile_imported(conversation, ANTHROPIC))["system"] == blocks
    assert conversation.system is not None
    conversation.system.system.system_message = "edited"
    assert body_of(compile_imported(conversation, ANTHROPIC))["system"] == [
        {"type": "text", "text": "edited"}
    ]


def test_cache_marks_of_calls_and_images_count_for_the_limit() -> None:
    marked = {"type": "text", "text": "a", "cache_control": EPHEMERAL}
    calls = [{**TOOL_USE, "id": f"t{number}", "cache_control": EPHEMERAL} for number in range(3)]
    results = [{**TOOL_RESULT, "tool_use_id": f"t{number}"} for number in range(3)]
    conversation = imported(
        {"role": "user", "content": [marked]},
        {"role": "assistant", "content": calls},
        {"role": "user", "content": results},
        system=[marked],
    )
    response = compile_imported(conversation, ANTHROPIC, options={"model": "m"})
    check_request(ANTHROPIC, response.provider_request_json)
    body = body_of(response)
    assert response.provider_request_json.count("cache_control") == 4
    assert body["system"] == [{"type": "text", "text": "a"}]
    assert body["messages"][0]["content"] == [marked]
    assert all("cache_control" in call for call in body["messages"][1]["content"])
    [note] = [
        note for note, kind in zip(response.report, note_kinds(response), strict=True) if "MARK" in kind
    ]
    assert conversation.system is not None
    assert note.message_ids == [conversation.system.id]


def test_signatures_that_are_left_out_leave_their_text() -> None:
    contents = [
        GEMINI_ASKED,
        {"role": "model", "parts": [{"text": "a", "thoughtSignature": SIGNATURE}]},
        GEMINI_ASKED,
    ]
    conversation = import_request(GEMINI, {"contents": contents})
    response = compile_imported(conversation, GEMINI, options={"strip_signatures": True})
    assert body_of(response)["contents"][1] == {"role": "model", "parts": [{"text": "a"}]}
    assert note_kinds(response) == ["THINKING_DROPPED"]


def test_a_form_stays_with_its_own_format() -> None:
    conversation = imported({"role": "user", "content": [CITED], "x": 1})
    assert sent(conversation, GEMINI) == [{"role": "user", "parts": [{"text": "so"}]}]
    assert body_of(compile_imported(conversation, OPENAI))["messages"] == [{"role": "user", "content": "so"}]


def test_the_members_of_a_message_stay_with_it_whatever_result_comes_first() -> None:
    calls = [{**TOOL_USE, "id": call_id} for call_id in "ab"]
    results = [{**TOOL_RESULT, "tool_use_id": call_id} for call_id in "ba"]
    conversation = imported(
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": calls},
        {"role": "user", "content": results, "x": 1},
    )
    response = compile_imported(conversation, ANTHROPIC)
    assert body_of(response)["messages"][2] == {"role": "user", "content": results[::-1], "x": 1}
    assert note_kinds(response) == ["RESULT_REORDERED", "DEFAULT_APPLIED"]


def test_a_result_that_holds_a_document_holds_its_images_too() -> None:
    document = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "d"}}
    content = [document, IMAGE, {"type": "text", "text": "a"}]
    conversation = imported(
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [TOOL_USE]},
        {"role": "user", "content": [{**TOOL_RESULT, "content": content}]},
    )
    # The same as if the records had been written by hand.
    for record in conversation.messages:
        record.metadata_json = ""
    assert sent(conversation)[2] == {"role": "user", "content": [{**TOOL_RESULT, "content": content}]}


@pytest.mark.parametrize("target", [ANTHROPIC, GEMINI])
@given(JSON_VALUES)
def test_other_metadata_under_the_formats_key_does_no_harm(target: str, entry: Any) -> None:
    key = "anthropic_messages" if target == ANTHROPIC else "gemini_contents"
    names = ("parts", "message", "block", "blocks", "pieces")
    for found in (entry, dict.fromkeys(names, entry), {"pieces": [[1, entry], entry]}):
        metadata = json.dumps({key: found})
        record = Message(id=mid(1), instruction=InstructionContent(instruction="q"), metadata_json=metadata)
        system = Message(id=mid(2), system=SystemContent(system_message="s"), metadata_json=metadata)
        conversation = ImportedConversation(system, (record,), ())
        response = compile_imported(conversation, target, options={"model": "m"})
        check_request(target, response.provider_request_json)


@pytest.mark.parametrize("texts", [["a"], ["a\n", "", "\n\nb"], ["", ""]])
def test_pieces_are_those_that_were_joined(texts: list[str]) -> None:
    text = join_pieces(texts)
    assert split_pieces(text, [len(each) for each in texts]) == texts
    assert split_pieces(text + "x", [len(each) for each in texts]) is None
    assert split_pieces(text, []) is None

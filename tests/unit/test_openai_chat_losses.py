"""What an export as OpenAI's messages tells of what they do not say."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon_client import ActionRequest, ActionResponse, AssistantResponse, Instruction, MessageStatus
from antiphon_client.anthropic_messages import import_messages as import_anthropic
from antiphon_client.gemini_contents import import_contents
from antiphon_client.messages import ImageBlock, Message, OpaqueBlock, TextBlock, ThinkingBlock
from antiphon_client.openai_chat import export_messages, export_with_losses, import_messages
from tests.support.recorded_conversations import ANTHROPIC_BODIES, GEMINI_BODIES

PNG = ImageBlock(mime_type="image/png", data=b"\x89PNG\r\n\x1a\n")
DOCUMENT = OpaqueBlock("anthropic", "m", "document", '{"type":"document"}')


def told(*messages: Message) -> list[tuple[str, str]]:
    """Return the kind and the detail of each loss of an export."""
    exported = export_with_losses(None, messages)
    assert exported.messages == export_messages(None, messages)
    assert {loss.message_id for loss in exported.losses} <= {message.id for message in messages}
    return [(loss.kind.value, loss.detail) for loss in exported.losses]


def test_nothing_is_lost_of_plain_messages() -> None:
    call = ActionRequest.create("f", {"a": 1})
    result = ActionResponse.create(call, {"b": [1]})
    asked = Instruction.create("q", images=["https://example.org/a.png"])
    assert told(asked, AssistantResponse.create("a"), call, result) == []


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        ([ThinkingBlock("why", "seal", "anthropic"), TextBlock("a")],
         [("THINKING_DROPPED", "of anthropic"), ("SIGNATURE_DROPPED", "of thinking")]),
        ([ThinkingBlock("", "seal", "gemini"), TextBlock("a")], [("SIGNATURE_DROPPED", "of thinking")]),
        ([TextBlock("a"), DOCUMENT, DOCUMENT], [("PART_DROPPED", "anthropic document")]),
        ([TextBlock("a"), PNG], [("PART_DROPPED", "image")]),
        ([TextBlock("a")], []),
    ],
)  # fmt: skip
def test_parts_of_an_answer(blocks: list[Any], expected: list[tuple[str, str]]) -> None:
    assert told(Instruction.create("q"), AssistantResponse.create("a", blocks=blocks)) == expected


def test_pictures_of_a_user_are_said_and_documents_are_not() -> None:
    assert told(Instruction.create(blocks=[TextBlock("see"), PNG])) == []
    assert told(Instruction.create(blocks=[TextBlock("see"), DOCUMENT])) == [
        ("PART_DROPPED", "anthropic document")
    ]


def test_calls_and_results() -> None:
    call = ActionRequest.create("f", {}, thought_signature="t")
    failed = ActionResponse.create(call, error="no")
    assert told(call, failed) == [
        ("SIGNATURE_DROPPED", "of a call"),
        ("ERROR_FLAG_DROPPED", "the text begins with error:"),
    ]
    rich = ActionResponse.create(call, "seen", blocks=[TextBlock("seen"), PNG])
    assert ("PART_DROPPED", "image") in told(call, rich)
    assert ("PART_DROPPED", "text") not in told(call, rich)
    other = ActionResponse.create(call, "seen", blocks=[TextBlock("more")])
    assert ("PART_DROPPED", "text") in told(call, other)


def test_records_that_are_left_out_whole() -> None:
    excluded = AssistantResponse.create("no", blocks=[ThinkingBlock("why", "seal", "anthropic")])
    excluded.status = MessageStatus.EXCLUDED
    call = ActionRequest.create("f", {})
    interim = ActionResponse.create(call, "half", state="interim")
    assert told(excluded, call, interim) == [("EXCLUDED_DROPPED", ""), ("INTERIM_DROPPED", "")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("texts", []),
        ("thinking", ["PART_DROPPED", "SIGNATURE_DROPPED", "THINKING_DROPPED"]),
        ("thinking without words", ["SIGNATURE_DROPPED"]),
        ("failed", ["ERROR_FLAG_DROPPED"]),
        ("cached turns", ["CACHE_MARK_DROPPED", "MEMBER_DROPPED"]),
        ("a document with citations", ["MEMBER_DROPPED", "PART_DROPPED"]),
    ],
)
def test_imports_from_anthropic(body: str, expected: list[str]) -> None:
    given = ANTHROPIC_BODIES[body]
    imported = import_anthropic(given["messages"], system=given.get("system"))
    losses = export_with_losses(imported.system, imported.messages).losses
    assert sorted({loss.kind.value for loss in losses}) == expected


def test_imports_from_gemini() -> None:
    imported = import_contents(GEMINI_BODIES["a signed thought"]["contents"])
    kinds = {loss.kind.value for loss in export_with_losses(imported.system, imported.messages).losses}
    assert "SIGNATURE_DROPPED" in kinds


def test_an_import_of_openai_loses_nothing() -> None:
    parts = [
        {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}},
        {"type": "input_audio", "input_audio": {"data": "", "format": "wav"}},
    ]
    given: list[dict[str, Any]] = [
        {"role": "system", "content": "be", "name": "s"},
        {"role": "user", "content": parts, "extra": 1},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "b"}, {"type": "refusal", "refusal": "c"}],
        },
    ]
    imported = import_messages(given)
    exported = export_with_losses(imported.system, imported.messages)
    assert (exported.messages, exported.losses) == (given, ())

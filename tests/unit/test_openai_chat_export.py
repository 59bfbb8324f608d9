"""Export of branches that were written through the SDK, and of edited imports."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.errors import UnsupportedContentError
from antiphon_client.messages import (
    ActionRequest,
    ActionResponse,
    AssistantResponse,
    Instruction,
    Message,
    Summary,
    System,
    UnknownMessage,
    from_proto,
    to_proto,
)
from antiphon_client.openai_chat import export_messages, import_messages

ID = "6f1c5ad0-6c2d-4a51-9a3c-0f4e2c1b7d11"
MADE = "call_6f1c5ad06c2d4a519a3c0f4e2c1b7d11"


def exported(*messages: Message) -> list[dict[str, Any]]:
    return export_messages(None, messages)


def shown_call(call_id: str, arguments: str = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "f", "arguments": arguments}}


def user_content(**content: Any) -> Any:
    (message,) = exported(Instruction.create(**content))
    assert message["role"] == "user"
    return message["content"]


def test_a_system_record_is_the_first_message() -> None:
    system = System.create("be kind", system_datetime="2026-01-02T03:04+00:00")
    expected = {"role": "system", "content": system.rendered}
    hello = Instruction.create("hi")
    assert export_messages(system, [hello]) == [expected, {"role": "user", "content": "hi"}]
    assert export_messages(None, [hello, system]) == export_messages(system, [hello, system])


def test_an_instruction_with_text_alone_is_that_text() -> None:
    assert user_content(instruction=" raw\n") == " raw\n"
    assert user_content(plain_content="plain") == "plain"
    assert user_content(instruction="q", plain_content="plain") == "plain"
    assert user_content() == ""


def test_an_instruction_with_structure_is_its_rendering() -> None:
    structured: list[dict[str, Any]] = [
        {"guidance": "g"},
        {"context": ["c"]},
        {"guidance": {"a": 1}, "context": [1.0]},
    ]
    for content in structured:
        assert user_content(instruction="q", **content) == Instruction.create("q", **content).rendered
    images: dict[str, Any] = {"images": ["https://example.com/a.png", "aGk="], "image_detail": "high"}
    parts = user_content(instruction="q", **images)
    assert parts == Instruction.create("q", **images).rendered
    assert [part["type"] for part in parts] == ["text", "image_url", "image_url"]


def test_blocks_are_parts_without_what_is_no_content() -> None:
    blocks = [
        {"type": "text", "text": "a"},
        {"type": "thinking", "thinking": "hm"},
        {"type": "image", "mime_type": "image/png", "data": "aGk=", "detail": "low"},
        {"type": "json", "value_json": '{"n": 1.0e1}'},
        {"type": "opaque", "provider": "openai", "model": "", "kind": "reasoning", "data_json": "{}"},
    ]
    assert user_content(instruction="shadowed", blocks=blocks) == [
        {"type": "text", "text": "a"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk=", "detail": "low"}},
        {"type": "text", "text": '{"n": 1.0e1}'},
    ]
    assert user_content(instruction="q", blocks=[{"type": "thinking", "thinking": "hm"}]) == "q"


def test_another_providers_parts_are_not_openais() -> None:
    (record,) = import_messages([{"role": "user", "content": [{"type": "text", "text": "a"}]}]).messages
    opaque = {"type": "opaque", "provider": "p", "model": "", "kind": "k", "data_json": "{}"}
    typed = from_proto(record)
    typed.update(blocks=[*typed.content.blocks, opaque])
    assert exported(typed) == [{"role": "user", "content": [{"type": "text", "text": "a"}]}]


def test_requests_join_the_turn_before_them() -> None:
    turn = AssistantResponse.create("on it")
    first = ActionRequest.create("f", '{"n": 1.0e1}', provider_call_id="a")
    second = ActionRequest.create("f", id=ID)
    assert exported(turn, first, second) == [
        {
            "role": "assistant",
            "content": "on it",
            "tool_calls": [shown_call("a", '{"n": 1.0e1}'), shown_call(MADE)],
        }
    ]
    assert len(MADE) <= 40


def test_requests_without_a_turn_get_one() -> None:
    request = ActionRequest.create("f", id=ID)
    response = ActionResponse.create(request, "done")
    expected = [
        {"role": "assistant", "content": None, "tool_calls": [shown_call(MADE)]},
        {"role": "tool", "tool_call_id": MADE, "content": "done"},
    ]
    assert exported(request, response) == expected
    again = ActionRequest.create("f", provider_call_id="b")
    assert exported(request, response, again)[2]["tool_calls"] == [shown_call("b")]


def test_a_response_without_its_request_gets_a_call() -> None:
    request = ActionRequest.create("f", {"a": 1}, id=ID)
    response = ActionResponse.create(request, "done")
    expected = [
        {"role": "assistant", "content": None, "tool_calls": [shown_call(MADE, '{"a":1}')]},
        {"role": "tool", "tool_call_id": MADE, "content": "done"},
    ]
    assert exported(response) == expected
    uncorrelated = ActionResponse({"function": "f", "arguments": {"a": 1}, "output": "done"}, id=ID)
    assert exported(uncorrelated) == expected


def test_a_response_takes_the_id_of_its_request() -> None:
    request = ActionRequest.create("f", provider_call_id="a")
    response = ActionResponse({"function": "f", "request_id": request})
    assert exported(request, response)[1]["tool_call_id"] == "a"


@pytest.mark.parametrize(
    ("output", "error", "content"),
    [
        ("", None, ""),
        ("text", None, "text"),
        ({"a": [1, 2**70, 1.5]}, None, '{"a":[1,1180591620717411303424,1.5]}'),
        (0, None, "0"),
        (None, None, "null"),
        (None, "no disk", "error: no disk"),
        ("partial", "", "error: "),
    ],
)
def test_outputs_and_errors_are_text(output: Any, error: str | None, content: str) -> None:
    request = ActionRequest.create("f")
    messages = exported(request, ActionResponse.create(request, output, error=error))
    assert messages[1]["content"] == content


def test_an_output_keeps_its_spelling() -> None:
    content = pb.ActionResponseContent(function="f", output_json='{ "n":1.0e1 }', provider_call_id="a")
    assert (
        export_messages(None, [pb.Message(id=ID, action_response=content)])[1]["content"] == '{ "n":1.0e1 }'
    )


@pytest.mark.parametrize("text", ["{'a': 1}", ""])
def test_malformed_arguments_are_the_original_text(text: str) -> None:
    (message,) = exported(ActionRequest.create("f", text, provider_call_id="a"))
    assert message["tool_calls"] == [shown_call("a", text)]


def test_what_is_no_part_of_the_conversation_is_left_out() -> None:
    request = ActionRequest.create("f", provider_call_id="a")
    messages = exported(
        Message({"routed": True}),
        AssistantResponse.create("x"),
        Message("between"),
        request,
        ActionResponse.create(request, "so far", state="interim"),
        ActionRequest.create("f", provider_call_id="b"),
        Instruction.create("never mind", status="excluded"),
        ActionResponse.create(request, "done"),
        AssistantResponse.create("cut sh", status="interrupted"),
    )
    assert [message["content"] for message in messages] == ["x", "done", "cut sh"]
    assert messages[0]["tool_calls"] == [shown_call("a"), shown_call("b")]
    assert export_messages(System.create("retired", status="excluded"), [Instruction.create("x")]) == [
        {"role": "user", "content": "x"}
    ]


def test_a_summary_is_a_users_turn_that_says_so() -> None:
    summary = Summary.create("They talked.", first_id=ID, last_id=ID)
    answer = AssistantResponse.create("and?")
    assert exported(System.create("be kind"), summary, answer)[1:] == [
        {"role": "user", "content": "[Conversation summary]\nThey talked."},
        {"role": "assistant", "content": "and?"},
    ]
    assert summary.chat_msg == {"role": "user", "content": "[Conversation summary]\nThey talked."}


def test_a_newer_kind_is_an_error() -> None:
    unknown = UnknownMessage(pb.Message(id=ID).SerializeToString())
    for record in (unknown, pb.Message(id=ID)):
        with pytest.raises(UnsupportedContentError):
            export_messages(None, [record])


def edited(message: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return the export of an imported message whose first record was updated since."""
    conversation = import_messages([message])
    first, *rest = conversation.records
    typed = from_proto(first)
    typed.update(**changes)
    (result,) = export_messages(None, [typed, *rest])
    return result


def test_an_edited_record_exports_its_new_text() -> None:
    parts = [{"type": "text", "text": "old"}]
    assert edited({"role": "user", "content": "old", "name": "ann"}, instruction="new") == {
        "role": "user",
        "content": "new",
        "name": "ann",
    }
    assert edited({"role": "assistant", "content": None}, assistant_response="new")["content"] == "new"
    assert edited({"role": "assistant"}, assistant_response="new")["content"] == "new"
    assert edited({"role": "assistant", "content": parts}, assistant_response="new")["content"] == "new"
    assert edited({"role": "system", "content": parts}, system_message="new")["content"] == "new"


def test_calls_added_since_the_import_are_exported() -> None:
    (turn,) = import_messages([{"role": "assistant", "content": "x", "tool_calls": []}]).messages
    request = ActionRequest.create("f", provider_call_id="a")
    assert export_messages(None, [turn, request]) == [
        {"role": "assistant", "content": "x", "tool_calls": [shown_call("a")]}
    ]


def test_an_edited_result_exports_its_new_output() -> None:
    parts = [{"type": "text", "text": "old"}]
    for content in (None, parts):
        result = edited({"role": "tool", "tool_call_id": "a", "content": content, "name": "f"}, output="new")
        assert result == {"role": "tool", "tool_call_id": "a", "content": "new", "name": "f"}


def test_a_selection_without_the_call_still_pairs() -> None:
    call = {"role": "assistant", "content": "x", "tool_calls": [shown_call("a", '{"n":1}')]}
    answer = {"role": "tool", "tool_call_id": "a", "content": "done"}
    records = import_messages([call, answer]).messages
    assert export_messages(None, records[2:]) == [{**call, "content": None}, answer]
    assert export_messages(None, records[:1]) == [{"role": "assistant", "content": "x"}]
    # Also where an earlier call with this id has its own result.
    later = import_messages([call, answer, call, answer]).messages
    selected = [*later[:3], later[5]]
    assert export_messages(None, selected) == [call, answer, {**call, "content": None}, answer]


def test_foreign_metadata_is_no_matter() -> None:
    for metadata in (
        {},
        {"openai_chat": 5},
        {"openai_chat": {"difference": "x", "parts": False}},
        {"other": 1},
    ):
        assert exported(Instruction.create("q", metadata=metadata)) == [{"role": "user", "content": "q"}]
    broken = {
        "openai_chat": {"position": "x", "difference": {"in": {"content": {"in": {"9": {}}}}, "drop": 5}}
    }
    assert export_messages(System.create("s", metadata=broken), []) == [{"role": "system", "content": "s"}]


def test_typed_messages_and_wire_records_export_alike() -> None:
    request = ActionRequest.create("f", {"a": 1})
    typed: list[Message] = [Instruction.create("q"), request, ActionResponse.create(request, [1])]
    assert export_messages(None, typed) == export_messages(None, [to_proto(message) for message in typed])


class TestSystemWithinAConversation:
    """A system message that stood later stands there again where all before it is there, else in front."""

    MESSAGES: ClassVar[list[dict[str, Any]]] = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "a"},
        {"role": "system", "content": "policy"},
        {"role": "user", "content": "r"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c", "content": "done"},
    ]

    @pytest.mark.parametrize(
        ("start", "roles"),
        [
            (0, ["user", "assistant", "system", "user", "assistant", "tool"]),
            (1, ["system", "assistant", "user", "assistant", "tool"]),
            (2, ["system", "user", "assistant", "tool"]),
            (9, ["system"]),
        ],
    )
    def test_part_of_the_conversation(self, start: int, roles: list[str]) -> None:
        imported = import_messages(self.MESSAGES)
        exported = export_messages(imported.system, imported.messages[start:])
        assert [message["role"] for message in exported] == roles

"""The typed contents: construction, normalization, aliases, what is refused."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from antiphon_client.json_text import JsonTextError
from antiphon_client.messages import (
    ActionRequest,
    ActionRequestContent,
    ActionResponse,
    ActionResponseContent,
    AssistantResponse,
    AssistantResponseContent,
    CacheControl,
    ImageBlock,
    Instruction,
    InstructionContent,
    JsonBlock,
    MessageContent,
    OpaqueBlock,
    SummaryContent,
    System,
    SystemContent,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    UnknownBlock,
)
from antiphon_client.messages.rendering import DEFAULT_SYSTEM_MESSAGE

CONTENTS: list[type[MessageContent]] = [
    SystemContent,
    InstructionContent,
    AssistantResponseContent,
    ActionRequestContent,
    ActionResponseContent,
    SummaryContent,
]


@pytest.mark.parametrize("cls", CONTENTS)
def test_mutable_defaults_are_per_instance(cls: type[MessageContent]) -> None:
    first, second = cls(), cls()
    assert not hasattr(first, "__dict__")
    for spec in fields(cls):  # type: ignore[arg-type]
        value = getattr(first, spec.name)
        if isinstance(value, (list, dict)):
            assert value is not getattr(second, spec.name)


@pytest.mark.parametrize("cls", CONTENTS)
def test_one_call_data_is_accepted_and_ignored(cls: type[MessageContent]) -> None:
    legacy: dict[str, Any] = {"tool_schemas": [{"name": "f"}], "response_format": {"a": 1}}
    legacy |= {"structure": "json", "_structure_instance": None}
    content = cls.from_dict(legacy)
    assert content == cls()
    assert not legacy.keys() & content.to_dict().keys()
    with pytest.raises(ValueError, match="has no field 'colour'"):
        cls.from_dict({"colour": 1})


def test_a_structure_type_is_refused() -> None:
    with pytest.raises(TypeError, match="structure must be a string"):
        InstructionContent.from_dict({"instruction": "q", "structure": dict})


def test_the_default_system_text_is_for_absence_only() -> None:
    assert System().content.system_message == DEFAULT_SYSTEM_MESSAGE
    assert System({"system_message": None}).content.system_message == DEFAULT_SYSTEM_MESSAGE
    assert System.create().content.system_message == DEFAULT_SYSTEM_MESSAGE
    assert System.create("").content.system_message == ""
    assert System.from_dict(System.create("").to_dict()).content.system_message == ""


def test_system_datetime() -> None:
    before = datetime.now(UTC).replace(second=0, microsecond=0)
    text = System.create("p", system_datetime=True).content.system_datetime
    shown = datetime.fromisoformat(text)
    assert before <= shown <= datetime.now(UTC)
    assert len(text) == len("2026-01-02T03:04+00:00")
    assert shown.utcoffset() == timedelta(0)
    for none in (False, None):
        assert System.create("p", system_datetime=none).content.system_datetime is None
    assert System.create("p", system_datetime="today").content.system_datetime == "today"
    with pytest.raises(TypeError, match="system_datetime"):
        System({"system_datetime": 5})


@pytest.mark.parametrize(
    ("given", "items"),
    [
        (None, []),
        ([], []),
        ("c", ["c"]),
        ("", [""]),
        (0, [0]),
        ({"a": 1}, [{"a": 1}]),
        (["a", None], ["a", None]),
    ],
)
def test_context_becomes_a_list(given: Any, items: list[Any]) -> None:
    assert InstructionContent(prompt_context=given).prompt_context == items
    assert Instruction.create("q", context=given).content.prompt_context == items
    assert Instruction({"context": given}).content.prompt_context == items


def test_context_and_prompt_context_at_once_are_refused() -> None:
    with pytest.raises(ValueError, match="'prompt_context' is given twice"):
        Instruction.create("q", context="a", prompt_context="b")


@pytest.mark.parametrize(
    "image",
    [
        "ftp://example.com/a",
        "http://127.0.0.1/a.png",
        "data:text/plain;base64,aGk=",
        "",
        "https://",
        "http://a/%00",
    ],
)
def test_images_are_checked_at_construction(image: str) -> None:
    with pytest.raises(ValueError, match=r"images\[1\]: "):
        Instruction.create("q", images=["https://example.com/a.png", image])


def test_wrong_types_are_refused() -> None:
    wrong: list[tuple[type[MessageContent], dict[str, Any]]] = [
        (InstructionContent, {"instruction": 5}),
        (InstructionContent, {"plain_content": b"x"}),
        (InstructionContent, {"images": [5]}),
        (InstructionContent, {"blocks": "text"}),
        (InstructionContent, {"blocks": [5]}),
        (SystemContent, {"system_message": 5}),
        (AssistantResponseContent, {"assistant_response": 5}),
        (ActionResponseContent, {"error": 5}),
    ]
    for cls, data in wrong:
        with pytest.raises(TypeError):
            cls.from_dict(data)
    with pytest.raises(ValueError, match="low, high or auto"):
        InstructionContent.from_dict({"image_detail": "huge"})
    with pytest.raises(ValueError, match="final or interim"):
        ActionResponseContent.from_dict({"state": "done"})


def test_function_names() -> None:
    def look_up() -> None:
        """Never called."""

    class Tool:
        function = "search"

    class Bound:
        function = look_up

    assert ActionRequest.create(look_up).function == "look_up"
    assert ActionRequest.create(Tool()).function == "search"
    assert ActionRequest.create(Bound).function == "look_up"
    for wrong in (5, None, {"function": "f"}, object()):
        with pytest.raises(ValueError, match=r"^Function must be a string or callable$"):
            ActionRequest.create(wrong)


def test_arguments_are_copied() -> None:
    arguments: dict[str, Any] = {"a": []}
    request = ActionRequest.create("f", arguments)
    arguments["a"].append(1)
    assert request.arguments == {"a": []}


def test_arguments_of_a_model() -> None:
    class Query(BaseModel):
        q: str
        day: date

    query = Query(q="x", day=date(2026, 1, 2))
    assert ActionRequest.create("f", query).arguments == {"q": "x", "day": "2026-01-02"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'a': 1}", {"a": 1}),
        ('[{"a": 1}]', {"a": 1}),
        ("", {}),
        (" \n", {}),
        ("null", {}),
        ("[]", {}),
        ('{"a":1} and more', {"a": 1}),
    ],
)
def test_the_text_of_malformed_arguments_is_kept(text: str, value: dict[str, Any]) -> None:
    content = ActionRequest.create("f", text).content
    assert (content.arguments, content.arguments_text) == (value, text)


@pytest.mark.parametrize(
    "text", ["5", '"x"', "true", "[1]", "[{}, {}]", "nope", '{"a": Infinity}', '{"a": 1e999}']
)
def test_what_is_no_object_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="arguments"):
        ActionRequest.create("f", text)


def test_object_text_is_not_kept_as_arguments_text() -> None:
    assert ActionRequest.create("f", '{"a": 1}').content.arguments_text is None


def test_new_arguments_drop_the_text_of_the_former() -> None:
    request = ActionRequest.create("f", "{'a': 1}", provider_call_id="c")
    request.update(provider_call_id="d")
    assert request.content.arguments_text == "{'a': 1}"
    request.update(arguments={"a": 2})
    assert request.content.arguments_text is None
    assert request.content.provider_call_id == "d"


@pytest.mark.parametrize("output", [0, "", [], {}, False, None, "x"])
def test_success_is_the_absence_of_an_error(output: Any) -> None:
    request = ActionRequest.create("f", {"a": 1}, provider_call_id="c")
    response = ActionResponse.create(request, output)
    assert response.success
    assert response.output == output
    assert type(response.output) is type(output)
    failed = ActionResponse.create(request, output, error="")
    assert not failed.success


def test_a_response_takes_after_its_request() -> None:
    request = ActionRequest.create("f", {"a": []}, provider_call_id="c")
    response = ActionResponse.create(request, 1)
    request.arguments["a"].append(1)
    content = response.content
    assert (content.function, content.arguments, content.provider_call_id) == ("f", {"a": []}, "c")
    assert content.action_request_id == str(request.id)
    assert not request.is_responded
    with pytest.raises(TypeError, match="must be an ActionRequest"):
        ActionResponse.create(response, 1)  # type: ignore[arg-type]


def test_response_aliases() -> None:
    request = ActionRequest.create("f")
    content = ActionResponseContent.from_dict({"request_id": request, "result": [1]})
    assert (content.action_request_id, content.output) == (str(request.id), [1])
    assert (content.request_id, content.result) == (str(request.id), [1])
    with pytest.raises(ValueError, match="'output' is given twice"):
        ActionResponseContent.from_dict({"output": 1, "result": 1})


def test_response_summary() -> None:
    assert ActionResponseContent().summary == "ok"
    assert ActionResponseContent(error="no disk").summary == "error: no disk"


BLOCKS = [
    TextBlock("", CacheControl("ephemeral", "1h")),
    TextBlock("t", CacheControl("ephemeral")),
    JsonBlock('{"n": 1.0e1}'),
    ThinkingBlock("", "sig", "anthropic", "m"),
    ToolCallBlock("c", "f", '{"a":1}', "s"),
    ImageBlock("image/png", data=b"\x00\xff"),
    ImageBlock(url="https://example.com/a.png", detail="low"),
    OpaqueBlock("openai", "m", "reasoning", "[]"),
    UnknownBlock(b"\xfa\x06\x01x"),
]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.type)
def test_blocks_read_back_from_their_dictionary_form(block: Any) -> None:
    content = AssistantResponseContent("", [block])
    assert AssistantResponseContent.from_dict(content.to_dict()).blocks == [block]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"type": "video"}, "unknown block type 'video'"),
        ({"text": "x"}, "unknown block type None"),
        ({"type": "text"}, "needs 'text'"),
        ({"type": "text", "text": 5}, "must be text"),
        ({"type": "text", "text": "x", "size": 1}, "unknown field 'size'"),
        ({"type": "text", "text": "x", "cache_control": {"ttl": "1h"}}, "cache_control"),
        ({"type": "image", "mime_type": "image/png"}, "either data or a url"),
        ({"type": "image", "mime_type": "image/png", "data": "*"}, "not base64"),
        ({"type": "image", "url": "https://example.com/a", "detail": "huge"}, "low, high or auto"),
    ],
)
def test_malformed_blocks_are_refused(data: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        AssistantResponse.create("", blocks=[data])


def test_an_answer_keeps_thinking_and_calls_as_blocks_in_order() -> None:
    answer = {
        "model": "m-1",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s=="},
            {"type": "redacted_thinking", "data": "xx"},
            {"type": "text", "text": "a"},
            {"type": "tool_use", "id": "t", "name": "f", "input": {"b": 1, "a": 2**60}},
            {"type": "text", "text": ""},
        ],
    }
    message = AssistantResponse.from_response(answer, sender="agent")
    assert message.response == "a"
    assert message.sender == "agent"
    assert message.content.blocks == [
        ThinkingBlock("hm", "s==", "anthropic", "m-1"),
        OpaqueBlock("anthropic", "m-1", "redacted_thinking", '{"type":"redacted_thinking","data":"xx"}'),
        TextBlock("a"),
        ToolCallBlock("t", "f", '{"b":1,"a":1152921504606846976}'),
        TextBlock(""),
    ]
    assert message.model_response == answer
    answer["content"] = []
    assert message.model_response["content"]


def test_an_answer_of_text_alone_has_no_blocks() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    for answer in (
        "ab",
        {"content": parts},
        {"choices": [{"message": {"content": parts}}]},
        {"output": [{"type": "message", "content": [{"type": "output_text", "text": "ab"}]}]},
    ):
        content = AssistantResponse.from_response(answer).content
        assert (content.assistant_response, content.blocks) == ("ab", [])


def test_an_openai_answer_keeps_its_calls_as_blocks() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"x": 1.0}'}}
    broken = {"id": "d", "type": "function", "function": {"name": "g", "arguments": "{"}}
    answer = {"choices": [{"message": {"content": "hi", "tool_calls": [call, broken]}}]}
    message = AssistantResponse.from_response(answer)
    assert message.content.blocks == [
        TextBlock("hi"),
        ToolCallBlock("c", "f", '{"x": 1.0}'),
        ToolCallBlock("d", "g", ""),
    ]
    items = {
        "output": [
            {"type": "reasoning", "encrypted_content": "e"},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
            {"type": "message", "content": [{"type": "output_text", "text": "z"}]},
        ]
    }
    message = AssistantResponse.from_response(items)
    assert message.response == "z"
    assert [block.type for block in message.content.blocks] == ["opaque", "tool_call", "text"]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (None, ""),
        (5, ""),
        ({"content": "", "result": "r"}, ""),
        ({"content": None, "choices": [{"message": {"content": "c"}}]}, ""),
        ({"choices": [], "result": "r"}, ""),
        ({"choices": None, "result": "r"}, ""),
        ({"choices": [{"message": None, "delta": {"content": "d"}}]}, ""),
        ({"result": 5}, ""),
        ({"content": [{"type": "text", "text": None}, 5, "a"]}, "a"),
    ],
)
def test_an_answer_of_an_odd_shape_has_no_text_and_no_error(answer: Any, text: str) -> None:
    message = AssistantResponse.from_response(answer)
    assert message.response == text
    assert message.model_response == answer


def test_an_answer_may_be_a_model_object() -> None:
    class Answer(BaseModel):
        content: str

    message = AssistantResponse.from_response(Answer(content="x"))
    assert (message.response, message.model_response) == ("x", {"content": "x"})


def test_a_part_that_json_cannot_hold_is_refused() -> None:
    with pytest.raises(JsonTextError):
        AssistantResponse.from_response({"content": [{"type": "tool_use", "input": {"a": float("nan")}}]})


def test_blocks_alone_are_what_an_instruction_renders() -> None:
    blocks: list[Any] = [
        TextBlock("first"),
        ImageBlock(url="https://example.org/a.png"),
        TextBlock("second"),
        ImageBlock("image/png", b"\x89PNG", detail="low"),
    ]
    assert InstructionContent(blocks=blocks[::2], guidance="g").rendered == (
        "Guidance: g\nInstruction: |-\n  first\n\n  second"
    )
    assert InstructionContent(blocks=blocks).rendered == [
        {"type": "text", "text": "Instruction: |-\n  first\n\n  second"},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw==", "detail": "low"}},
    ]
    assert InstructionContent("text wins", blocks=blocks).rendered == "Instruction: text wins"


def test_a_summary_takes_messages_for_their_ids_and_texts_only() -> None:
    first, last = Instruction.create("a"), Instruction.create("b")
    content = SummaryContent("text", first, str(last.id))  # type: ignore[arg-type]
    assert (content.first_id, content.last_id) == (str(first.id), str(last.id))
    assert content.rendered == "[Conversation summary]\ntext"
    assert SummaryContent().to_dict() == {"text": "", "first_id": "", "last_id": ""}
    assert SummaryContent.from_dict(content.to_dict()) == content
    with pytest.raises(TypeError, match="text must be text"):
        SummaryContent(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="summary_ref"):
        SummaryContent("text", summary_ref=5)  # type: ignore[arg-type]

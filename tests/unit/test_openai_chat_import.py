"""Import of OpenAI chat conversations: which records come out, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.messages import ActionRequest, Instruction
from antiphon_client.messages.validation import kind_of, validate_message
from antiphon_client.openai_chat import NoteKind, export_messages, import_messages


def call(call_id: str, arguments: str = "{}", name: str = "f") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*given: dict[str, Any], content: Any = None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(given)}


def result(call_id: str, content: Any = "done", **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content, **more}


def kinds(messages: list[dict[str, Any]]) -> list[str | None]:
    return [kind_of(record) for record in import_messages(messages).messages]


def imported(*messages: dict[str, Any]) -> list[pb.Message]:
    """Return the records of messages that must come back equal and pass the contract."""
    conversation = import_messages(messages)
    assert export_messages(conversation.system, conversation.messages) == list(messages)
    for record in conversation.records:
        violations: list[Any] = []
        validate_message(record, "", violations)
        assert violations == []
    return list(conversation.records)


def test_a_users_text_is_the_instruction() -> None:
    (record,) = imported({"role": "user", "content": " hi\n"})
    assert record.instruction == pb.InstructionContent(instruction=" hi\n")
    assert record.metadata_json == ""
    assert not record.HasField("created_at")


def test_a_users_parts_are_blocks_in_order() -> None:
    parts = [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png", "detail": "low"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
        {"type": "text", "text": ""},
    ]
    (record,) = imported({"role": "user", "content": parts})
    content = record.instruction
    assert not content.HasField("instruction")
    assert not content.HasField("plain_content")
    assert [block.WhichOneof("block") for block in content.blocks] == ["text", "image", "image", "text"]
    assert content.blocks[1].image.url == "https://example.com/a.png"
    assert content.blocks[2].image.url == "data:image/png;base64,aGk="
    assert not content.blocks[2].image.HasField("detail")


@pytest.mark.parametrize(
    "part",
    [
        {"type": "input_audio", "input_audio": {"data": "xx", "format": "wav"}},
        {"type": "file", "file": {"file_id": "f", "n": 9007199254740993}},
        {"type": "image_url", "image_url": {"url": "http://127.0.0.1/a.png"}},
        {"type": "image_url", "image_url": {"url": "gs://bucket/a.png", "detail": "high"}},
    ],
)
def test_a_part_no_model_will_see_is_kept_and_noted(part: dict[str, Any]) -> None:
    message = {"role": "user", "content": [{"type": "text", "text": "x"}, part]}
    (record,) = imported(message)
    assert record.instruction.blocks[1].WhichOneof("block") == "opaque"
    (note,) = import_messages([message]).notes
    assert (note.kind, note.path) == (NoteKind.PART_NOT_SHOWN, "messages[0].content[1]")


def test_cache_marks_are_read() -> None:
    mark = {"type": "ephemeral", "ttl": "1h"}
    (record,) = imported({"role": "user", "content": [{"type": "text", "text": "x", "cache_control": mark}]})
    assert record.instruction.blocks[0].text.cache_control.type == "ephemeral"
    assert record.instruction.blocks[0].text.cache_control.ttl == "1h"


@pytest.mark.parametrize("role", ["system", "developer"])
def test_the_first_system_text_is_the_system_record(role: str) -> None:
    messages = [{"role": role, "content": "be kind"}, {"role": "user", "content": "hi"}]
    conversation = import_messages(messages)
    assert conversation.system is not None
    assert conversation.system.system == pb.SystemContent(system_message="be kind")
    assert conversation.system.sender.role == pb.ROLE_SYSTEM
    assert kinds(messages) == ["instruction"]
    assert [kind_of(record) for record in conversation.records] == ["system", "instruction"]
    assert imported(*messages)


def test_a_system_text_that_is_not_first_comes_back_to_its_place() -> None:
    imported({"role": "user", "content": "hi"}, {"role": "system", "content": "be kind"}, result("x"))


def test_a_later_system_text_is_a_marked_turn_in_its_place() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "a"},
        {"role": "user", "content": "hi"},
        {"role": "system", "content": "b"},
        {"role": "developer", "content": [{"type": "text", "text": "c"}]},
    ]
    records = imported(*messages)
    assert [kind_of(record) for record in records] == ["system", "instruction", "instruction", "instruction"]
    assert records[2].instruction.instruction == "b"
    assert json.loads(records[2].metadata_json) == {"openai_chat": {"role": "system"}}
    notes = import_messages(messages).notes
    assert [(note.kind, note.path) for note in notes] == [
        (NoteKind.SYSTEM_IN_PLACE, "messages[2]"),
        (NoteKind.SYSTEM_IN_PLACE, "messages[3]"),
    ]


def test_a_system_text_of_parts() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b", "x": 1}]
    records = imported({"role": "system", "content": parts})
    assert records[0].system.system_message == "a\n\nb"


def test_a_turn_with_calls_is_a_response_and_a_request_for_each() -> None:
    records = imported(calls(call("a", '{ "x":1.0e1 }'), call("b", name="g"), content="on it"))
    assert [kind_of(record) for record in records] == [
        "assistant_response",
        "action_request",
        "action_request",
    ]
    turn, first, second = records
    assert turn.assistant_response.assistant_response == "on it"
    assert turn.recipient.role == pb.ROLE_USER
    markers = [block.tool_call for block in turn.assistant_response.blocks]
    assert [(marker.id, marker.name) for marker in markers] == [("a", "f"), ("b", "g")]
    assert first.action_request == pb.ActionRequestContent(
        function="f", arguments_json='{ "x":1.0e1 }', provider_call_id="a"
    )
    assert second.action_request.function == "g"


@pytest.mark.parametrize(
    "content", [None, "", "text", [], [{"type": "text", "text": "t"}, {"type": "refusal", "refusal": "r"}]]
)
@pytest.mark.parametrize("with_calls", [True, False])
def test_every_kind_of_assistant_content_comes_back(content: Any, with_calls: bool) -> None:
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if with_calls:
        message["tool_calls"] = [call("a")]
    records = imported(message)
    expected = content if isinstance(content, str) else ("t" if content else "")
    assert records[0].assistant_response.assistant_response == expected


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("", ""),
        ("null", ""),
        ("[1]", ""),
        ("nope", ""),
        ('{"a": NaN}', ""),
        ('{"a": 1', '{"a":1}'),
        ("{'a': 1}", '{"a":1}'),
    ],
)
def test_arguments_that_are_no_object_keep_their_text(text: str, meaning: str) -> None:
    request = imported(calls(call("a", text)))[1].action_request
    assert request.arguments_text == text
    assert request.arguments_json == meaning
    (note,) = import_messages([calls(call("a", text))]).notes
    assert (note.kind, note.path) == (NoteKind.ARGUMENTS_NOT_OBJECT, "messages[0].tool_calls[0]")


def test_a_custom_call_keeps_its_input() -> None:
    custom = {"id": "a", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}}
    request = imported(calls(custom), result("a"))[1].action_request
    assert (request.function, request.arguments_text) == ("sql", "SELECT 1")


def test_a_result_is_text_and_is_never_parsed() -> None:
    for text in ("", " ", '{"a": 1}', "null", "é\u2028\x00"):
        records = imported(calls(call("a", '{"x": 1}')), result("a", text))
        response = records[2].action_response
        assert json.loads(response.output_json) == text
        assert response.action_request_id == records[1].id
        assert (response.function, response.arguments_json) == ("f", '{"x": 1}')
        assert response.provider_call_id == "a"
        assert records[2].metadata_json == ""


def test_what_is_not_modelled_travels_in_metadata() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "hi", "name": "ann", "x": {"y": [1, 2.5, 2**70]}},
        {"role": "assistant", "content": None, "refusal": "no", "audio": {"id": "a"}, "tool_calls": None},
        {
            **calls({**call("a"), "index": 0, "function": {"name": "f", "arguments": "{}", "strict": True}}),
            "tool_calls_extra": 1,
        },
        result("a", "ok", name="f", cost=0.5),
        {"role": "assistant", "content": [{"type": "text", "text": "t", "annotations": []}]},
    ]
    records = imported(*messages)
    for record in records:
        assert list(json.loads(record.metadata_json)) == ["openai_chat"]


def test_null_and_absent_contents_are_told_apart() -> None:
    imported({"role": "user", "content": None}, {"role": "user"}, {"role": "user", "content": ""})
    imported(
        {"role": "assistant", "content": None}, {"role": "assistant"}, {"role": "assistant", "content": ""}
    )
    absent = {"role": "assistant", "tool_calls": [call("a"), call("b"), call("c")]}
    imported(absent, result("a", None), {"role": "tool", "tool_call_id": "b"}, result("c", ""))
    imported({"role": "system", "content": None})
    imported({"role": "system"})


def answers(messages: list[dict[str, Any]]) -> list[int | None]:
    """Return, for each result in order, the index among the calls of the one it answers."""
    records = import_messages(messages).messages
    requests = [record.id for record in records if kind_of(record) == "action_request"]
    return [
        requests.index(record.action_response.action_request_id)
        if record.action_response.HasField("action_request_id")
        else None
        for record in records
        if kind_of(record) == "action_response"
    ]


def test_an_id_used_again_in_a_later_round_is_a_different_call() -> None:
    again = [calls(call("a")), result("a"), calls(call("a")), result("a")]
    assert answers(again) == [0, 1]
    imported(*again)
    # The first round's call was never answered: the result is the later round's.
    assert answers([calls(call("a")), calls(call("a")), result("a"), result("a")]) == [1, 0]


def test_equal_ids_in_one_round_are_answered_in_order() -> None:
    assert answers([calls(call("a"), call("b"), call("a")), result("a"), result("a"), result("b")]) == [
        0,
        2,
        1,
    ]


def test_a_result_without_an_open_call_is_uncorrelated() -> None:
    messages = [result("z", name="f"), calls(call("a")), result("a"), result("a", "twice"), result("b")]
    assert answers(messages) == [None, 0, None, None]
    records = imported(*messages)
    assert records[0].action_response.function == "f"
    notes = import_messages(messages).notes
    assert [(note.kind, note.path) for note in notes] == [
        (NoteKind.RESULT_UNCORRELATED, "messages[0]"),
        (NoteKind.RESULT_UNCORRELATED, "messages[3]"),
        (NoteKind.RESULT_UNCORRELATED, "messages[4]"),
    ]


def function_call(name: str, arguments: str = "{}") -> dict[str, Any]:
    called = {"name": name, "arguments": arguments}
    return {"role": "assistant", "content": None, "function_call": called}


def test_the_former_function_form_is_a_call_and_its_result() -> None:
    messages = [
        function_call("f", '{"n":1e2}'),
        {"role": "function", "name": "f", "content": "done"},
        {"role": "function", "name": "f", "content": "twice"},
        {"role": "function", "name": "g", "content": "other"},
    ]
    turn, request, *results = imported(*messages)
    assert [(block.tool_call.id, block.tool_call.name) for block in turn.assistant_response.blocks] == [
        ("", "f")
    ]
    assert request.action_request.arguments_json == '{"n":1e2}'
    assert not request.action_request.HasField("provider_call_id")
    assert [each.action_response.function for each in results] == ["f", "f", "g"]
    assert [each.action_response.action_request_id for each in results] == [request.id, "", ""]
    assert results[0].action_response.arguments_json == '{"n":1e2}'


def test_a_former_function_result_answers_the_latest_call_of_its_name() -> None:
    answer = {"role": "function", "name": "f", "content": "done"}
    records = imported(function_call("f"), answer, function_call("g"), function_call("f"), answer)
    requests = [record.id for record in records if record.HasField("action_request")]
    named = [r.action_response.action_request_id for r in records if r.HasField("action_response")]
    assert named == [requests[0], requests[2]]


def test_a_former_function_call_beside_tool_calls_is_one_more_call() -> None:
    both = {**calls(call("a")), "function_call": {"name": "g", "arguments": "{}"}}
    records = imported(both, {"role": "function", "name": "g", "content": "G"}, result("a"))
    assert [r.action_response.action_request_id for r in records[3:]] == [records[2].id, records[1].id]


def test_a_refusal_without_a_content_is_a_block() -> None:
    message = {"role": "assistant", "content": None, "refusal": "I cannot"}
    read = import_messages([message])
    (block,) = read.messages[0].assistant_response.blocks
    assert (block.opaque.provider, block.opaque.kind) == ("openai", "refusal")
    assert block.opaque.data_json == '{"type":"refusal","refusal":"I cannot"}'
    assert [(note.kind, note.path) for note in read.notes] == [
        (NoteKind.PART_NOT_SHOWN, "messages[0].refusal")
    ]
    beside_text = imported({"role": "assistant", "content": "But", "refusal": "no"})
    assert not beside_text[0].assistant_response.blocks


def test_a_result_of_parts() -> None:
    parts = [
        {"type": "text", "text": "a"},
        {"type": "image_url", "image_url": {"url": "https://example.com/a"}},
    ]
    response = imported(calls(call("a")), result("a", parts))[2].action_response
    assert response.output_json == '"a"'
    assert len(response.blocks) == 2


CONVERSATION = [
    {"role": "system", "content": "s"},
    {"role": "user", "content": "u"},
    calls(call("a"), call("b")),
    result("a"),
    result("b", name="f"),
]


def test_a_seed_makes_the_records_repeatable() -> None:
    def encoded(seed: str) -> list[bytes]:
        records = import_messages(CONVERSATION, seed=seed).records
        return [record.SerializeToString(deterministic=True) for record in records]

    assert encoded("file/1") == encoded("file/1")
    ids = [
        record.id
        for seed in ("file/1", "file/11", "")
        for record in import_messages(CONVERSATION, seed=seed).records
    ]
    assert len(set(ids)) == len(ids) == 21
    without = [import_messages(CONVERSATION).records[0].id for _ in range(2)]
    assert without[0] != without[1]


def test_seeded_ids_are_fixed_for_ever() -> None:
    (record,) = import_messages([{"role": "user", "content": "u"}], seed="s").messages
    assert record.id == "06346569-7c65-559e-9316-42dfbd06c627"


def test_records_as_typed_messages() -> None:
    typed = import_messages(CONVERSATION).typed_messages
    assert type(typed[0]) is Instruction
    assert type(typed[2]) is ActionRequest


def test_the_input_is_not_changed() -> None:
    before = json.dumps(CONVERSATION)
    import_messages(CONVERSATION)
    assert json.dumps(CONVERSATION) == before


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ("text", "messages[1]: must be an object"),
        ({"content": "x"}, "messages[1].role: None is not a role"),
        ({"role": ["user"], "content": "x"}, "messages[1].role: ['user'] is not a role"),
        ({"role": "critic", "content": "x"}, "messages[1].role: 'critic' is not a role"),
        ({"role": "user", "content": 5}, "messages[1].content: must be text, a list of parts or null"),
        ({"role": "user", "content": ["x"]}, "messages[1].content[0]: must be an object"),
        ({"role": "user", "content": [{"text": "x"}]}, "messages[1].content[0].type: must be text"),
        ({"role": "user", "content": [{"type": "text"}]}, "messages[1].content[0].text: must be text"),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {}}]},
            "messages[1].content[0].image_url.url: must be text",
        ),
        ({"role": "assistant", "tool_calls": {}}, "messages[1].tool_calls: must be a list"),
        (calls("x"), "messages[1].tool_calls[0]: must be an object"),  # type: ignore[arg-type]
        (calls({"type": "function", "function": {}}), "messages[1].tool_calls[0].function.name: is required"),
        (calls({"id": "a", "type": "magic"}), "messages[1].tool_calls[0].type: 'magic' is not a type"),
        (calls({"id": "a"}), "messages[1].tool_calls[0].function: is required"),
        (
            calls({"type": "function", "function": {"name": "f", "arguments": "{}"}}),
            "messages[1].tool_calls[0].id: is required",
        ),
        (
            calls(call("a"), {"id": "b", "function": {"name": "f", "arguments": {}}}),
            "messages[1].tool_calls[1].function.arguments: must be text",
        ),
        ({"role": "tool", "content": "x"}, "messages[1].tool_call_id: is required"),
        ({"role": "function", "content": "x"}, "messages[1].name: is required"),
        ({"role": "assistant", "function_call": "f"}, "messages[1].function_call: must be an object"),
        (
            {"role": "assistant", "function_call": {"name": "f"}},
            "messages[1].function_call.arguments: is required",
        ),
        ({"role": "user", "content": "\ud800"}, "messages[1].content: lone surrogate"),
        ({"role": "user", "content": "x", "n": [{"v": float("nan")}]}, "messages[1].n[0].v: "),
        ({"role": "user", "content": "x", "n": {1: 2}}, "messages[1].n: "),
    ],
)
def test_wrong_input_is_refused_with_its_path(message: Any, error: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the text is compared below
        import_messages([{"role": "user", "content": "fine"}, message])
    assert str(caught.value).startswith(error)


def test_extra_data_beyond_the_depth_limit_is_refused_with_its_path() -> None:
    deep: Any = 0
    for _ in range(98):
        deep = [deep]
    with pytest.raises(ValueError, match=r"^messages\[0\]"):
        import_messages([{"role": "user", "content": "x", "deep": deep}])

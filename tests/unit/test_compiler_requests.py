"""The field rules of a compile request: the documented reason, with the field's path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from antiphon.compiler.v1.compiler_service_pb2 import CompileRequest
from antiphon.message.v1 import message_pb2
from antiphon.message.v1.message_pb2 import Message
from antiphon_client.edge.call import Call, bind_call
from antiphon_client.errors import (
    FieldInvalidError,
    HistoryUnavailableError,
    SizeLimitExceededError,
    UnsupportedContentError,
)
from antiphon_client.limits import DEFAULT_LIMITS
from compiler_service.servicer import CompilerServicer
from tests.support.compiler import SYSTEM_ID, compile_inline, message, mid, request_of

GOOD = {
    "history": [
        {"type": "instruction", "content": {"instruction": "a"}},
        {"type": "assistant_response", "content": {"assistant_response": "b"}},
    ],
    "instruction": {"instruction": "go"},
    "system": {"system_message": "s"},
}
Change = Callable[[CompileRequest], object]


def fields_at_fault(request: CompileRequest) -> list[str]:
    with pytest.raises(FieldInvalidError) as caught:
        compile_inline(request)
    assert isinstance(caught.value, ValueError)
    return [violation.field for violation in caught.value.violations]


def put_branch(branch_id: str = mid(1), at_revision: int | None = None) -> Change:
    def change(request: CompileRequest) -> None:
        request.branch.branch_id = branch_id
        if at_revision is not None:
            request.branch.at_revision = at_revision

    return change


def schema(json_schema: str, template: str) -> Change:
    def change(request: CompileRequest) -> None:
        request.response_format.schema.json_schema = json_schema
        request.response_format.schema.template_json = template

    return change


def break_several(request: CompileRequest) -> None:
    request.tool_schemas_json.append("x")
    put_branch("")(request)
    request.ClearField("instruction")


CASES: dict[str, tuple[Change, list[str]]] = {
    "no source": (lambda r: r.ClearField("source"), ["source"]),
    "no branch id": (put_branch(""), ["branch.branch_id"]),
    "bad branch id": (put_branch("X"), ["branch.branch_id"]),
    "upper-case branch id": (put_branch(mid(0xABC).upper()), ["branch.branch_id"]),
    "revision 0": (put_branch(at_revision=0), ["branch.at_revision"]),
    "unknown profile": (lambda r: setattr(r, "profile", 7), ["profile"]),
    "no instruction": (lambda r: r.ClearField("instruction"), ["instruction"]),
    "instruction without content": (
        lambda r: r.instruction.ClearField("content"),
        ["instruction.content"],
    ),
    "instruction of another kind": (
        lambda r: r.instruction.assistant_response.SetInParent(),
        ["instruction"],
    ),
    "bad instruction id": (lambda r: setattr(r.instruction, "id", "1"), ["instruction.id"]),
    "excluded instruction": (
        lambda r: setattr(r.instruction, "status", message_pb2.MESSAGE_STATUS_EXCLUDED),
        ["instruction.status"],
    ),
    "context that is no JSON": (
        lambda r: r.instruction.instruction.prompt_context_json.extend(["1", "{"]),
        ["instruction.instruction.prompt_context_json[1]"],
    ),
    "guidance with a duplicate key": (
        lambda r: setattr(r.instruction.instruction, "guidance_json", '{"a":1,"a":2}'),
        ["instruction.instruction.guidance_json"],
    ),
    "image of the local network": (
        lambda r: r.instruction.instruction.images.append("http://127.0.0.1/a.png"),
        ["instruction.instruction.images[0]"],
    ),
    "progression of no ids": (
        lambda r: r.progression.message_ids.extend([mid(1), "two"]),
        ["progression.message_ids[1]"],
    ),
    "tool schema with NaN": (
        lambda r: r.tool_schemas_json.extend(["{}", '{"a":NaN}']),
        ["tool_schemas_json[1]"],
    ),
    "empty tool schema": (lambda r: r.tool_schemas_json.append(""), ["tool_schemas_json[0]"]),
    "response format of no form": (lambda r: r.response_format.SetInParent(), ["response_format.format"]),
    "example that is no object": (
        lambda r: setattr(r.response_format, "example_json", "[]"),
        ["response_format.example_json"],
    ),
    "schema and template at fault": (
        schema("[1]", ""),
        ["response_format.schema.json_schema", "response_format.schema.template_json"],
    ),
    "context block of nothing": (
        lambda r: r.context_blocks.add(),
        ["context_blocks[0].provider_name", "context_blocks[0].content"],
    ),
    "keyword arguments too deep": (
        lambda r: setattr(r, "provider_kwargs_json", '{"a":' * 101 + "1" + "}" * 101),
        ["provider_kwargs_json"],
    ),
    "message without id": (lambda r: r.snapshot.messages[1].ClearField("id"), ["snapshot.messages[1].id"]),
    "message with a bad id": (
        lambda r: setattr(r.snapshot.messages[1], "id", "b"),
        ["snapshot.messages[1].id"],
    ),
    "message id twice": (
        lambda r: setattr(r.snapshot.messages[1], "id", mid(1)),
        ["snapshot.messages[1].id"],
    ),
    "message without content": (
        lambda r: r.snapshot.messages[1].ClearField("content"),
        ["snapshot.messages[1].content"],
    ),
    "message with arguments that are no object": (
        lambda r: setattr(r.snapshot.messages[1].action_response, "arguments_json", "[1]"),
        ["snapshot.messages[1].action_response.arguments_json"],
    ),
    "system of another kind": (
        lambda r: r.snapshot.system.generic.SetInParent(),
        ["snapshot.system"],
    ),
    "a second system record": (
        lambda r: r.snapshot.messages.append(message("system", {"system_message": "t"}, 8)),
        ["snapshot.messages[2]"],
    ),
    "several at once": (
        break_several,
        ["branch.branch_id", "instruction", "tool_schemas_json[0]"],
    ),
}


@pytest.mark.parametrize(("change", "fields"), CASES.values(), ids=CASES.keys())
def test_a_field_at_fault_is_named(change: Change, fields: list[str]) -> None:
    request = request_of(GOOD)
    compile_inline(request)
    change(request)
    assert fields_at_fault(request) == fields


def test_every_violation_is_counted_and_fifty_are_named() -> None:
    request = request_of(GOOD)
    request.tool_schemas_json.extend(["x"] * 60)
    with pytest.raises(FieldInvalidError) as caught:
        compile_inline(request)
    assert len(caught.value.violations) == 50
    assert caught.value.metadata["violation_count"] == "60"


def test_a_message_over_the_limit() -> None:
    request = request_of(GOOD)
    request.snapshot.messages[1].assistant_response.assistant_response = "x" * 500
    with pytest.raises(SizeLimitExceededError, match=r"snapshot\.messages\[1\]") as caught:
        compile_inline(request, replace(DEFAULT_LIMITS, message_bytes=400))
    assert caught.value.metadata["limit_name"] == "message_bytes"


def newer(number: int) -> Message:
    """A message whose content is of a variant this version does not have."""
    return Message.FromString(Message(id=mid(number)).SerializeToString() + b"\x82\x01\x02\x0a\x00")


def test_messages_of_unknown_kinds_are_all_listed() -> None:
    request = request_of(GOOD)
    request.snapshot.messages.extend([newer(8), newer(9)])
    with pytest.raises(UnsupportedContentError) as caught:
        compile_inline(request)
    assert isinstance(caught.value, TypeError)
    assert caught.value.metadata == {"message_ids": f"{mid(8)},{mid(9)}", "message_ids_count": "2"}


def test_excluded_messages_of_unknown_kinds_are_left_out() -> None:
    request = request_of(GOOD)
    request.snapshot.messages.append(newer(8))
    request.snapshot.messages[-1].status = message_pb2.MESSAGE_STATUS_EXCLUDED
    assert len(compile_inline(request).messages) == 3


def test_an_excluded_system_record_is_left_out() -> None:
    request = request_of(GOOD)
    request.snapshot.system.status = message_pb2.MESSAGE_STATUS_EXCLUDED
    request.snapshot.messages.insert(0, request.snapshot.system)
    response = compile_inline(request)
    assert response.messages[0].text == "Instruction: a"
    assert [(note.kind, list(note.message_ids)) for note in response.report] == [(1, [SYSTEM_ID])]


def test_an_interrupted_system_record_and_instruction_are_noted() -> None:
    request = request_of(GOOD)
    request.snapshot.system.status = message_pb2.MESSAGE_STATUS_INTERRUPTED
    request.instruction.status = message_pb2.MESSAGE_STATUS_INTERRUPTED
    response = compile_inline(request)
    assert response.messages[0].text == "Guidance: s\nInstruction: a"
    assert [(note.kind, list(note.message_ids)) for note in response.report] == [(9, [SYSTEM_ID]), (9, [])]


@pytest.mark.anyio
async def test_a_branch_needs_a_history_service() -> None:
    bind_call(Call("/antiphon.compiler.v1.CompilerService/Compile"))
    request = request_of({"instruction": {"instruction": "go"}})
    request.branch.branch_id = mid(1)
    with pytest.raises(HistoryUnavailableError):
        await CompilerServicer(None, DEFAULT_LIMITS).Compile(request, None)

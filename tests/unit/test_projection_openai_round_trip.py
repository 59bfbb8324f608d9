"""An imported OpenAI conversation, compiled NATIVE and projected to openai.chat, is what it was."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from antiphon.compiler.v1.compiled_message_pb2 import CompileNoteKind
from antiphon.compiler.v1.compiler_service_pb2 import PROFILE_NATIVE, CompileRequest
from antiphon.compiler.v1.target_pb2 import TargetOptions
from antiphon_client.openai_chat import import_messages
from compiler_service.compilation import Compilation, CompileSource, compile_turn
from tests.support import native
from tests.support.projection import TARGETS
from tests.support.projection_rules import check_rules
from tests.support.provider_types import check_request

DATA = Path(__file__).resolve().parents[2] / ".." / "shared" / "data"
TOOL_CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"b": 1.0,"a":2}'}}
EXPLAINED: dict[str, set[str]] = {
    "anthropic.messages": {"COMPILE_NOTE_KIND_CALL_ID_MAPPED", "COMPILE_NOTE_KIND_DEFAULT_APPLIED"},
    **{target: set() for target in TARGETS if target != "anthropic.messages"},
}
"""Nothing of texts and calls is lost anywhere; Anthropic needs a limit of tokens, and an id only once."""


def compiled(
    messages: Sequence[dict[str, Any]], target: str, *, with_instruction: bool = False
) -> Compilation:
    """Import a conversation and compile it; its last message may be the request's instruction."""
    imported = import_messages(messages, seed="x")
    records = list(imported.messages)
    request = CompileRequest(profile=PROFILE_NATIVE, target=target, target_options=TargetOptions(model="m"))
    if with_instruction:
        request.instruction.CopyFrom(records.pop())
    return compile_turn(request, CompileSource(imported.system, records))


def body_of(outcome: Compilation) -> dict[str, Any]:
    assert outcome.provider_request is not None
    body: dict[str, Any] = json.loads(outcome.provider_request.request_json)
    return body


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param([{"role": "user", "content": "hi", "name": "ann"}], id="unknown-key"),
        pytest.param(
            [{"role": "developer", "content": "be"}, {"role": "user", "content": "hi"}], id="developer"
        ),
        pytest.param(
            [
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": None, "refusal": "I cannot"},
                {"role": "user", "content": "why"},
                {"role": "assistant", "content": "", "refusal": "I may not"},
                {"role": "user", "content": "go"},
            ],
            id="refusal",
        ),
        pytest.param(
            [
                {"role": "user", "content": "hi"},
                {
                    "role": "assistant",
                    "content": None,
                    "function_call": {"name": "f", "arguments": '{"b": 1.0,"a":2}', "x": 1},
                },
                {"role": "function", "name": "f", "content": "done", "y": 2},
                {"role": "assistant", "content": "Again", "function_call": {"name": "f", "arguments": "{}"}},
                {"role": "function", "name": "f", "content": [{"type": "text", "text": "once more"}]},
                {"role": "user", "content": "go"},
            ],
            id="function-call",
        ),
        pytest.param(
            [
                {"role": "user", "content": "hi"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [TOOL_CALL],
                    "function_call": {"name": "g", "arguments": "{}"},
                },
                {"role": "tool", "tool_call_id": "c1", "content": "F"},
                {"role": "function", "name": "g", "content": "G"},
                {"role": "user", "content": "go"},
            ],
            id="function-call-beside-tool-calls",
        ),
        pytest.param(
            [{"role": "system", "content": "be", "name": "x"}, {"role": "user", "content": "hi"}],
            id="system-key",
        ),
        pytest.param(
            [
                {"role": "user", "content": "hi"},
                {"role": "system", "content": "be"},
                {"role": "user", "content": "go"},
            ],
            id="system-later",
        ),
        pytest.param(
            [
                {"role": "system", "content": "one"},
                {"role": "user", "content": "hi"},
                {"role": "developer", "content": "two"},
                {"role": "user", "content": "go"},
            ],
            id="second-system",
        ),
        pytest.param([{"role": "user", "content": [{"type": "text", "text": "a"}]}], id="one-part"),
        pytest.param(
            [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "a"},
                        {"type": "image_url", "image_url": {"url": "https://e.org/i.png", "detail": "low"}},
                        {"type": "image_url", "image_url": {"url": "http://10.0.0.1/i.png"}},
                        {"type": "input_audio", "input_audio": {"data": "aQ==", "format": "wav"}},
                        {"type": "text", "text": "b"},
                    ],
                }
            ],
            id="parts",
        ),
        pytest.param(
            [
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": "", "tool_calls": [TOOL_CALL]},
                {"role": "tool", "tool_call_id": "c1", "content": "", "name": "f"},
            ],
            id="empty-not-null",
        ),
        pytest.param(
            [
                {"role": "user", "content": "hi"},
                {"role": "assistant", "tool_calls": [TOOL_CALL], "refusal": None},
                {"role": "tool", "tool_call_id": "c1", "content": '{"b": 1.0}'},
            ],
            id="no-content",
        ),
        pytest.param(
            [
                {"role": "user", "content": "hi"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {**TOOL_CALL, "index": 0},
                        {"id": "c2", "type": "custom", "custom": {"name": "g", "input": "free"}},
                    ],
                },
                {
                    "role": "tool",
                    "tool_call_id": "c1",
                    "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
                },
                {"role": "tool", "tool_call_id": "c2", "content": " "},
            ],
            id="calls-and-parts",
        ),
        pytest.param(
            [
                {"role": "user", "content": "hi"},
                {
                    "role": "assistant",
                    "content": [{"type": "text", "text": "a"}, {"type": "refusal", "refusal": "no"}],
                },
                {"role": "user", "content": "go"},
            ],
            id="refusal",
        ),
        pytest.param(
            [
                {"role": "user", "content": "hi"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{**TOOL_CALL, "function": {"name": "f", "arguments": '{"a":'}}],
                },
                {"role": "tool", "tool_call_id": "c1", "content": "null"},
            ],
            id="broken-arguments",
        ),
    ],
)
def test_comes_back_equal(messages: list[dict[str, Any]]) -> None:
    assert body_of(compiled(messages, "openai.chat"))["messages"] == messages


def test_an_edited_record_shows_its_new_text() -> None:
    imported = import_messages(
        [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "", "tool_calls": [TOOL_CALL]}],
        seed="x",
    )
    user, turn, call = imported.messages
    turn.assistant_response.assistant_response = "edited"
    request = CompileRequest(profile=PROFILE_NATIVE, target="openai.chat")
    request.instruction.instruction.instruction = "go"
    body = body_of(compile_turn(request, CompileSource(None, [user, turn, call])))
    assert body["messages"][1]["content"] == "edited"


def test_a_turn_that_gained_calls_shows_them() -> None:
    spoken: dict[str, Any] = {"role": "assistant", "content": "x", "tool_calls": None}
    user, turn = import_messages([{"role": "user", "content": "hi"}, spoken], seed="x").messages
    call, result = native.call(1, "c1"), native.result(2, 1)
    request = CompileRequest(profile=PROFILE_NATIVE, target="openai.chat")
    outcome = compile_turn(request, CompileSource(None, [user, turn, call, result]))
    assert [each["id"] for each in body_of(outcome)["messages"][1]["tool_calls"]] == ["c1"]


def conversations() -> list[list[dict[str, Any]]]:
    """Return the recorded conversations; none where they are not there."""
    lines = [line for path in sorted(DATA.glob("*/*.jsonl")) for line in path.read_text().splitlines()]
    return [json.loads(line)["messages"] for line in lines]


@pytest.mark.skipif(not DATA.is_dir(), reason="the recorded conversations are not beside the repository")
@pytest.mark.parametrize("target", TARGETS)
def test_recorded_conversations(target: str) -> None:
    given = conversations()
    assert given
    for messages in given:
        for with_instruction in {False, messages[-1]["role"] == "user"}:
            outcome = compiled(messages, target, with_instruction=with_instruction)
            body = body_of(outcome)
            if target == "openai.chat":
                assert body["messages"] == messages
                # A tool's name is a key that the types do not have.
                body["messages"] = [{**each} for each in messages]
                for each in body["messages"]:
                    if each["role"] == "tool":
                        del each["name"]
            check_request(target, json.dumps(body))
            steps = [kind for kind, _, _ in check_rules(target, body)]
            assert (
                steps.count("call")
                == steps.count("result")
                == sum(len(each.get("tool_calls") or ()) for each in messages)
            )
            kinds = {CompileNoteKind.Name(note.kind) for note in outcome.report}
            assert kinds <= EXPLAINED[target]

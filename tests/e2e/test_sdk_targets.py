"""Real tool turns, targets and token counts through the SDK, blocking and asyncio, against the real pair."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from antiphon_client import (
    ActionRequest,
    AssistantResponse,
    AsyncCompilerClient,
    Branch,
    Compilation,
    CompilerClient,
    ContextBlock,
    HistoryClient,
    InlineSnapshot,
    Instruction,
    MessageRole,
    System,
    TurnRequest,
)
from antiphon_client.errors import FieldInvalidError, OpenCallsError, ReservedKeyError, TargetUnknownError
from antiphon_client.messages import (
    CacheControl,
    ImageBlock,
    JsonBlock,
    OpaqueBlock,
    TextBlock,
    ThinkingBlock,
)
from antiphon_client.targets import TargetOptions, ToolChoice
from antiphon_client.turn import ToolRole
from tests.support.pair import Pair, served_pair

BIG = 2**70
TOOL = {
    "type": "function",
    "function": {"name": "look up", "description": "d", "parameters": {"type": "object", "properties": {}}},
}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with served_pair(tmp_path_factory.mktemp("pair")) as pair:
        yield pair


@pytest.fixture(scope="module")
def compiler(pair: Pair) -> Iterator[CompilerClient]:
    with CompilerClient(pair.compiler, timeout=30) as client:
        yield client


@pytest.fixture(scope="module")
def branch(pair: Pair) -> Iterator[Branch]:
    with HistoryClient(pair.history, timeout=30) as history:
        branch = Branch.create(history)
        branch.set_system("Be brief")
        branch.add([Instruction.create("q"), AssistantResponse.create("Let me see.")])
        request = ActionRequest.create("look up", {"at": BIG}, provider_call_id="call-1")
        branch.add(request)
        branch.respond(request, output={"seen": BIG})
        yield branch


def native(compiler: CompilerClient, branch: Branch, **how: Any) -> Compilation:
    return compiler.compile(branch, TurnRequest(Instruction.create("now")), profile="native", **how)


def test_native_turns_have_their_roles_and_parts(compiler: CompilerClient, branch: Branch) -> None:
    compilation = native(compiler, branch)
    user, assistant, tool, now = compilation.request.messages
    assert [each.role for each in (user, assistant, tool, now)] == [
        MessageRole.USER,
        MessageRole.ASSISTANT,
        ToolRole.TOOL,
        MessageRole.USER,
    ]
    call, response = list(branch.messages())[3:]
    assert (user.content, now.content) == ("q", "now")
    assert assistant.content == [
        {"type": "text", "text": "Let me see."},
        {
            "type": "tool_call",
            "id": "call-1",
            "name": "look up",
            "arguments_json": f'{{"at":{BIG}}}',
            "message_id": str(call.id),
        },
    ]
    assert tool.content == [
        {
            "type": "tool_result",
            "call_id": "call-1",
            "name": "look up",
            "content": [{"type": "json", "value_json": f'{{"seen":{BIG}}}'}],
            "is_error": False,
            "is_synthesized": False,
            "message_id": str(response.id),
        }
    ]
    assert compilation.system_text == "Be brief"
    assert (compilation.provider_request_json, compilation.provider_request) == (None, None)
    assert (compilation.request_digest, compilation.capability_version, compilation.tokens) == (None,) * 3
    assert dict(compilation.action_names) == {}


def test_every_kind_of_part_has_its_dictionary(compiler: CompilerClient) -> None:
    pixel = ImageBlock(mime_type="image/png", data=b"\x89PNG\r\n\x1a\n", detail="low")
    mark = CacheControl("ephemeral", "1h")
    request = ActionRequest.create("f", {}, thought_signature="t")
    messages = [
        Instruction.create(blocks=[TextBlock("q", mark), pixel, JsonBlock('{"k": 1.0}')]),
        AssistantResponse.create(
            "", blocks=[ThinkingBlock("why", "sig", "p", "m"), OpaqueBlock("p", "m", "k", "[1]")]
        ),
        request,
    ]
    compilation = compiler.compile(
        InlineSnapshot(messages), TurnRequest(Instruction.create("now")), profile="native"
    )
    user, assistant, tool, _ = compilation.request.messages
    assert user.content == [
        {"type": "text", "text": "q", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
        {"type": "image", "mime_type": "image/png", "data": "iVBORw0KGgo=", "detail": "low"},
        {"type": "json", "value_json": '{"k": 1.0}'},
    ]
    assert assistant.content == [
        {"type": "thinking", "thinking": "why", "signature": "sig", "provider": "p", "model": "m"},
        {"type": "opaque", "provider": "p", "model": "m", "kind": "k", "data_json": "[1]"},
        {
            "type": "tool_call",
            "id": str(request.id),
            "name": "f",
            "arguments_json": "{}",
            "thought_signature": "t",
            "message_id": str(request.id),
        },
    ]
    assert isinstance(tool.content, list)
    (result,) = tool.content
    assert (result["is_error"], result["is_synthesized"], result["message_id"]) == (True, True, None)
    assert [note.kind for note in compilation.report] == ["RESULT_SYNTHESIZED"]


def test_a_request_of_a_provider(compiler: CompilerClient, branch: Branch) -> None:
    turn = TurnRequest(
        Instruction.create("now"),
        tool_schemas=[TOOL],
        response_format={"type": "object"},
        context_blocks=(ContextBlock("catalog", "found"),),
        provider_kwargs={"seed": BIG, "temperature": 1.0},
    )
    options = TargetOptions(
        model="m-1",
        tool_choice=ToolChoice("function", "look up", parallel_calls=False),
        response_format_name="verdict",
    )
    compilation = compiler.compile(
        branch, turn, profile="native", target="openai.chat", target_options=options, token_counter="estimate"
    )
    text = compilation.provider_request_json
    assert text is not None
    assert f'"seed":{BIG}' in text
    assert '"temperature":1.0' in text
    assert compilation.request_digest == hashlib.sha256(text.encode()).hexdigest()
    assert compilation.provider_request == json.loads(text)
    assert compilation.provider_request is not compilation.provider_request
    assert compilation.capability_version == compiler.list_targets().capability_version
    (renamed,) = compilation.action_names.values()
    assert compilation.action_names == {"look up": renamed}
    assert " " not in renamed
    with pytest.raises(TypeError):
        compilation.action_names["x"] = "y"  # type: ignore[index]
    request = compilation.provider_request
    assert request is not None
    assert (request["model"], request["parallel_tool_calls"]) == ("m-1", False)
    assert request["tool_choice"]["function"]["name"] == renamed
    assert request["response_format"]["json_schema"]["name"] == "verdict"
    assert [message["role"] for message in request["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "user",
    ]
    kinds = [note.kind for note in compilation.report]
    assert "NAME_MAPPED" in kinds
    tokens = compilation.tokens
    assert tokens is not None
    assert tokens.counter == "estimate"
    assert tokens.total > tokens.system + tokens.tools > tokens.system > 0


def test_options_change_the_request_and_never_the_messages(compiler: CompilerClient, branch: Branch) -> None:
    plain = native(compiler, branch)
    by_target = {
        name: native(compiler, branch, target=name)
        for name in (target.name for target in compiler.list_targets().targets)
    }
    assert len(by_target) == 5
    assert {each.messages_digest for each in by_target.values()} == {plain.messages_digest}
    assert len({each.request_digest for each in by_target.values()}) == 5
    signed = InlineSnapshot(
        [
            Instruction.create("q"),
            AssistantResponse.create("a", blocks=[ThinkingBlock("why", "sig", "anthropic"), TextBlock("a")]),
        ]
    )
    turn = TurnRequest(Instruction.create("now"))

    def request(options: TargetOptions) -> str:
        compiled = compiler.compile(
            signed, turn, profile="native", target="anthropic.messages", target_options=options
        )
        return compiled.provider_request_json or ""

    assert '"signature":"sig"' in request(TargetOptions())
    assert "sig" not in request(TargetOptions(strip_signatures=True))


def test_flags_are_those_that_are_listed(compiler: CompilerClient, branch: Branch) -> None:
    listed = compiler.list_targets()
    flagged = [target for target in listed.targets if target.flags]
    assert flagged
    for target in flagged:
        options = TargetOptions(flags=tuple(target.flags))
        assert native(compiler, branch, target=target.name, target_options=options).provider_request
        with pytest.raises(FieldInvalidError) as caught:
            native(compiler, branch, target=target.name, target_options=TargetOptions(flags=("no-such",)))
        assert caught.value.violations[0].field == "target_options.flags[0]"


def test_the_targets_and_what_each_takes(compiler: CompilerClient) -> None:
    listed = compiler.list_targets()
    assert [target.name for target in listed.targets] == [
        "anthropic.messages",
        "gemini.generate_content",
        "ollama.chat",
        "openai.chat",
        "openai.responses",
    ]
    assert "estimate" in listed.token_counters
    anthropic = listed.get("anthropic.messages")
    assert anthropic is not None
    assert (anthropic.provider, anthropic.cache_marks) == ("anthropic", 4)
    assert anthropic.row == json.loads(anthropic.row_json)
    assert all(meaning for target in listed.targets for meaning in target.flags.values())
    assert listed.get("nobody.chat") is None
    with pytest.raises(TypeError):
        anthropic.flags["x"] = "y"  # type: ignore[index]


def test_a_turn_without_an_instruction_goes_on(compiler: CompilerClient, branch: Branch) -> None:
    going_on = TurnRequest(None)
    compilation = compiler.compile(branch, going_on, profile="native")
    assert compilation.request.instruction is None
    assert compilation.request.messages == native(compiler, branch).request.messages[:-1]
    with pytest.raises(FieldInvalidError) as caught:
        compiler.compile(branch, going_on)
    assert caught.value.violations[0].field == "instruction"
    call = ActionRequest.create("f", {})
    waiting = InlineSnapshot([Instruction.create("q"), AssistantResponse.create(""), call])
    with pytest.raises(OpenCallsError) as open_calls:
        compiler.compile(waiting, going_on, profile="native")
    assert str(call.id) in open_calls.value.metadata["message_ids"]


def test_a_stream_is_the_reply(compiler: CompilerClient, branch: Branch) -> None:
    turn = TurnRequest(
        Instruction.create("now"), tool_schemas=[TOOL], provider_kwargs={"text": "é" * 1_000_000}
    )
    how: dict[str, Any] = {"profile": "native", "target": "openai.chat", "token_counter": "estimate"}
    streamed = compiler.stream_compile(branch, turn, **how)
    inline = compiler.compile(branch, replace(turn, provider_kwargs={}), **how)
    assert streamed.request.messages == inline.request.messages
    assert (streamed.system_text, streamed.tokens) == (inline.system_text, inline.tokens)
    assert (streamed.action_names, streamed.report) == (inline.action_names, inline.report)
    text = streamed.provider_request_json
    assert text is not None
    assert streamed.request_digest == hashlib.sha256(text.encode()).hexdigest()
    whole = compiler.compile(branch, turn, **how)
    assert whole == streamed, "a reply too large for one is streamed"
    assert len(text.encode()) > 2_000_000


def test_a_continuation_streams(compiler: CompilerClient, branch: Branch) -> None:
    assert compiler.stream_compile(branch, TurnRequest(None), profile="native") == compiler.compile(
        branch, TurnRequest(None), profile="native"
    )


def test_what_is_refused(compiler: CompilerClient, branch: Branch) -> None:
    with pytest.raises(TargetUnknownError):
        native(compiler, branch, target="nobody.chat")
    with pytest.raises(FieldInvalidError, match="target_options"):
        native(compiler, branch, target_options=TargetOptions())
    with pytest.raises(FieldInvalidError, match="token_counter"):
        native(compiler, branch, token_counter="guess")
    with pytest.raises(ValueError, match="no profile 'raw'; there are: folded, native"):
        compiler.compile(branch, TurnRequest(None), profile="raw")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no tool choice 'some'"):
        native(
            compiler,
            branch,
            target="openai.chat",
            target_options=TargetOptions(tool_choice=ToolChoice("some")),  # type: ignore[arg-type]
        )
    with pytest.raises(TypeError, match="an Instruction"):
        compiler.compile(branch, TurnRequest("now"))  # type: ignore[arg-type]
    turn = TurnRequest(Instruction.create("now"), provider_kwargs={"contents": []})
    with pytest.raises(ReservedKeyError):
        compiler.compile(branch, turn, target="gemini.generate_content")
    assert compiler.compile(branch, turn, target="openai.chat").provider_request


@pytest.mark.anyio
async def test_the_asyncio_client_has_the_same(pair: Pair, compiler: CompilerClient, branch: Branch) -> None:
    turn = TurnRequest(Instruction.create("now"), tool_schemas=[TOOL])
    snapshot = InlineSnapshot(list(branch.messages())[1:], System.create("Be brief"))
    options = TargetOptions(model="m", tool_choice=ToolChoice("required"))
    how: dict[str, Any] = {"profile": "native", "target": "anthropic.messages", "target_options": options}
    async with AsyncCompilerClient(pair.compiler, timeout=30) as client:
        for source in (branch, snapshot):
            awaited = await client.compile(source, turn, **how)
            streamed = await client.stream_compile(source, turn, **how)
            assert awaited == streamed == compiler.compile(source, turn, **how)
        assert await client.list_targets() == compiler.list_targets()

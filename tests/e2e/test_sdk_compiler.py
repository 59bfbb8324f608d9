"""Turn compilation through the SDK against the real pair."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import BaseModel

from antiphon_client import (
    ActionRequest,
    ActionResponse,
    AssistantResponse,
    Branch,
    CompilerClient,
    ContextBlock,
    HistoryClient,
    InlineSnapshot,
    Instruction,
    MessageRole,
    System,
    TurnRequest,
)
from antiphon_client.errors import (
    BranchNotFoundError,
    ConsecutiveInstructionsError,
    FieldInvalidError,
    FirstMessageNotInstructionError,
    ProgressionInvalidError,
    ReservedKeyError,
)
from antiphon_client.messages import ImageBlock
from tests.support.pair import Pair, served_pair

TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
PIXEL = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with served_pair(tmp_path_factory.mktemp("pair")) as pair:
        yield pair


@pytest.fixture(scope="module")
def history(pair: Pair) -> Iterator[HistoryClient]:
    with HistoryClient(pair.history, timeout=30) as client:
        yield client


@pytest.fixture(scope="module")
def compiler(pair: Pair) -> Iterator[CompilerClient]:
    with CompilerClient(pair.compiler, timeout=30) as client:
        yield client


@pytest.fixture
def branch(history: HistoryClient) -> Branch:
    return Branch.create(history)


def test_a_branch_and_its_messages_inline_compile_alike(branch: Branch, compiler: CompilerClient) -> None:
    request = ActionRequest.create("look", {"at": "sky"})
    messages = [
        Instruction.create("q", context=["c"]),
        AssistantResponse.create("a"),
        request,
        ActionResponse.create(request, {"seen": True}),
    ]
    branch.set_system("Be brief")
    branch.add(messages)
    turn = TurnRequest(
        Instruction.create("and?"),
        tool_schemas=[TOOL],
        context_blocks=(ContextBlock("catalog", "first"),),
        provider_kwargs={"temperature": 0.5},
    )
    pulled = compiler.compile(branch, turn)
    inline = compiler.compile(InlineSnapshot(messages, System.create("Be brief")), turn)
    streamed = compiler.stream_compile(branch.branch_id, turn)
    assert pulled.messages_digest == inline.messages_digest == streamed.messages_digest
    assert pulled.request.messages == inline.request.messages == streamed.request.messages
    assert (pulled.history_revision, inline.history_revision, inline.incarnation) == (3, 0, None)
    assert pulled.incarnation == branch.record().incarnation
    assert [note.kind for note in pulled.report] == [note.kind for note in streamed.report]
    assert "RESULTS_MOVED" in [note.kind for note in pulled.report]
    first, _, last = pulled.request.messages
    assert first.role is MessageRole.USER
    assert "LIONAGI_CONTEXT_BLOCKS_JSON" in str(first.content)
    assert "Tools:" in str(last.content)
    assert "seen: true" in str(last.content)


def test_the_compiled_request_is_frozen_and_shares_nothing(branch: Branch, compiler: CompilerClient) -> None:
    kwargs: dict[str, Any] = {"stop": ["x"]}
    instruction = Instruction.create("q", metadata={"k": [1]}, sender="someone", recipient=None)
    compiled = compiler.compile_chat_request(branch, TurnRequest(instruction, provider_kwargs=kwargs))
    kwargs["stop"].append("y")
    assert compiled.provider_kwargs == {"stop": ["x"]}
    with pytest.raises(TypeError):
        compiled.provider_kwargs["model"] = "m"  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        compiled.messages = ()  # type: ignore[misc]
    ready = compiled.instruction
    assert ready is not None
    assert ready is not instruction
    assert (ready.id, ready.metadata, ready.sender, ready.recipient) == (
        instruction.id,
        {"k": [1]},
        "someone",
        None,
    )
    assert compiled.provider_messages == [{"role": "user", "content": "Instruction: q"}]
    assert branch.add(ready).message_ids == (instruction.id,)


def test_progressions_absent_and_empty_differ(branch: Branch, compiler: CompilerClient) -> None:
    question, answer = Instruction.create("q"), AssistantResponse.create("a")
    branch.add([question, answer])
    now = Instruction.create("now")

    def roles(progression: Any) -> list[str]:
        compiled = compiler.compile_chat_request(branch, TurnRequest(now, progression=progression))
        return [message.role.value for message in compiled.messages]

    assert roles(None) == ["user", "assistant", "user"]
    assert roles(()) == ["user"]
    assert roles((answer.id,)) == ["assistant", "user"]
    branch.select_view([question.id])
    assert roles(None) == ["user", "user"]
    missing = uuid4()
    with pytest.raises(ProgressionInvalidError) as caught:
        roles((missing, answer.id, answer.id))
    assert caught.value.metadata["missing"] == str(missing)
    assert caught.value.domain == "antiphon.history"


def test_compiling_a_past_revision(branch: Branch, compiler: CompilerClient) -> None:
    branch.add(Instruction.create("q"))
    turn = TurnRequest(Instruction.create("now"))
    assert len(compiler.compile(branch, turn, at_revision=1).request.messages) == 1
    assert len(compiler.compile(branch, turn).request.messages) == 2
    with pytest.raises(ValueError, match="inline"):
        compiler.compile(InlineSnapshot(), turn, at_revision=1)


def test_images_become_parts(branch: Branch, compiler: CompilerClient) -> None:
    instruction = Instruction.create("what?", images=[PIXEL], image_detail="low")
    compiled = compiler.compile_chat_request(branch, TurnRequest(instruction))
    assert compiled.messages[0].content == [
        {"type": "text", "text": "Instruction: what?"},
        {"type": "image_url", "image_url": {"url": PIXEL, "detail": "low"}},
    ]
    blocks = [ImageBlock(url=PIXEL), ImageBlock(url=PIXEL, detail="high")]
    parts = Instruction.create(blocks=blocks)
    compiled = compiler.compile_chat_request(branch, TurnRequest(parts))
    assert compiled.messages[0].content == parts.rendered
    assert compiled.messages[0].content[1:] == [
        {"type": "image_url", "image_url": {"url": PIXEL}},
        {"type": "image_url", "image_url": {"url": PIXEL, "detail": "high"}},
    ]


@pytest.mark.parametrize("schemas", [5, "f", [5], {"tools": None}, {"tools": ["f"]}])
def test_a_tool_schema_that_is_no_mapping_is_a_type_error(
    branch: Branch, compiler: CompilerClient, schemas: Any
) -> None:
    with pytest.raises(TypeError, match="a tool schema is an object"):
        compiler.compile(branch, TurnRequest(Instruction.create("x"), tool_schemas=schemas))


def test_response_formats(branch: Branch, compiler: CompilerClient) -> None:
    class Answer(BaseModel):
        verdict: str
        reasons: list[str] = []

    def text(response_format: Any) -> str:
        turn = TurnRequest(Instruction.create("q"), response_format=response_format, structure="json")
        return str(compiler.compile_chat_request(branch, turn).messages[0].content)

    by_class = text(Answer)
    assert "ResponseSchema:" in by_class
    assert '{\\"verdict\\":\\"str\\",\\"reasons\\":[\\"str\\"]}' in by_class
    assert text(Answer(verdict="v")) == by_class
    by_example = text({"verdict": "yes"})
    assert "ResponseSchema:" not in by_example
    assert '{\\"verdict\\":\\"yes\\"}' in by_example


def test_errors_keep_the_texts_of_the_design(branch: Branch, compiler: CompilerClient) -> None:
    now = Instruction.create("now")
    with pytest.raises(
        ReservedKeyError, match=r"^provider_kwargs must not contain reserved key 'messages'$"
    ) as reserved:
        compiler.compile(branch, TurnRequest(now, provider_kwargs={"messages": []}))
    assert isinstance(reserved.value, ValueError)
    with pytest.raises(FieldInvalidError) as invalid:
        compiler.compile(branch, TurnRequest(now, context_blocks=(ContextBlock("", "x"),)))
    assert invalid.value.violations[0].field == "context_blocks[0].provider_name"
    branch.add([Instruction.create("1"), Instruction.create("2")])
    with pytest.raises(
        ConsecutiveInstructionsError,
        match=r"^Consecutive instructions require an intervening assistant response$",
    ):
        compiler.compile(branch, TurnRequest(now))
    branch.clear()
    branch.set_system("s")
    branch.add(AssistantResponse.create("hello"))
    with pytest.raises(
        FirstMessageNotInstructionError,
        match=r"^First message in progression must be an Instruction or System$",
    ):
        compiler.compile(branch, TurnRequest(now))
    with pytest.raises(BranchNotFoundError):
        compiler.compile(uuid4(), TurnRequest(now))


def test_a_result_too_large_for_one_reply_is_streamed(branch: Branch, compiler: CompilerClient) -> None:
    text = "é" * 1_000_000
    branch.add(Instruction.create(text))
    branch.add(AssistantResponse.create(text))
    compiled = compiler.compile(branch, TurnRequest(Instruction.create("now")))
    contents = [str(message.content) for message in compiled.request.messages]
    assert contents == [f"Instruction: {text}", text, "Instruction: now"]
    assert compiled.history_revision == 3


@pytest.mark.parametrize("folder", ["a b", "p%41q", "q?x=1", "h#frag", "ünï"])
def test_socket_paths_are_taken_as_they_stand(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir()
    with (
        served_pair(tmp_path / folder) as pair,
        HistoryClient(pair.history) as history,
        CompilerClient(pair.compiler) as compiler,
    ):
        assert pair.history == f"unix:{tmp_path}/{folder}/h.sock"
        compiled = compiler.compile(Branch.create(history), TurnRequest(Instruction.create("x")))
        assert len(compiled.request.messages) == 1

"""One payload matrix for every way of calling a model: whole and streamed, blocking and asyncio."""

from __future__ import annotations

import asyncio
import copy
import gc
import inspect
import itertools
from collections.abc import AsyncIterator, Iterator
from dataclasses import fields
from typing import Any

import pytest

from antiphon_client import (
    AssistantResponse,
    AsyncCompilerClient,
    Branch,
    Compilation,
    CompilerClient,
    HistoryClient,
    InlineSnapshot,
    Instruction,
    System,
    TurnRequest,
)
from antiphon_client.errors import ConsecutiveInstructionsError
from antiphon_client.targets import Profile, TargetOptions, ToolChoice
from tests.support.pair import Pair, served_pair
from tests.support.payloads import SCENES, TOOL, Scene

PIECES = ("a", "b")
TARGETS = (
    "anthropic.messages",
    "gemini.generate_content",
    "ollama.chat",
    "openai.chat",
    "openai.responses",
)


class Model:
    """Records what it is called with and answers in the four ways."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    def invoke(self, **arguments: Any) -> str:
        self.calls.append(arguments)
        return "".join(PIECES)

    def stream(self, **arguments: Any) -> Iterator[str]:
        self.calls.append(arguments)
        return iter(PIECES)

    async def ainvoke(self, **arguments: Any) -> str:
        return self.invoke(**arguments)

    async def astream(self, **arguments: Any) -> AsyncIterator[str]:
        self.calls.append(arguments)
        return _arriving()


async def _arriving() -> AsyncIterator[str]:
    for piece in PIECES:
        yield piece


class Counting(CompilerClient):
    """Counts compilations."""

    compilations = 0

    def compile(self, *args: Any, **kwargs: Any) -> Compilation:
        self.compilations += 1
        return super().compile(*args, **kwargs)


class AsyncCounting(AsyncCompilerClient):
    """Counts compilations."""

    compilations = 0

    async def compile(self, *args: Any, **kwargs: Any) -> Compilation:
        self.compilations += 1
        return await super().compile(*args, **kwargs)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with served_pair(tmp_path_factory.mktemp("pair")) as pair:
        yield pair


@pytest.fixture(scope="module")
def history(pair: Pair) -> Iterator[HistoryClient]:
    with HistoryClient(pair.history, timeout=30) as client:
        yield client


@pytest.fixture
def compiler(pair: Pair) -> Iterator[Counting]:
    with Counting(pair.compiler, timeout=30) as client:
        yield client


def stored(history: HistoryClient, scene: Scene) -> Branch:
    branch = Branch.create(history)
    if scene.system is not None:
        branch.set_system(scene.system)
    if scene.messages:
        branch.add(copy.deepcopy(list(scene.messages)))
    return branch


async def payloads(
    pair: Pair, compiler: Counting, branch: Branch, turn: TurnRequest, **how: Any
) -> tuple[list[dict[str, Any]], list[Compilation]]:
    """Call a model in every way; return what it was called with, and what was compiled."""
    model = Model()
    chat = compiler.chat(branch, turn, model.invoke, **how)
    run = compiler.run(branch, turn, model.stream, **how)
    assert (chat.answer, tuple(run)) == ("ab", PIECES)
    async with AsyncCounting(pair.compiler, timeout=30) as client:
        chat_later = await client.chat(branch, turn, model.ainvoke, **how)
        run_later = await client.run(branch, turn, model.astream, **how)
        assert (chat_later.answer, [piece async for piece in run_later]) == ("ab", list(PIECES))
        assert (compiler.compilations, client.compilations) == (2, 2)
    compiled = [each.compilation for each in (chat, run, chat_later, run_later)]
    assert len(model.calls) == 4
    return model.calls, compiled


def without_execution(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Take what execution alone adds from the streamed calls, which must be there."""
    chat, run, chat_later, run_later = calls
    return [chat, _unstreamed(run), chat_later, _unstreamed(run_later)]


def _unstreamed(arguments: dict[str, Any]) -> dict[str, Any]:
    assert arguments["stream"] is True
    return {name: value for name, value in arguments.items() if name != "stream"}


@pytest.mark.anyio
@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES.keys())
async def test_every_way_sends_the_same(
    pair: Pair, history: HistoryClient, compiler: Counting, scene: Scene
) -> None:
    branch = stored(history, scene)
    revision = branch.record().revision
    calls, compiled = await payloads(pair, compiler, branch, scene.turn)
    expected = [{"role": role, "content": content} for role, content in scene.expected]
    for arguments in without_execution(calls):
        assert arguments == {"messages": expected, **scene.kwargs}
    assert {each.messages_digest for each in compiled} == {compiled[0].messages_digest}
    assert all(each.request == compiled[0].request for each in compiled)
    assert branch.record().revision == revision, "neither way records anything"


@pytest.mark.anyio
@pytest.mark.parametrize("profile", ["folded", "native"])
@pytest.mark.parametrize("target", TARGETS)
async def test_every_way_sends_the_same_request_of_a_provider(
    pair: Pair, history: HistoryClient, compiler: Counting, target: str, profile: Profile
) -> None:
    branch = stored(history, SCENES["action results before a later instruction"])
    turn = TurnRequest(Instruction.create("now"), tool_schemas=[TOOL])
    options = TargetOptions(model="m-1", tool_choice=ToolChoice("auto") if profile == "native" else None)
    how: dict[str, Any] = {"profile": profile, "target": target, "target_options": options}
    calls, compiled = await payloads(pair, compiler, branch, turn, **how)
    for arguments in without_execution(calls):
        assert arguments == {
            name: value for name, value in (compiled[0].provider_request or {}).items() if name != "stream"
        }
    assert len({each.request_digest for each in compiled}) == 1


def test_what_a_model_does_to_its_arguments_reaches_nothing(
    history: HistoryClient, compiler: Counting
) -> None:
    scene = SCENES["images"]
    kwargs: dict[str, Any] = {"stop": ["x"]}
    turn = TurnRequest(scene.turn.instruction, provider_kwargs=kwargs)

    def invoke(messages: list[dict[str, Any]], stop: list[str]) -> None:
        messages[0]["content"].clear()
        messages.clear()
        stop.append("y")

    compilation = compiler.chat(stored(history, scene), turn, invoke).compilation
    sent = [(each["role"], each["content"]) for each in compilation.request.provider_messages]
    assert sent == scene.expected
    assert (kwargs, compilation.request.provider_kwargs) == ({"stop": ["x"]}, {"stop": ["x"]})


def test_what_a_caller_does_to_its_containers_reaches_nothing_compiled(
    history: HistoryClient, compiler: Counting
) -> None:
    schema = copy.deepcopy(TOOL)
    shape, kwargs = {"a": [1]}, {"stop": ["x"]}
    metadata, images = {"k": [1]}, list(SCENES["images"].turn.instruction.content.images)  # type: ignore[union-attr]
    instruction = Instruction.create("now", images=images, metadata=metadata, context=[{"c": 1}])
    turn = TurnRequest(instruction, tool_schemas=[schema], response_format=shape, provider_kwargs=kwargs)
    compilation = compiler.compile(Branch.create(history), turn)
    before = repr(compilation)
    schema.clear()
    shape["a"].append(2)
    kwargs["stop"].append("y")
    metadata["k"].append(2)
    images.clear()
    instruction.content.prompt_context.append("more")
    instruction.content.images.clear()
    assert repr(compilation) == before


def test_compiling_leaves_the_turn_as_it_is(history: HistoryClient, compiler: Counting) -> None:
    for scene in SCENES.values():
        turn, instruction = scene.turn, scene.turn.instruction
        assert instruction is not None
        before = (repr(turn), instruction.to_dict())
        compiler.compile(stored(history, scene), turn)
        assert (repr(turn), instruction.to_dict()) == before


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES.keys())
def test_what_may_be_recorded_holds_nothing_of_the_call(
    history: HistoryClient, compiler: Counting, scene: Scene
) -> None:
    ready = compiler.compile_chat_request(stored(history, scene), scene.turn).instruction
    assert ready is not None
    assert ready is not scene.turn.instruction
    assert scene.turn.instruction is not None
    recorded, given = ready.to_dict(), scene.turn.instruction.to_dict()
    given["content"].setdefault("image_detail", "auto")  # what its absence means
    assert recorded == given
    text = str(recorded)
    for passing in ("look", "verdict", "LIONAGI", "retrieved", "temperature"):
        assert passing not in text


def test_a_turn_has_no_place_for_execution() -> None:
    assert [each.name for each in fields(TurnRequest)] == [
        "instruction",
        "progression",
        "tool_schemas",
        "response_format",
        "structure",
        "context_blocks",
        "provider_kwargs",
    ]
    adapted = set(inspect.signature(TurnRequest.from_options).parameters)
    for name in ("stream", "resume", "deadline", "persist", "stream_persist", "persist_dir", "snapshot_dir"):
        assert name not in adapted
        with pytest.raises(TypeError, match=name):
            TurnRequest.from_options(Instruction.create("now"), **{name: True})  # type: ignore[arg-type]


def test_run_adds_what_execution_needs_and_tells_every_piece(compiler: Counting) -> None:
    model = Model()
    kept: list[str] = []
    turn = TurnRequest(Instruction.create("now"))
    stream = compiler.run(
        InlineSnapshot(), turn, model.stream, resume="session-1", deadline=60, persist=kept.append
    )
    assert kept == []
    arriving = iter(stream)
    assert (next(arriving), kept) == ("a", ["a"]), "a piece is kept before it is handed on"
    assert (list(arriving), kept) == (["b"], ["a", "b"])
    (arguments,) = model.calls
    assert arguments == {
        "messages": [{"role": "user", "content": "Instruction: now"}],
        "stream": True,
        "resume": "session-1",
    }


@pytest.mark.parametrize(("kwargs", "resume"), [({"stream": False}, None), ({"resume": 1}, "session-1")])
def test_run_overwrites_no_keyword_argument(compiler: Counting, kwargs: dict[str, Any], resume: Any) -> None:
    model = Model()
    turn = TurnRequest(Instruction.create("now"), provider_kwargs=kwargs)
    with pytest.raises(ValueError, match=rf"must not contain what run adds: {next(iter(kwargs))}$"):
        compiler.run(InlineSnapshot(), turn, model.stream, resume=resume)
    assert model.calls == []
    compiler.chat(InlineSnapshot(), turn, model.invoke)
    assert model.calls[0].items() >= kwargs.items()


def test_a_refused_turn_calls_no_model_and_records_nothing(
    history: HistoryClient, compiler: Counting
) -> None:
    branch, model = Branch.create(history), Model()
    branch.add([Instruction.create("1"), Instruction.create("2")])
    turn = TurnRequest(Instruction.create("now"))
    with pytest.raises(ConsecutiveInstructionsError):
        compiler.chat(branch, turn, model.invoke)
    with pytest.raises(ConsecutiveInstructionsError):
        compiler.run(branch, turn, model.stream)
    assert (model.calls, branch.record().revision) == ([], 2)


def test_a_model_that_fails_leaves_the_history_as_it_is(history: HistoryClient, compiler: Counting) -> None:
    branch = Branch.create(history)

    def fail(**arguments: Any) -> Iterator[str]:
        raise ConnectionError("no model")

    turn = TurnRequest(Instruction.create("now"))
    with pytest.raises(ConnectionError):
        compiler.chat(branch, turn, fail)
    with pytest.raises(ConnectionError):
        compiler.run(branch, turn, fail)
    assert branch.record().message_count == 0


def test_a_stream_past_its_deadline_is_cut(compiler: Counting) -> None:
    kept: list[str] = []
    turn = TurnRequest(Instruction.create("now"))
    stream = compiler.run(InlineSnapshot(), turn, Model().stream, deadline=-1, persist=kept.append)
    with pytest.raises(TimeoutError):
        list(stream)
    assert kept == []


@pytest.mark.anyio
async def test_an_asyncio_stream_ends_its_wait_at_the_deadline(pair: Pair) -> None:
    kept: list[str] = []

    async def keep(piece: str) -> None:
        kept.append(piece)

    async def stuck(**arguments: Any) -> AsyncIterator[str]:
        yield "a"
        await asyncio.Event().wait()

    async def never(**arguments: Any) -> AsyncIterator[str]:
        await asyncio.Event().wait()
        return _arriving()

    turn = TurnRequest(Instruction.create("now"))
    async with AsyncCompilerClient(pair.compiler, timeout=30) as client:
        stream = await client.run(InlineSnapshot(), turn, stuck, deadline=0.05, persist=keep)
        arriving = aiter(stream)
        assert (await anext(arriving), kept) == ("a", ["a"])
        with pytest.raises(TimeoutError):
            await anext(arriving)
        assert kept == ["a"]
        with pytest.raises(TimeoutError, match="is not whole at its deadline"):
            await client.run(InlineSnapshot(), turn, never, deadline=0.05)


class _Endless:
    """A model's stream that never ends of itself, blocking and asyncio."""

    def __init__(self) -> None:
        self.closed = 0

    def __iter__(self) -> Iterator[str]:
        return itertools.repeat("a")

    async def __aiter__(self) -> AsyncIterator[str]:
        while True:
            await asyncio.sleep(0.01)
            yield "a"

    def close(self) -> None:
        self.closed += 1


@pytest.mark.anyio
async def test_a_stream_that_is_cut_or_left_is_closed(pair: Pair) -> None:
    turn = TurnRequest(Instruction.create("now"))
    late = "the model's answer is not whole at its deadline"
    model = _Endless()
    with CompilerClient(pair.compiler, timeout=30) as client:
        with pytest.raises(TimeoutError, match=late):
            list(client.run(InlineSnapshot(), turn, lambda **_: model, deadline=0.05))
        assert model.closed == 1
        for _ in client.run(InlineSnapshot(), turn, lambda **_: model):
            break
        gc.collect()
        assert model.closed == 2
    async with AsyncCompilerClient(pair.compiler, timeout=30) as client:
        stream = await client.run(InlineSnapshot(), turn, lambda **_: model, deadline=0.05)
        with pytest.raises(TimeoutError, match=late):
            [piece async for piece in stream]
        assert model.closed == 3


def test_older_options_are_adapted() -> None:
    now, kept = Instruction.create("now"), AssistantResponse.create("a")
    assert TurnRequest.from_options(now, progression=[]).progression is None
    assert TurnRequest.from_options(now, progression=[kept.id]).progression == (kept.id,)
    assert TurnRequest(now, progression=()).progression == ()
    given: dict[str, Any] = {"temperature": 1}
    adapted = TurnRequest.from_options(now, tool_schemas={"tools": [TOOL]}, provider_kwargs=given)
    given["temperature"] = 2
    assert adapted.provider_kwargs == {"temperature": 1}
    with pytest.raises(TypeError):
        adapted.provider_kwargs["model"] = "m"  # type: ignore[index]


def test_inline_and_stored_histories_send_the_same(history: HistoryClient, compiler: Counting) -> None:
    for scene in SCENES.values():
        system = None if scene.system is None else System.create(scene.system)
        inline = compiler.compile(InlineSnapshot(scene.messages, system), scene.turn)
        pulled = compiler.compile(stored(history, scene), scene.turn)
        assert inline.messages_digest == pulled.messages_digest
        assert inline.request.messages == pulled.request.messages

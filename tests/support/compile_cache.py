"""Compilers in front of one history without a wire, and random programs of writes and compilations."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import strategies as st

from antiphon.compiler.v1.compiler_service_pb2 import (
    PROFILE_FOLDED,
    PROFILE_NATIVE,
    CompileRequest,
    PlanWindowRequest,
    PlanWindowResponse,
    StreamCompileRequest,
)
from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.message.v1 import message_pb2 as message_pb
from antiphon.message.v1.message_pb2 import Message
from antiphon_client.edge.call import Call, bind_call
from antiphon_client.errors import AntiphonError
from antiphon_client.limits import DEFAULT_LIMITS, Limits
from antiphon_client.snapshot import AssembledSnapshot
from compiler_service.folded import division
from compiler_service.folded.plain import read_records
from compiler_service.servicer import CompilerServicer
from compiler_service.state import FoldedRecord
from tests.support.history import History, uuid_of


class _Frames:
    """The frames of one answer, as the stub's stream gives them."""

    def __init__(self, frames: asyncio.Task[list[pb.ReadSnapshotResponse]]) -> None:
        self._frames = frames

    async def __aiter__(self) -> AsyncIterator[pb.ReadSnapshotResponse]:
        for frame in await self._frames:
            yield frame

    def cancel(self) -> None:
        """Nothing is under way any more."""


class DirectHistory:
    """The part of the history service's stub that a compiler needs, over the servicer itself."""

    def __init__(self, history: History) -> None:
        self._history = history
        self.requests: list[pb.ReadSnapshotRequest] = []
        self.messages_sent: list[int] = []

    def ReadSnapshot(self, request: pb.ReadSnapshotRequest, **_: Any) -> _Frames:  # noqa: N802
        """Read a snapshot, in a task of its own, as its call is another one."""
        self.requests.append(request)
        return _Frames(asyncio.create_task(self._read(request)))

    async def _read(self, request: pb.ReadSnapshotRequest) -> list[pb.ReadSnapshotResponse]:
        frames = self._history.frames(
            request.branch_id,
            at=request.at_revision if request.HasField("at_revision") else None,
            ids=request.progression.message_ids if request.HasField("progression") else None,
            since=request.since_revision if request.HasField("since_revision") else None,
            incarnation=request.since_incarnation,
        )
        answer = [pb.ReadSnapshotResponse.FromString(frame) async for frame in frames]
        self.messages_sent.append(answer[-1].footer.message_count)
        return answer


class Compiler:
    """A compiler with a cache of a size, in front of a history."""

    def __init__(self, history: History, cache_bytes: int, limits: Limits = DEFAULT_LIMITS) -> None:
        self.stub = DirectHistory(history)
        self.servicer = CompilerServicer(self.stub, limits, cache_bytes=cache_bytes)  # type: ignore[arg-type]

    async def compile(self, request: CompileRequest, tenant_id: str = "") -> bytes | tuple[Any, ...]:
        """Return the encoded reply, or what makes an error."""

        async def serve() -> bytes:
            bind_call(Call("/antiphon.compiler.v1.CompilerService/Compile", tenant_id))
            return await self.servicer.Compile(request, None)

        return await _outcome(serve())

    async def plan(self, request: PlanWindowRequest) -> PlanWindowResponse:
        """Return the plan of a window."""

        async def serve() -> PlanWindowResponse:
            bind_call(Call("/antiphon.compiler.v1.CompilerService/PlanWindow"))
            return await self.servicer.PlanWindow(request, None)

        return await asyncio.create_task(serve())

    async def stream(self, request: CompileRequest) -> bytes | tuple[Any, ...]:
        """Return the encoded frames of a streamed reply, joined, or what makes an error."""

        async def serve() -> bytes:
            bind_call(Call("/antiphon.compiler.v1.CompilerService/StreamCompile"))
            frames = self.servicer.StreamCompile(StreamCompileRequest(request=request), None)
            return b"".join([frame.SerializeToString(deterministic=True) async for frame in frames])

        return await _outcome(serve())


async def _outcome(call: Any) -> bytes | tuple[Any, ...]:
    try:
        reply: bytes = await asyncio.create_task(call)
    except AntiphonError as error:
        return error.reason, error.message, dict(error.metadata), error.domain
    return reply


def question(branch_id: str, **fields: Any) -> CompileRequest:
    """Make a request with a branch as its source."""
    request = CompileRequest(**fields)
    request.branch.branch_id = branch_id
    request.instruction.instruction.instruction = "what now?"
    return request


# Random programs

NUMBERS = st.integers(0, 40)
Program = list[Callable[["Scene"], Any]]


@dataclass
class Scene:
    """A program on its way: two branches, compilers with and without caches.

    The plain one keeps nothing and compiles everything at once.
    """

    history: History
    plain: Compiler
    compilers: Sequence[Compiler]
    branches: Sequence[str]
    branch: str = ""
    next_number: int = 1
    compiled: list[bool] = field(default_factory=list)

    async def run(self, steps: Sequence[Callable[[Scene], Any]]) -> None:
        """Run the steps; after each one compile the branch as it stands."""
        self.branch = self.branches[0]
        for step in steps:
            await step(self)
            await self.compare(question(self.branch))

    def number(self) -> int:
        """Return a message number that was not used before."""
        self.next_number += 1
        return self.next_number

    async def write(self, request: Any) -> None:
        """Write, or not, if it is refused."""
        try:
            await self.history.call(request)
        except AntiphonError:
            return

    async def messages(self) -> list[Message]:
        """Read the branch."""
        return await self.history.messages(self.branch)

    async def compare(self, request: CompileRequest, *, stream: bool = False) -> None:
        """Check that every compiler gives what the plain one gives."""
        reply = await (self.plain.stream(request) if stream else self.plain.compile(request))
        self.compiled.append(isinstance(reply, bytes))
        usual = division.STRETCH_MESSAGES
        try:
            for compiler, stretch_messages in zip(self.compilers, itertools.cycle((2, 6)), strict=False):
                division.STRETCH_MESSAGES = stretch_messages
                other = await (compiler.stream(request) if stream else compiler.compile(request))
                assert other == reply
        finally:
            division.STRETCH_MESSAGES = usual


def _adding(contents: Sequence[tuple[str, str]]) -> Callable[[Scene], Any]:
    async def step(scene: Scene) -> None:
        added: list[Message] = []
        call_id = ""
        for kind, text in contents:
            message = Message(id=uuid_of(scene.number()))
            if text == "excluded":
                message.status = message_pb.MESSAGE_STATUS_EXCLUDED
            if text == "interrupted":
                message.status = message_pb.MESSAGE_STATUS_INTERRUPTED
            if kind == "ask":
                message.instruction.instruction = text
            elif kind == "answer":
                message.assistant_response.assistant_response = text
            elif kind == "call":
                call_id = message.id
                message.action_request.function = "f"
                message.action_request.arguments_json = '{"a": 1}'
            elif kind in ("result", "interim"):
                response = message.action_response
                response.function, response.arguments_json = "f", '{"a": 1}'
                response.output_json = f'{{"text": "{text}"}}'
                response.action_request_id = call_id or uuid_of(0xCA11)
                if kind == "interim":
                    response.state = message_pb.ACTION_RESPONSE_STATE_INTERIM
            else:
                message.generic.value_json = "1"
            added.append(message)
        await scene.write(
            pb.AddMessagesRequest(branch_id=scene.branch, messages=added, allow_unresolved=True)
        )

    return step


def _answering(which: int, interim: bool) -> Callable[[Scene], Any]:
    """A result, or news, of some call of the branch."""

    async def step(scene: Scene) -> None:
        calls = [m.id for m in await scene.messages() if m.HasField("action_request")]
        if calls:
            message = Message(id=uuid_of(scene.number()))
            message.action_response.function = "f"
            message.action_response.action_request_id = calls[which % len(calls)]
            if interim:
                message.action_response.state = message_pb.ACTION_RESPONSE_STATE_INTERIM
            await scene.write(pb.AddMessagesRequest(branch_id=scene.branch, messages=[message]))

    return step


def _news_then_outcome(which: int, undone: bool) -> Callable[[Scene], Any]:
    """The final result of a call of which there is news, however long ago; or such a result is removed."""

    async def step(scene: Scene) -> None:
        messages = await scene.messages()
        responses = [m for m in messages if m.HasField("action_response")]
        interim = message_pb.ACTION_RESPONSE_STATE_INTERIM
        news = {m.action_response.action_request_id for m in responses if m.action_response.state == interim}
        final = [m.id for m in responses if m.action_response.state != interim]
        if undone and final:
            await scene.write(
                pb.RemoveMessagesRequest(branch_id=scene.branch, message_ids=[final[which % len(final)]])
            )
        elif news:
            message = Message(id=uuid_of(scene.number()))
            message.action_response.function = "f"
            message.action_response.action_request_id = sorted(news)[which % len(news)]
            await scene.write(
                pb.AddMessagesRequest(branch_id=scene.branch, messages=[message], allow_unresolved=True)
            )

    return step


def _replacing(which: int, status: int, text: str) -> Callable[[Scene], Any]:
    async def step(scene: Scene) -> None:
        messages = await scene.messages()
        if messages:
            message = messages[which % len(messages)]
            message.status = status  # type: ignore[assignment]
            if message.HasField("instruction"):
                message.instruction.instruction = text
            elif message.HasField("assistant_response"):
                message.assistant_response.assistant_response = text
            message.ClearField("created_at")
            await scene.write(pb.AddMessagesRequest(branch_id=scene.branch, messages=[message]))

    return step


def _removing(which: int, count: int) -> Callable[[Scene], Any]:
    async def step(scene: Scene) -> None:
        ids = [message.id for message in await scene.messages()]
        chosen = ids[which % max(1, len(ids)) :][:count]
        await scene.write(pb.RemoveMessagesRequest(branch_id=scene.branch, message_ids=chosen))

    return step


def _moving(which: int, index: int) -> Callable[[Scene], Any]:
    async def step(scene: Scene) -> None:
        ids = [message.id for message in await scene.messages()]
        if ids:
            await scene.write(
                pb.MoveMessageRequest(
                    branch_id=scene.branch, message_id=ids[which % len(ids)], index=index % len(ids)
                )
            )

    return step


def _selecting(start: int, length: int, heads: int) -> Callable[[Scene], Any]:
    async def step(scene: Scene) -> None:
        ids = [message.id for message in await scene.messages()]
        chosen = dict.fromkeys([*ids[:heads], *ids[start : start + length]])
        await scene.write(pb.SelectViewRequest(branch_id=scene.branch, message_ids=chosen))

    return step


def _compacting(end: int, kept: int) -> Callable[[Scene], Any]:
    async def step(scene: Scene) -> None:
        ids = [m.id for m in await scene.messages() if not m.HasField("summary")]
        if len(ids) > 1:
            request = pb.CommitCompactionRequest(branch_id=scene.branch)
            request.summary.text = "so far"
            request.summary.first_id, request.summary.last_id = ids[0], ids[min(end, len(ids) - 1)]
            request.view_message_ids.extend(ids[-kept:] if kept else [])
            await scene.write(request)

    return step


def _asking(make: Callable[[str], Any]) -> Callable[[Scene], Any]:
    async def step(scene: Scene) -> None:
        await scene.write(make(scene.branch))

    return step


def _system(text: str, status: int) -> Callable[[Scene], Any]:
    async def step(scene: Scene) -> None:
        message = Message(id=uuid_of(scene.number()), status=status)  # type: ignore[arg-type]
        message.system.system_message = text
        await scene.write(pb.AddMessagesRequest(branch_id=scene.branch, messages=[message]))

    return step


def _turning(which: int) -> Callable[[Scene], Any]:
    async def step(scene: Scene) -> None:
        scene.branch = scene.branches[which]

    return step


@dataclass(frozen=True)
class _Compilation:
    native: bool
    back: int | None
    context: str
    target: str
    chosen: bool
    stream: bool

    async def __call__(self, scene: Scene) -> None:
        request = question(scene.branch, profile=PROFILE_NATIVE if self.native else PROFILE_FOLDED)
        if self.back is not None:
            revision = (await scene.history.branch(scene.branch)).revision
            request.branch.at_revision = max(1, revision - self.back)
        if self.context:
            request.context_blocks.add(provider_name="p", content=self.context)
        if self.target:
            request.target = self.target
        if self.chosen:
            ids = [message.id for message in await scene.messages()]
            request.progression.message_ids.extend(ids[::2])
        await scene.compare(request, stream=self.stream)


COMPILATIONS = st.builds(
    _Compilation,
    st.sampled_from([False, False, False, True]),
    st.sampled_from([None, None, None, 0, 1, 3]),
    st.sampled_from(["", "", "c"]),
    st.sampled_from(["", "", "", "openai.chat", "anthropic.messages"]),
    st.sampled_from([False] * 7 + [True]),
    st.sampled_from([False] * 5 + [True]),
)
TEXTS = st.sampled_from(["a", "b", "naïve 東京", "", "a", "b", "excluded", "interrupted"])
_LATER = st.lists(
    st.tuples(st.sampled_from(["call", "result", "result", "interim", "generic"]), TEXTS), max_size=4
)
ROUNDS = st.builds(
    lambda text, later, answers: _adding([("ask", text), *later, *answers]),
    TEXTS,
    _LATER,
    st.lists(st.tuples(st.just("answer"), TEXTS), min_size=1, max_size=2),
)
STATUSES = st.sampled_from([message_pb.MESSAGE_STATUS_UNSPECIFIED] * 3 + [message_pb.MESSAGE_STATUS_EXCLUDED])
WRITES = st.one_of(
    ROUNDS,
    ROUNDS,
    ROUNDS,
    st.builds(_adding, st.lists(st.tuples(st.sampled_from(["ask", "answer", "call"]), TEXTS), max_size=2)),
    st.builds(_answering, NUMBERS, st.booleans()),
    st.builds(_answering, NUMBERS, st.booleans()),
    st.builds(_news_then_outcome, NUMBERS, st.booleans()),
    st.builds(_news_then_outcome, NUMBERS, st.booleans()),
    st.builds(_replacing, NUMBERS, STATUSES, TEXTS),
    st.builds(_removing, NUMBERS, st.integers(1, 3)),
    st.builds(_moving, NUMBERS, NUMBERS),
    st.builds(_selecting, NUMBERS, NUMBERS, st.integers(0, 1)),
    st.builds(_compacting, NUMBERS, st.integers(0, 9)),
    st.builds(_system, TEXTS, STATUSES),
    st.sampled_from(
        [
            _asking(lambda branch: pb.ClearViewRequest(branch_id=branch)),
            _asking(lambda branch: pb.UpdateBranchRequest(branch_id=branch, metadata_json='{"a":1}')),
            _asking(lambda branch: pb.ClearMessagesRequest(branch_id=branch)),
        ]
    ),
    st.builds(_turning, st.integers(0, 1)),
)
_BEGINNINGS = st.lists(ROUNDS, min_size=3, max_size=6)
PROGRAMS: st.SearchStrategy[Program] = st.builds(
    lambda beginning, first, steps: [*beginning, first, *steps],
    _BEGINNINGS,
    COMPILATIONS,
    st.lists(st.one_of(WRITES, COMPILATIONS), min_size=4, max_size=24),
)


def counting_reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how many messages of a whole snapshot are read from now on, one number for each time."""
    counts: list[int] = []
    decode, read = AssembledSnapshot.decode, read_records

    def decoding(snapshot: AssembledSnapshot, start: int = 0, stop: int | None = None) -> list[Message]:
        messages = decode(snapshot, start, stop)
        counts.append(len(messages))
        return messages

    def reading(message_ids: Sequence[str], encoded: Sequence[bytes], start: int) -> list[FoldedRecord]:
        counts.append(len(encoded))
        return read(message_ids, encoded, start)

    monkeypatch.setattr(AssembledSnapshot, "decode", decoding)
    monkeypatch.setattr("compiler_service.cache.messages.read_records", reading)
    return counts

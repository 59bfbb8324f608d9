"""Running random programs on a store beside the model."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.message.v1 import message_pb2 as message_pb
from antiphon.message.v1.content_block_pb2 import IMAGE_DETAIL_AUTO
from antiphon_client.errors import AntiphonError, RevisionExpiredError
from tests.support import history_model as model
from tests.support import postgres
from tests.support.history import History, make_store, numbers, on_postgres, running, uuid_of
from tests.support.history_programs import (
    AnyStep,
    Request,
    Restart,
    Wait,
    branch_id,
    encode,
    foretell,
    outcome,
    request_of,
    wait,
)
from tests.support.stored import message_bodies


@dataclass
class Transcript:
    """All that a program got to see, and the bodies the store holds in the end."""

    answers: list[bytes] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)


@contextmanager
def empty_folder(kind: str) -> Iterator[Path]:
    """Give a program a store of its own; skips the test where there is no server for it."""
    if on_postgres(kind):
        postgres.require_server()
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)
    if on_postgres(kind):
        postgres.recycle()


def run_beside_memory(kind: str, folder: Path, steps: Sequence[AnyStep]) -> None:
    """Run a program in memory and on a store of a kind.

    They answer alike, byte for byte, and keep the same bodies.
    """
    in_memory = asyncio.run(run("memory", folder, steps))
    in_store = asyncio.run(run(kind, folder, steps))
    assert in_memory.answers == in_store.answers
    assert in_memory.bodies == in_store.bodies


async def run(kind: str, folder: Path, steps: Sequence[AnyStep]) -> Transcript:
    """Run a program on a store and on the model."""
    transcript, world = Transcript(), model.World()
    async with running(kind, folder) as history:
        await history.call(pb.CreateBranchRequest(branch_id=branch_id(0)))
        for step in steps:
            await _take(history, kind, folder, world, step, transcript)
        for number, branch in world.branches.items():
            if not branch.deleted:
                await _compare_all(history, branch_id(number), branch, transcript)
        transcript.bodies = message_bodies(history.store)
        await history.store.close()
    return transcript


async def _take(
    history: History, kind: str, folder: Path, world: model.World, step: AnyStep, transcript: Transcript
) -> None:
    if isinstance(step, Restart):
        if kind != "memory":
            await history.store.close()
            history.serve(make_store(kind, folder))
            await history.store.start()
    elif isinstance(step, Wait):
        await wait(history, step.days)
    else:
        got = await attempt(history, step, world, transcript)
        assert got == await foretell(history, world, step), step


async def attempt(history: History, step: Request, world: model.World, transcript: Transcript) -> object:
    """Return what the service makes of a step: a reason, or the revision and the places."""
    try:
        response = await history.call(request_of(step, world))
    except AntiphonError as error:
        transcript.answers.append(f"{error.reason} {error.message} {error.metadata}".encode())
        return error.reason
    transcript.answers.append(response.SerializeToString(deterministic=True))
    return outcome(response)


async def _compare_all(history: History, branch: str, expected: model.Model, transcript: Transcript) -> None:
    for at in range(1, expected.revision + 1):
        if at < expected.oldest:
            with pytest.raises(RevisionExpiredError) as caught:
                await history.branch(branch, at)
            assert caught.value.oldest_revision == expected.oldest
        else:
            await compare(history, branch, at, expected.at(at), transcript)


async def compare(history: History, branch: str, at: int, state: model.State, transcript: Transcript) -> None:
    """Check all that can be read at a revision."""
    listed = await history.messages(branch, at_revision=at, page_size=3)
    transcript.answers.extend(message.SerializeToString(deterministic=True) for message in listed)
    assert numbers(message.id for message in listed) == state.order
    for message in listed:
        message.ClearField("created_at")
        message.ClearField("role")
    assert listed == [stored(state, number) for number in state.order]
    described = await history.branch(branch, at)
    transcript.answers.append(described.SerializeToString(deterministic=True))
    assert described.message_count == len(state.order)
    assert described.metadata_json == state.metadata
    assert described.HasField("system_message_id") is (state.system is not None)
    view = await history.view(branch, at)
    assert (None if view is None else numbers(view)) == state.view
    assert described.view_count == len(state.view or [])


def stored(state: model.State, number: int) -> message_pb.Message:
    """Return the message a record of the model is stored as."""
    record = state.records[number]
    message = encode(record)
    if record.kind == model.REQUEST:
        answer = state.answer(number)
        if answer is not None:
            message.action_request.action_response_id = uuid_of(answer)
    elif record.kind == model.INSTRUCTION:
        message.instruction.image_detail = IMAGE_DETAIL_AUTO
    elif record.kind == model.RESPONSE and not record.interim:
        message.action_response.state = message_pb.ACTION_RESPONSE_STATE_FINAL
    return message

"""A thousand revisions of a busy branch read for ever as they were, and compile as they did."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from antiphon.compiler.v1.compiler_service_pb2 import PROFILE_FOLDED, CompileRequest
from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.message.v1 import message_pb2 as message_pb
from antiphon_client.errors import AntiphonError
from compiler_service.compilation import CompileSource, compile_turn
from tests.support.history import (
    History,
    action_result,
    assistant,
    call_action,
    instruction,
    make_store,
    running,
    summary,
    system,
    uuid_of,
)

pytestmark = pytest.mark.anyio

REVISIONS = 1000
BRANCH = uuid_of(1)


async def test_every_revision_is_read_and_compiled_as_it_was(
    anyio_backend: object, store_kind: str, tmp_path: Path
) -> None:
    async with running(store_kind, tmp_path) as history:
        await history.create(1)
        was = {1: await observe(history, 1)}
        for request in writes(random.Random(6)):
            try:
                revision = (await history.call(request)).revision
            except AntiphonError:
                continue
            was[revision] = await observe(history)
            if revision > REVISIONS:
                break
        assert list(was) == list(range(1, REVISIONS + 2))
        assert len({seen["order"] for seen in was.values()}) > REVISIONS / 2
        assert len({seen["digest"] for seen in was.values()}) > REVISIONS / 4
        if store_kind != "memory":
            await history.store.close()
            history.serve(make_store(store_kind, tmp_path))
            await history.store.start()
        revisions = list(was)
        random.Random(7).shuffle(revisions)
        for at in revisions[:REVISIONS]:
            assert await observe(history, at) == was[at], at
        await history.store.close()


def writes(chance: random.Random) -> Iterator[Any]:
    """Yield writes for ever: edits, moves, removals, views, systems, metadata, now and then a clear."""
    for number in range(1, 10**6):
        known = [uuid_of(chance.randrange(max(1, number - 40), number + 1)) for _ in range(3)]
        round_ = [instruction(number), assistant(10**6 + number)]
        call = [call_action(number), action_result(10**6 + number, number)]
        edited = instruction(0, f"edited {number}")
        edited.id = known[0]
        stretch = summary(0, number, max(1, number - 20)).summary
        choices: list[tuple[int, Any]] = [
            (20, pb.AddMessagesRequest(messages=round_)),
            (8, pb.AddMessagesRequest(messages=call)),
            (25, pb.AddMessagesRequest(messages=[edited])),
            (25, pb.MoveMessageRequest(message_id=known[0], index=chance.randrange(1, 20))),
            (25, pb.RemoveMessagesRequest(message_ids=known[:1])),
            (6, pb.SelectViewRequest(message_ids=sorted(set(known[:2])))),
            (2, pb.ClearViewRequest()),
            (6, pb.CommitCompactionRequest(summary=stretch, view_message_ids=known[:1])),
            (3, pb.AddMessagesRequest(messages=[system(2 * 10**6 + number)])),
            (3, pb.UpdateBranchRequest(metadata_json=f'{{"n": {number}}}')),
            (1, pb.ClearMessagesRequest()),
        ]
        (request,) = chance.choices([c for _, c in choices], [weight for weight, _ in choices])
        request.branch_id = BRANCH
        yield request


async def observe(history: History, at: int | None = None) -> dict[str, Any]:
    """Read all that a revision shows, and what it compiles to."""
    snapshot = await history.snapshot(BRANCH, at=at)
    listed = await history.messages(BRANCH, at_revision=at, page_size=1000)
    return {
        "branch": snapshot.header.branch.SerializeToString(deterministic=True),
        "order": tuple(message.id for message in listed),
        "bodies": hashlib.sha256(b"".join(m.SerializeToString(deterministic=True) for m in listed)).digest(),
        "view": tuple(snapshot.order),
        "viewed": hashlib.sha256(b"".join(snapshot.bodies)).digest(),
        "digest": digest(snapshot.header, turns(listed)),
    }


def turns(messages: list[message_pb.Message]) -> list[message_pb.Message]:
    """Leave out what cannot be compiled: what is before an instruction, or an instruction after another."""
    kept: list[message_pb.Message] = []
    for message in messages:
        if message.HasField("instruction"):
            if not kept or not kept[-1].HasField("instruction"):
                kept.append(message)
        elif kept and message.HasField("assistant_response"):
            kept.append(message)
    return kept[:-1] if kept and kept[-1].HasField("instruction") else kept


def digest(header: pb.SnapshotHeader, messages: list[message_pb.Message]) -> str:
    """Compile the snapshot; return the digest of the outcome, or the reason why there is none."""
    source = CompileSource(
        header.system if header.HasField("system") else None, messages, header.revision, header.incarnation
    )
    turn = CompileRequest(profile=PROFILE_FOLDED, instruction=instruction(3 * 10**6, "go on"))
    turn.branch.branch_id = BRANCH
    try:
        return compile_turn(turn, source).messages_digest
    except AntiphonError as error:
        return error.reason

"""Messages whose ids the service makes become what messages with given ids become."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.message.v1 import message_pb2 as message_pb
from antiphon_client.errors import FieldInvalidError
from history_service.storage.port import BranchKey
from tests.support.history import (
    History,
    action_result,
    assistant,
    call_action,
    instruction,
    summary,
    system,
    uuid_of,
)

pytestmark = pytest.mark.anyio

BATCHES = [
    [instruction(11, "a"), assistant(12, "b"), instruction(13, "c")],
    [call_action(14)],
    [action_result(15, None, interim=True)],
    [action_result(16, None), assistant(17, "d")],
    [system(18, "you are"), instruction(19, "e")],
    [instruction(20, "f"), system(21, "you were")],
    [summary(22, 11, 13, "g"), instruction(23, "h", sender=message_pb.Address(name="x"))],
]
TIMED = instruction(24, "then")
TIMED.created_at.seconds = 1


def nameless(message: message_pb.Message) -> message_pb.Message:
    """Return a message as its writer sends it who leaves the id to the service."""
    sent = message_pb.Message()
    sent.CopyFrom(message)
    sent.ClearField("id")
    return sent


def named(place: str, names: dict[str, str]) -> str:
    return names.get(place, place)


async def state(history: History, branch: str, names: dict[str, str], at: int | None = None) -> Any:
    """Return all that can be read of a branch at a revision, by names that do not depend on the ids."""
    record = await history.branch(branch, at)
    snapshot = await history.snapshot(branch, at=at)
    messages = []
    for body in snapshot.bodies:
        message = message_pb.Message.FromString(body)
        # The encoding is the canonical one, in which compilers find the id.
        assert message.SerializeToString(deterministic=True) == body
        message.id = named(message.id, names)
        messages.append(message)
    lists = [
        [named(message.id, names) for message in await history.messages(branch, kinds=[kind], at_revision=at)]
        for kind in pb.MessageKind.values()
        if kind
    ]
    view = await history.view(branch, at)
    order = [named(message_id, names) for message_id in await history.ids(branch, at)]
    selected = None if view is None else [named(message_id, names) for message_id in view]
    return record.revision, record.message_count, order, messages, lists, selected


async def written(
    history: History, number: int, batches: Sequence[Sequence[message_pb.Message]], *, made: bool, view: bool
) -> list[Any]:
    """Write batches to a new branch; return its states after each and, once all are written, again."""
    branch = await history.create(number)
    names: dict[str, str] = {}
    if view:
        await history.call(pb.SelectViewRequest(branch_id=branch, message_ids=[]))
    states: list[Any] = []
    for batch in batches:
        history.clock.now = 1_700_000_000 * 10**9
        response = await history.add(branch, *(map(nameless, batch) if made else batch))
        placed = [placement.index for placement in response.placements]
        ids = [placement.message_id for placement in response.placements]
        assert len(set(ids)) == len(batch)
        names |= {message_id: message.id for message_id, message in zip(ids, batch, strict=True)}
        states.append((placed, await state(history, branch, names)))
    last = await history.branch(branch)
    for revision in range(1, last.revision + 1):
        states.append(await state(history, branch, names, revision))
    key = BranchKey(history.tenant_id, last.lineage_id, branch)
    for change in await history.store.read(lambda tx: tx.changes(key, 0, 100)):
        payload = change.payload.decode()
        for message_id, name in names.items():
            payload = payload.replace(message_id, name)
        states.append((change.revision, change.kind, payload))
    return states


@pytest.mark.parametrize("view", [False, True])
async def test_a_made_id_makes_no_difference(history: History, view: bool) -> None:
    batches = [*BATCHES, [TIMED, instruction(25, "now")]]
    given = await written(history, 1, batches, made=False, view=view)
    assert await written(history, 2, batches, made=True, view=view) == given


async def test_an_interim_response_of_a_made_id_may_be_replaced_by_another(history: History) -> None:
    branch = await history.create()
    response = await history.add(branch, nameless(action_result(15, interim=True)))
    replacement = action_result(0, interim=True, output='"more"')
    replacement.id = response.placements[0].message_id
    await history.add(branch, replacement)
    final = action_result(0, output='"all"')
    final.id = replacement.id
    await history.add(branch, final)
    with pytest.raises(FieldInvalidError):
        await history.add(branch, replacement)


async def test_made_ids_and_given_ones_mix(history: History) -> None:
    branch = await history.create()
    batch = [instruction(11, "a"), nameless(instruction(12, "b")), instruction(13, "c")]
    await history.add(branch, *batch, nameless(call_action(14)), action_result(15, None))
    order = await history.ids(branch)
    assert (order[0], order[2], order[4]) == (uuid_of(11), uuid_of(13), uuid_of(15))
    assert len(set(order)) == 5

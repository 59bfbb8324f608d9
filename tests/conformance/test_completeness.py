"""No field of the contract is forgotten on the way through a store and back by any read."""

from __future__ import annotations

from pathlib import Path

import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.message.v1 import message_pb2 as message_pb
from tests.support.descriptors import ROLES, fields_below, fields_set, messages
from tests.support.history import History, running

pytestmark = pytest.mark.anyio

FIRST = {kind: 0x1000 * (index + 1) for index, kind in enumerate(ROLES)}
LINKED = {"action_request": "action_response", "action_response": "action_request"}


def conversations() -> list[list[message_pb.Message]]:
    """Branches' worth of messages, one of each kind in each, that set every field between them.

    A request and a response name each other, as the service links them; news on
    the way answers nothing, so that its request names no response.
    """
    columns = [list(messages(kind, FIRST[kind], FIRST[LINKED.get(kind, kind)])) for kind in ROLES]
    rows = [[column[index % len(column)] for column in columns] for index in range(max(map(len, columns)))]
    for row in rows:
        by_kind = {str(message.WhichOneof("content")): message for message in row}
        request, response = by_kind["action_request"], by_kind["action_response"]
        response.action_response.action_request_id = request.id
        request.action_request.action_response_id = response.id
        if response.action_response.state == message_pb.ACTION_RESPONSE_STATE_INTERIM:
            request.action_request.ClearField("action_response_id")
    return rows


def encoded(message: message_pb.Message) -> bytes:
    return message.SerializeToString(deterministic=True)


async def check_reads(history: History, branch_id: str, expected: list[message_pb.Message]) -> None:
    """Check that every read gives the messages byte for byte."""
    bodies = [encoded(message) for message in expected]
    snapshot = await history.snapshot(branch_id, at=2)
    assert snapshot.bodies == bodies
    assert encoded(snapshot.header.system) == bodies[0]
    listed = await history.messages(branch_id, page_size=2)
    assert [encoded(message) for message in listed] == bodies
    request = pb.GetMessagesRequest(branch_id=branch_id, message_ids=[m.id for m in expected])
    assert [encoded(message) for message in (await history.call(request)).messages] == bodies


async def test_every_field_is_stored_and_read_byte_for_byte(store_kind: str, tmp_path: Path) -> None:
    rows = conversations()
    branches: list[str] = []
    async with running(store_kind, tmp_path) as history:
        for number, row in enumerate(rows, start=1):
            branches.append(await history.create(number))
            await history.add(branches[-1], *row)
            await check_reads(history, branches[-1], row)
    if store_kind != "memory":
        async with running(store_kind, tmp_path) as history:
            for branch_id, row in zip(branches, rows, strict=True):
                await check_reads(history, branch_id, row)


async def test_a_replacement_keeps_every_field(history: History) -> None:
    for number, row in enumerate(conversations(), start=1):
        branch_id = await history.create(number)
        await history.add(branch_id, *row)
        await history.add(branch_id, *reversed(row))
        await check_reads(history, branch_id, row)


def test_the_conversations_set_every_field_there_is() -> None:
    found = set().union(*(fields_set(message) for row in conversations() for message in row))
    assert fields_below(message_pb.Message.DESCRIPTOR) - found == set()

"""What is put into stores to see what their encryption hides, and what it leaves readable."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from antiphon.history.v1 import exchange_service_pb2 as exchange_pb
from antiphon.history.v1 import history_service_pb2 as pb
from tests.support.exchange import Exchange, letter
from tests.support.history import (
    History,
    action_result,
    call_action,
    instruction,
    running,
    system,
    uuid_of,
)

WORDS = "marked words"


def request_id(number: int) -> str:
    """Return a request id of ``say_everything``."""
    return uuid_of(0xABC_0000 + number)


async def say_everything(history: History, words: str = WORDS) -> AsyncIterator[str]:
    """Put marked words wherever a caller can put words; tell each place once they are there."""
    branch = await history.create(1, metadata_json=f'{{"a": "{words}"}}', request_id=request_id(1))
    yield "the metadata of a new branch and its recorded response"
    await history.system(branch, words, uuid_of(10))
    yield "a system record"
    added = pb.AddMessagesRequest(branch_id=branch, request_id=request_id(2))
    added.messages.append(instruction(11, f"{words} " * 1000, metadata_json=f'{{"a": "{words}"}}'))
    added.messages.append(call_action(12, function=words))
    added.messages.append(action_result(13, 12, output=f'{{"a": "{words}"}}'))
    await history.call(added)
    yield "messages"
    await history.add(branch, instruction(11, f"other {words}"))
    yield "a new version"
    await history.compact(branch, (11, 13), [11], text=words)
    yield "a summary"
    await history.call(pb.UpdateBranchRequest(branch_id=branch, metadata_json=f'{{"b": "{words}"}}'))
    yield "new metadata"
    fork = pb.ForkBranchRequest(source_branch_id=branch, branch_id=uuid_of(2), request_id=request_id(3))
    await history.call(fork)
    yield "a fork"
    fork = pb.ForkBranchRequest(source_branch_id=branch, branch_id=uuid_of(3), ids=pb.FORK_IDS_NEW)
    await history.call(fork)
    yield "a fork with new ids"
    mail = Exchange(history.store)
    await mail.register(1, 2)
    for number in (21, 22, 23):
        await mail.call(exchange_pb.SendRequest(message=letter(1, 2, number, words)))
    yield "an outbox"
    await mail.collect(1)
    yield "an inbox"
    await mail.pop(2, 1, request_id=request_id(4))
    await mail.lease(2, 1, request_id=request_id(5))
    yield "the recorded responses of a pop and a lease"
    await mail.unregister(2)
    assert len(await mail.dead_letters()) == 2
    yield "dead letters"
    await history.call(pb.RemoveMessagesRequest(branch_id=branch, message_ids=[uuid_of(11)]))
    await history.call(pb.TrimHistoryRequest(branch_id=branch, before_revision=4))
    await history.call(pb.DeleteBranchRequest(branch_id=uuid_of(2), purge=True))
    yield "freed pages"


@asynccontextmanager
async def furnished(kind: str, folder: Path) -> AsyncIterator[History]:
    """A branch with former versions and a view, a fork of it, a fork of the fork, a part, and a stranger."""
    async with running(kind, folder) as history:
        branch = await history.create(1, metadata_json='{"a": 1}')
        await history.add(branch, system(10), instruction(11), call_action(12), action_result(13, 12))
        await history.add(branch, instruction(11, "edited"), *(instruction(n) for n in range(20, 60)))
        await history.call(pb.MoveMessageRequest(branch_id=branch, message_id=uuid_of(20), index=1))
        await history.call(pb.SelectViewRequest(branch_id=branch, message_ids=[uuid_of(11), uuid_of(13)]))
        for source, target, fields in (
            (1, 2, {}),
            (2, 3, {"at_revision": 1}),
            (1, 4, {"at_revision": 2}),
            (1, 5, {"up_to_message_id": uuid_of(12)}),
        ):
            request = pb.ForkBranchRequest(source_branch_id=uuid_of(source), branch_id=uuid_of(target))
            request.MergeFrom(pb.ForkBranchRequest(**fields))
            await history.call(request)
        await history.create(6)
        await history.add(uuid_of(6), instruction(11))
        yield history


async def read_whole(history: History, *numbers: int) -> list[Any]:
    """Read all that branches show, past the caches."""
    return [
        (
            (await history.snapshot(uuid_of(number), ids=await history.ids(uuid_of(number)))).bodies,
            (await history.snapshot(uuid_of(number))).bodies,
            (await history.branch(uuid_of(number))).metadata_json,
        )
        for number in numbers
    ]

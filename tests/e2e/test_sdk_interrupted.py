"""A branch whose making is interrupted: what was made is taken back, unless others went on with it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from antiphon_client import AsyncBranch, AsyncHistoryClient, Branch, HistoryClient, Instruction
from antiphon_client.ids import new_ordered_id
from tests.support.meddling import meddle, meddle_async
from tests.support.pair import Pair, running_pair, served_pair

MESSAGES = [Instruction.create("x" * 600_000) for _ in range(8)]
"""More than one write takes."""
KEY = "half"
LOOKS = 1000
"""Looks at most until a deletion shows that nobody waits for."""


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with served_pair(tmp_path_factory.mktemp("pair")) as pair:
        yield pair


@pytest.fixture(scope="module")
def other(pair: Pair) -> Iterator[HistoryClient]:
    """Another client of the service."""
    with HistoryClient(pair.history, timeout=20) as client:
        yield client


def interrupt() -> None:
    raise KeyboardInterrupt


def test_a_branch_whose_making_is_interrupted_is_deleted(
    pair: Pair, other: HistoryClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    meddler = meddle(monkeypatch)
    with HistoryClient(pair.history, timeout=20) as history:
        meddler.act = interrupt
        with pytest.raises(KeyboardInterrupt):
            Branch.create(history, messages=MESSAGES, external_key=KEY)
        assert meddler.acted == 1
    assert other.find_branch(KEY) is None


def test_what_another_call_under_the_request_id_has_finished_stays(
    pair: Pair, other: HistoryClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    meddler = meddle(monkeypatch)
    key = new_ordered_id()
    finished: list[Branch] = []

    def act() -> None:
        finished.append(Branch.create(other, messages=MESSAGES, request_id=key))
        raise KeyboardInterrupt

    with HistoryClient(pair.history, timeout=20) as history:
        meddler.act = act
        with pytest.raises(KeyboardInterrupt) as caught:
            Branch.create(history, messages=MESSAGES, request_id=key)
        (note,) = caught.value.__notes__
        assert note.startswith(f"branch {finished[0].branch_id} may hold a part and was not deleted")
        assert finished[0].record().message_count == len(MESSAGES)
        again = Branch.create(history, messages=MESSAGES, request_id=key)
        assert again.branch_id == finished[0].branch_id


@pytest.mark.anyio
@pytest.mark.parametrize("again", [False, True])
async def test_a_cancelled_task_takes_its_branch_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    """Also when it is cancelled again and again meanwhile."""
    async with running_pair(tmp_path) as pair, AsyncHistoryClient(pair.history, timeout=20) as other:
        meddler = meddle_async(monkeypatch)
        async with AsyncHistoryClient(pair.history, timeout=20) as history:
            making = asyncio.ensure_future(AsyncBranch.create(history, messages=MESSAGES, external_key=KEY))

            async def act() -> None:
                making.cancel()

            meddler.act = act
            while again and not making.done():
                if meddler.acted:
                    making.cancel()
                await asyncio.sleep(0)
            with pytest.raises(asyncio.CancelledError):
                await making
            assert meddler.acted == 1
            found = await other.find_branch(KEY)
            for _ in range(LOOKS if again else 0):
                found = found and await other.find_branch(KEY)
            assert found is None

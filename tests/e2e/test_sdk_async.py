"""The asyncio clients against the real pair: the same operations, awaited."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from antiphon_client import (
    AssistantResponse,
    AsyncBranch,
    AsyncCompilerClient,
    AsyncHistoryClient,
    Instruction,
    TurnRequest,
)
from antiphon_client.errors import BranchNotFoundError, RevisionConflictError
from tests.support.pair import running_pair

pytestmark = pytest.mark.anyio


async def test_a_conversation_from_creation_to_compilation(tmp_path: Path) -> None:
    async with (
        running_pair(tmp_path) as pair,
        AsyncHistoryClient(pair.history) as history,
        AsyncCompilerClient(pair.compiler) as compiler,
    ):
        branch = await AsyncBranch.create(history, external_key="talk")
        await branch.set_system("Be brief")
        await branch.add([Instruction.create("q"), AssistantResponse.create("a")])
        request = await branch.add_message(action_function="f", action_arguments={"x": 1})
        await branch.respond(request.id, output={"y": 2})
        assert [m.kind async for m in branch.messages(page_size=2)] == [
            "system",
            "instruction",
            "assistant_response",
            "action_request",
            "action_response",
        ]
        assert len(await branch.progression()) == 5
        assert [m and m["role"] for m in await branch.to_chat_msgs()] == [
            "system",
            "user",
            "assistant",
            "action",
            "action",
        ]
        compiled = await compiler.compile_chat_request(branch, TurnRequest(Instruction.create("and?")))
        assert [m["role"] for m in compiled.provider_messages] == ["user", "assistant", "user"]
        assert "y: 2" in str(compiled.messages[-1].content)
        reopened = await AsyncBranch.open(history, external_key="talk")
        assert reopened.branch_id == branch.branch_id
        assert [b.external_key async for b in history.branches()] == ["talk"]
        with pytest.raises(BranchNotFoundError):
            await AsyncBranch.open(history, external_key="other")


async def test_racing_writers_with_an_expected_revision_have_one_winner(tmp_path: Path) -> None:
    async with running_pair(tmp_path) as pair, AsyncHistoryClient(pair.history) as history:
        branch = await AsyncBranch.create(history)
        results = await asyncio.gather(
            *(branch.add(Instruction.create(str(n)), expected_revision=1) for n in range(8)),
            return_exceptions=True,
        )
        losers = [result for result in results if isinstance(result, RevisionConflictError)]
        assert len(losers) == 7
        assert {loser.actual_revision for loser in losers} == {2}


async def test_cancelling_the_caller_is_no_error_of_ours(tmp_path: Path) -> None:
    async with running_pair(tmp_path) as pair, AsyncHistoryClient(pair.history) as history:
        task = asyncio.ensure_future(history.create_branch())
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

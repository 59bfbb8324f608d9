"""Two processes write one session at the same time: nothing is lost, and each one's order stays."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from antiphon_client import AsyncHistoryClient
from tests.adapters.writer import SESSION
from tests.support.pair import Pair

ROOT = Path(__file__).resolve().parents[2]
TURNS = 30
WAIT_SECONDS = 120.0

pytestmark = pytest.mark.anyio


async def openai_agents(history: AsyncHistoryClient) -> list[str]:
    from antiphon_client.adapters.openai_agents import AntiphonSession

    return [item["content"] for item in await AntiphonSession(SESSION, history).get_items()]


async def langchain(history: AsyncHistoryClient) -> list[str]:
    from antiphon_client.adapters.langchain import AntiphonChatMessageHistory

    kept = AntiphonChatMessageHistory(SESSION, async_history=history)
    return [str(message.content) for message in await kept.aget_messages()]


async def pydantic_ai(history: AsyncHistoryClient) -> list[str]:
    from antiphon_client.adapters.pydantic_ai import AntiphonMessageHistory

    loaded: list[Any] = list(await AntiphonMessageHistory(SESSION, history).load())
    return [part.content for message in loaded for part in message.parts]


async def google_adk(history: AsyncHistoryClient) -> list[str]:
    from antiphon_client.adapters.google_adk import AntiphonSessionService

    service = AntiphonSessionService(history)
    session = await service.get_session(app_name="app", user_id="user", session_id=SESSION)
    assert session is not None
    texts = [event.content.parts[0].text for event in session.events]
    assert session.state == {f"app:{text}": True for text in texts}
    return texts


Read = Callable[[AsyncHistoryClient], Awaitable[list[str]]]
FRAMEWORKS: dict[Read, str] = {
    openai_agents: "agents",
    langchain: "langchain_core",
    pydantic_ai: "pydantic_ai",
    google_adk: "google.adk",
}


@pytest.mark.parametrize("read", FRAMEWORKS, ids=lambda read: read.__name__)
async def test_two_processes_lose_nothing(history: AsyncHistoryClient, pair: Pair, read: Read) -> None:
    pytest.importorskip(FRAMEWORKS[read], reason="needs the frameworks: `make adapters`")
    if read is google_adk:  # the framework makes sessions before it writes them
        from antiphon_client.adapters.google_adk import AntiphonSessionService

        service = AntiphonSessionService(history)
        await service.create_session(app_name="app", user_id="user", session_id=SESSION)
    names = ("one", "two")
    writers = [writer(read.__name__, pair.history, name) for name in names]
    try:
        for _ in ("the first turns, and with them the branch", "all others"):
            for process in writers:
                assert process.stdout is not None
                assert process.stdout.readline() == "ready\n"
            for process in writers:
                assert process.stdin is not None
                process.stdin.write("go\n")
                process.stdin.flush()
        assert [process.wait(WAIT_SECONDS) for process in writers] == [0, 0]
    finally:
        for process in writers:
            process.kill()
            process.communicate()
    texts = await read(history)
    for name in names:
        expected = [f"{name} {verb} {number}" for number in range(TURNS) for verb in ("asks", "says")]
        assert [text for text in texts if text.startswith(name)] == expected
    assert len(texts) == 2 * 2 * TURNS
    if read is not google_adk:  # a turn is one write
        turns = list(zip(texts[::2], texts[1::2], strict=True))
        assert all(asked.replace("asks", "says") == said for asked, said in turns)


def writer(framework: str, address: str, name: str) -> subprocess.Popen[str]:
    paths = os.pathsep.join([str(ROOT), str(ROOT / "clients" / "python")])
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "tests.adapters.writer", framework, address, name, str(TURNS)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

"""Loading a session of 1,000 items: ours beside the framework's own SQLite session.

Run it by `make adapters-bench`. The history
service is a process of its own with a SQLite store, as in use; the frameworks'
sessions read their SQLite files in this process. Both sides load in turns in one
run, since the figures of a shared machine mean nothing alone; the table gives the
medians. What is loaded is compared with what was stored before anything is timed.

"first" is the first load of the session by a client, with a session object made for
it; "again" is every later one, as at each turn of a conversation: the adapters then
ask for what has changed. Engines, channels and services are kept in both, as the
frameworks advise.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from antiphon_client import AsyncHistoryClient, HistoryClient

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 30.0
Load = Callable[[], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Contest:
    """Two ways to load the same items."""

    name: str
    theirs_name: str
    theirs: Load
    ours: Load


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[str]:
    """Runs the history service on a SQLite store; gives its address."""
    address = f"unix:{folder}/h.sock"
    command = [
        sys.executable,
        "-m",
        "history_service",
        "--listen",
        address,
        "--store",
        f"sqlite:{folder}/h.db",
    ]
    paths = os.pathsep.join([str(ROOT), str(ROOT / "clients" / "python")])
    environment = {**os.environ, "PYTHONPATH": paths}
    with (folder / "service.log").open("w") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + START_SECONDS
        while not (folder / "h.sock").exists():
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((folder / "service.log").read_text())
            await asyncio.sleep(0.02)
        yield address
    finally:
        process.terminate()
        process.wait()


def question(number: int) -> str:
    """Text of a user's turn."""
    return f"Question {number}: where is parcel {number * 7919}? It was sent on Monday and should be here."


def answer(number: int) -> str:
    """Text of a model's turn."""
    return f"Answer {number}: it is on its way and should arrive within two days, says the carrier."


async def openai_agents(
    folder: Path, history: AsyncHistoryClient, items: int, rounds: int
) -> AsyncIterator[Contest]:
    """The OpenAI Agents SDK's SQLiteSession; a quarter of the items are calls and their outputs."""
    from agents import SQLiteSession
    from agents.testing import assistant_message

    from antiphon_client.adapters.openai_agents import AntiphonSession

    stored: list[Any] = []
    for number in range(0, items, 8):
        for turn in range(number, number + 6, 2):
            said = assistant_message(answer(turn), item_id=f"msg_{turn:048d}")
            stored.append({"content": question(turn), "role": "user"})
            stored.append(said.model_dump(exclude_unset=True))
        call_id = f"call_{number:024d}"
        call = {"arguments": f'{{"parcel": {number}}}', "call_id": call_id, "name": "find_parcel"}
        stored.append({**call, "type": "function_call", "id": f"fc_{number:048d}", "status": "completed"})
        stored.append({"call_id": call_id, "output": answer(number), "type": "function_call_output"})
    file = folder / "agents.db"
    theirs, ours = SQLiteSession("bench", file), AntiphonSession("bench", history)
    for session in (theirs, ours):
        await session.add_items(stored)
        if await session.get_items() != stored:
            raise AssertionError(f"{type(session).__name__} does not give back what it was given")

    async def theirs_new() -> Any:
        session = SQLiteSession("bench", file)
        loaded = await session.get_items()
        session.close()
        return loaded

    unread = iter([history.with_options() for _ in range(rounds)])

    async def ours_first() -> Any:
        return await AntiphonSession("bench", next(unread)).get_items()

    yield Contest("OpenAI Agents SDK, first", "SQLiteSession", theirs_new, ours_first)
    yield Contest("OpenAI Agents SDK, again", "SQLiteSession", theirs.get_items, ours.get_items)
    theirs.close()


async def langchain(
    folder: Path, history: AsyncHistoryClient, items: int, rounds: int
) -> AsyncIterator[Contest]:
    """LangChain's SQLChatMessageHistory on a SQLite file, blocking, as it is mostly used."""
    from langchain_community.chat_message_histories import SQLChatMessageHistory
    from langchain_core.messages import AIMessage, HumanMessage
    from sqlalchemy import create_engine

    from antiphon_client.adapters.langchain import AntiphonChatMessageHistory

    stored: list[Any] = []
    for number in range(0, items, 2):
        stored += [
            HumanMessage(question(number)),
            AIMessage(answer(number), response_metadata={"model": "m"}),
        ]
    engine = create_engine(f"sqlite:///{folder}/langchain.db")
    with HistoryClient(history.address) as blocking:
        unread_blocking = iter([blocking.with_options() for _ in range(rounds)])

        async def theirs() -> Any:
            return SQLChatMessageHistory("bench", connection=engine).messages

        async def ours() -> Any:
            return AntiphonChatMessageHistory("bench", blocking).messages

        async def ours_first() -> Any:
            return AntiphonChatMessageHistory("bench", next(unread_blocking)).messages

        SQLChatMessageHistory("bench", connection=engine).add_messages(stored)
        AntiphonChatMessageHistory("bench", blocking).add_messages(stored)
        if await theirs() != stored or await ours() != stored:
            raise AssertionError("a history does not give back what it was given")
        yield Contest("LangChain, first", "SQLChatMessageHistory", theirs, ours_first)
        yield Contest("LangChain, again", "SQLChatMessageHistory", theirs, ours)
    engine.dispose()


async def pydantic_ai(
    folder: Path, history: AsyncHistoryClient, items: int, rounds: int
) -> AsyncIterator[Contest]:
    """Pydantic AI has no session of its own: a SQLite table with a row of JSON a run, as in its example."""
    from pydantic_ai.messages import (
        ModelMessagesTypeAdapter,
        ModelRequest,
        ModelResponse,
        TextPart,
        UserPromptPart,
    )

    from antiphon_client.adapters.pydantic_ai import AntiphonMessageHistory

    turns: list[list[Any]] = []
    for number in range(0, items, 2):
        asked = ModelRequest(parts=[UserPromptPart(question(number))])
        turns.append([asked, ModelResponse(parts=[TextPart(answer(number))], model_name="m")])
    stored = [message for turn in turns for message in turn]
    connection = sqlite3.connect(folder / "pydantic_ai.db", check_same_thread=False)
    connection.execute("CREATE TABLE messages (id INTEGER PRIMARY KEY, message_list TEXT)")
    rows = [(ModelMessagesTypeAdapter.dump_json(turn),) for turn in turns]
    connection.executemany("INSERT INTO messages (message_list) VALUES (?)", rows)
    connection.commit()

    def read() -> Any:
        loaded: list[Any] = []
        for (row,) in connection.execute("SELECT message_list FROM messages ORDER BY id"):
            loaded.extend(ModelMessagesTypeAdapter.validate_json(row))
        return loaded

    async def theirs() -> Any:
        return await asyncio.to_thread(read)

    async def ours() -> Any:
        return await AntiphonMessageHistory("bench", history).load()

    unread = iter([history.with_options() for _ in range(rounds)])

    async def ours_first() -> Any:
        return await AntiphonMessageHistory("bench", next(unread)).load()

    await AntiphonMessageHistory("bench", history).append(stored)
    if await ours() != await theirs():
        raise AssertionError("the histories give back different messages")
    yield Contest("Pydantic AI, first", "rows of JSON", theirs, ours_first)
    yield Contest("Pydantic AI, again", "rows of JSON", theirs, ours)
    connection.close()


async def google_adk(
    folder: Path, history: AsyncHistoryClient, items: int, rounds: int
) -> AsyncIterator[Contest]:
    """The ADK's SqliteSessionService and DatabaseSessionService."""
    from google.adk.events import Event
    from google.adk.sessions import DatabaseSessionService
    from google.adk.sessions.sqlite_session_service import SqliteSessionService
    from google.genai.types import Content, Part

    from antiphon_client.adapters.google_adk import AntiphonSessionService

    def event(number: int) -> Any:
        by_user = number % 2 == 0
        text = question(number) if by_user else answer(number)
        content = Content(role="user" if by_user else "model", parts=[Part(text=text)])
        return Event(author="user" if by_user else "agent", invocation_id=f"i-{number}", content=content)

    ours = AntiphonSessionService(history)
    database = DatabaseSessionService(f"sqlite+aiosqlite:///{folder}/adk_database.db")
    names: dict[str, Any] = {"app_name": "bench", "user_id": "user", "session_id": "session"}
    events = [event(number) for number in range(items)]

    def loader(service: Any) -> Load:
        return lambda: service.get_session(**names)

    for service in (ours, database, sqlite := SqliteSessionService(str(folder / "adk.db"))):
        session = await service.create_session(**names)
        for given in events:
            await service.append_event(session, given.model_copy(deep=True))
        kept = await service.get_session(**names)
        if kept is None or kept.events != events:
            raise AssertionError(f"{type(service).__name__} does not give back what it was given")

    unread = iter([history.with_options() for _ in range(2 * rounds)])

    async def ours_first() -> Any:
        return await AntiphonSessionService(next(unread)).get_session(**names)

    for name, theirs in (("SqliteSessionService", sqlite), ("DatabaseSessionService", database)):
        yield Contest("Google ADK, first", name, loader(theirs), ours_first)
        yield Contest("Google ADK, again", name, loader(theirs), loader(ours))
    await database.close()


async def timed(load: Load) -> float:
    """Milliseconds that a load takes."""
    begin = time.perf_counter()
    await load()
    return (time.perf_counter() - begin) * 1e3


async def raced(contest: Contest, rounds: int) -> float:
    """Loads in turns, prints the row and returns the ratio."""
    gc.collect()
    gc.freeze()
    times = [(await timed(contest.theirs), await timed(contest.ours)) for _ in range(rounds)]
    theirs, ours = (statistics.median(column) for column in zip(*times, strict=True))
    ratio = ours / theirs
    print(
        f"{contest.name:<26} {contest.theirs_name:<24} {theirs:>6.2f} ms {ours:>6.2f} ms {ratio:>7.2f}",
        flush=True,
    )
    return ratio


async def run(options: argparse.Namespace) -> list[float]:
    """Runs every contest and returns the ratios."""
    title = f"loading {options.items} items"
    print(f"{title:<26} {'beside':<24} {'theirs':>9} {'ours':>9} {'ratio':>7}", flush=True)
    ratios: list[float] = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        async with served(folder) as address, AsyncHistoryClient(address) as history:
            for framework in FRAMEWORKS:
                if not options.only or framework.__name__ in options.only:
                    async for contest in framework(folder, history, options.items, options.rounds):
                        ratios.append(await raced(contest, options.rounds))
    return ratios


FRAMEWORKS = (openai_agents, langchain, pydantic_ai, google_adk)


def main() -> int:
    """Prints the table; a ratio over 1 is shown, and no failure."""
    parser = argparse.ArgumentParser(prog="python -m tests.adapters.bench", description=__doc__)
    parser.add_argument("--items", type=int, default=1000, help="items of the session, a multiple of 8")
    parser.add_argument("--rounds", type=int, default=31, help="loads of each side")
    parser.add_argument("--only", action="append", metavar="FRAMEWORK", help="may be repeated")
    slower = sum(ratio > 1 for ratio in asyncio.run(run(parser.parse_args())))
    print(f"slower than the framework's own: {slower}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

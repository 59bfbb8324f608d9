"""How each framework's sessions are stored and loaded, on both sides; see `tests.adapters.bench`."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from antiphon_client import AsyncHistoryClient, HistoryClient
from antiphon_client.adapters.session_branch import SessionBranch
from antiphon_client.ids import new_id

Load = Callable[[], Awaitable[Any]]
SESSION = "bench"


@dataclass(frozen=True, slots=True)
class Sides:
    """Both sides' ways to load the same items, by scope."""

    name: str
    theirs_name: str
    theirs_opened: Load
    theirs_first: Load
    theirs_again: Load
    ours_opened: Load
    ours_first: Load
    ours_of_a_branch: Load
    ours_again: Load


@dataclass(frozen=True, slots=True)
class Place:
    """Where sessions are stored, and how long they are.

    Attributes:
        folder: For the frameworks' files.
        history: A client of ours, whose channel stays open.
        items: Items of a session.
        rounds: Loads of each side and scope.
    """

    folder: Path
    history: AsyncHistoryClient
    items: int
    rounds: int

    def clients(self) -> Callable[[], AsyncHistoryClient]:
        """Return what gives a client that holds nothing, on the open channel; made beforehand."""
        made = [self.history.with_options() for _ in range(2 * self.rounds)]
        return made.pop

    async def copies(self, prefix: str) -> Callable[[], str]:
        """Return what gives the name of a copy of the session that nobody has read.

        Args:
            prefix: What stands before a session's name in the external key of its branch.
        """
        source = SessionBranch(prefix + SESSION)
        names = [new_id() for _ in range(2 * self.rounds)]
        for name in names:
            key = prefix + name
            await self.history.fork_branch(
                source._branch_id, branch_id=SessionBranch(key)._branch_id, external_key=key
            )
        return names.pop


def question(number: int) -> str:
    """Text of a user's turn."""
    return f"Question {number}: where is parcel {number * 7919}? It was sent on Monday and should be here."


def answer(number: int) -> str:
    """Text of a model's turn."""
    return f"Answer {number}: it is on its way and should arrive within two days, says the carrier."


def check(name: str, loaded: Any, stored: Sequence[Any]) -> None:
    """Refuses a side that does not give back what was stored."""
    if loaded != stored:
        raise AssertionError(f"{name} does not give back what it was given")


async def openai_agents(place: Place) -> AsyncIterator[Sides]:
    """The OpenAI Agents SDK's SQLiteSession; a quarter of the items are calls and their outputs.

    It has no engine: each session object opens its file and makes its tables if they are absent.
    """
    from agents import SQLiteSession

    from antiphon_client.adapters.openai_agents import KEY_PREFIX, AntiphonSession

    stored = agents_items(place.items)
    file = place.folder / "agents.db"
    theirs, ours = SQLiteSession(SESSION, file), AntiphonSession(SESSION, place.history)
    for session in (theirs, ours):
        await session.add_items(stored)
        check(type(session).__name__, await session.get_items(), stored)

    async def theirs_opened() -> Any:
        session = SQLiteSession(SESSION, file)
        loaded = await session.get_items()
        session.close()
        return loaded

    async def ours_opened() -> Any:
        async with AsyncHistoryClient(place.history.address) as opened:
            return await AntiphonSession(SESSION, opened).get_items()

    client, copy = place.clients(), await place.copies(KEY_PREFIX)
    yield Sides(
        "OpenAI Agents SDK",
        "SQLiteSession",
        theirs_opened,
        theirs_opened,
        theirs.get_items,
        ours_opened,
        lambda: AntiphonSession(SESSION, client()).get_items(),
        lambda: AntiphonSession(copy(), client()).get_items(),
        ours.get_items,
    )
    theirs.close()


def agents_items(items: int) -> list[Any]:
    """Items as the Agents SDK makes them."""
    from agents.testing import assistant_message

    made: list[Any] = []
    for number in range(0, items, 8):
        for turn in range(number, number + 6, 2):
            said = assistant_message(answer(turn), item_id=f"msg_{turn:048d}")
            made.append({"content": question(turn), "role": "user"})
            made.append(said.model_dump(exclude_unset=True))
        call_id = f"call_{number:024d}"
        call = {"arguments": f'{{"parcel": {number}}}', "call_id": call_id, "name": "find_parcel"}
        made.append({**call, "type": "function_call", "id": f"fc_{number:048d}", "status": "completed"})
        made.append({"call_id": call_id, "output": answer(number), "type": "function_call_output"})
    return made


async def langchain(place: Place) -> AsyncIterator[Sides]:
    """LangChain's SQLChatMessageHistory on a SQLite file, blocking, as it is mostly used."""
    from langchain_community.chat_message_histories import SQLChatMessageHistory
    from langchain_core.messages import AIMessage, HumanMessage
    from sqlalchemy import create_engine

    from antiphon_client.adapters.langchain import KEY_PREFIX, AntiphonChatMessageHistory

    stored: list[Any] = []
    for number in range(0, place.items, 2):
        stored += [
            HumanMessage(question(number)),
            AIMessage(answer(number), response_metadata={"model": "m"}),
        ]
    url = f"sqlite:///{place.folder}/langchain.db"
    engine = create_engine(url)

    async def theirs_opened() -> Any:
        opened = create_engine(url)
        loaded = SQLChatMessageHistory(SESSION, connection=opened).messages
        opened.dispose()
        return loaded

    async def theirs_first() -> Any:
        return SQLChatMessageHistory(SESSION, connection=engine).messages

    async def theirs_again() -> Any:
        return theirs.messages

    async def ours_opened() -> Any:
        with HistoryClient(place.history.address) as opened:
            return AntiphonChatMessageHistory(SESSION, opened).messages

    async def ours_first() -> Any:
        return AntiphonChatMessageHistory(SESSION, clients.pop()).messages

    async def ours_of_a_branch() -> Any:
        return AntiphonChatMessageHistory(copy(), clients.pop()).messages

    async def ours_again() -> Any:
        return ours.messages

    with HistoryClient(place.history.address) as blocking:
        clients = [blocking.with_options() for _ in range(2 * place.rounds)]
        theirs = SQLChatMessageHistory(SESSION, connection=engine)
        ours = AntiphonChatMessageHistory(SESSION, blocking)
        for history in (theirs, ours):
            history.add_messages(stored)
            check(type(history).__name__, history.messages, stored)
        copy = await place.copies(KEY_PREFIX)
        yield Sides(
            "LangChain",
            "SQLChatMessageHistory",
            theirs_opened,
            theirs_first,
            theirs_again,
            ours_opened,
            ours_first,
            ours_of_a_branch,
            ours_again,
        )
    engine.dispose()


async def pydantic_ai(place: Place) -> AsyncIterator[Sides]:
    """Pydantic AI has no session of its own: a SQLite table with a row of JSON a run, as in its example.

    As there, rows are read in a thread, and the connection is kept.
    """
    from pydantic_ai.messages import (
        ModelMessagesTypeAdapter,
        ModelRequest,
        ModelResponse,
        TextPart,
        UserPromptPart,
    )

    from antiphon_client.adapters.pydantic_ai import KEY_PREFIX, AntiphonMessageHistory

    turns: list[list[Any]] = []
    for number in range(0, place.items, 2):
        asked = ModelRequest(parts=[UserPromptPart(question(number))])
        turns.append([asked, ModelResponse(parts=[TextPart(answer(number))], model_name="m")])
    stored = [message for turn in turns for message in turn]
    file = place.folder / "pydantic_ai.db"
    create = "CREATE TABLE IF NOT EXISTS messages (id INTEGER PRIMARY KEY, message_list TEXT)"
    connection = sqlite3.connect(file, check_same_thread=False)
    connection.execute(create)
    rows = [(ModelMessagesTypeAdapter.dump_json(turn),) for turn in turns]
    connection.executemany("INSERT INTO messages (message_list) VALUES (?)", rows)
    connection.commit()

    def read(kept: sqlite3.Connection) -> Any:
        loaded: list[Any] = []
        for (row,) in kept.execute("SELECT message_list FROM messages ORDER BY id"):
            loaded.extend(ModelMessagesTypeAdapter.validate_json(row))
        return loaded

    def open_and_read() -> Any:
        opened = sqlite3.connect(file)
        opened.execute(create)
        loaded = read(opened)
        opened.close()
        return loaded

    async def ours_opened() -> Any:
        async with AsyncHistoryClient(place.history.address) as opened:
            return await AntiphonMessageHistory(SESSION, opened).load()

    ours = AntiphonMessageHistory(SESSION, place.history)
    await ours.append(stored)
    check("Pydantic AI", await ours.load(), read(connection))
    client, copy = place.clients(), await place.copies(KEY_PREFIX)
    yield Sides(
        "Pydantic AI",
        "rows of JSON",
        lambda: asyncio.to_thread(open_and_read),
        lambda: asyncio.to_thread(read, connection),
        lambda: asyncio.to_thread(read, connection),
        ours_opened,
        lambda: AntiphonMessageHistory(SESSION, client()).load(),
        lambda: AntiphonMessageHistory(copy(), client()).load(),
        ours.load,
    )
    connection.close()


async def google_adk(place: Place) -> AsyncIterator[Sides]:
    """The ADK's SqliteSessionService, which connects to its file at each load, and DatabaseSessionService."""
    from google.adk.sessions import DatabaseSessionService
    from google.adk.sessions.sqlite_session_service import SqliteSessionService

    from antiphon_client.adapters.google_adk import KEY_PREFIX, AntiphonSessionService

    names: dict[str, Any] = {"app_name": "bench", "user_id": "user"}
    file, url = str(place.folder / "adk.db"), f"sqlite+aiosqlite:///{place.folder}/adk_database.db"
    ours, database, sqlite = (
        AntiphonSessionService(place.history),
        DatabaseSessionService(url),
        SqliteSessionService(file),
    )
    events = adk_events(place.items)
    for service in (ours, database, sqlite):
        session = await service.create_session(**names, session_id=SESSION)
        for given in events:
            await service.append_event(session, given.model_copy(deep=True))
        kept = await service.get_session(**names, session_id=SESSION)
        check(type(service).__name__, kept and kept.events, events)

    async def sqlite_opened() -> Any:
        return await SqliteSessionService(file).get_session(**names, session_id=SESSION)

    async def database_opened() -> Any:
        opened = DatabaseSessionService(url)
        loaded = await opened.get_session(**names, session_id=SESSION)
        await opened.close()
        return loaded

    async def ours_opened() -> Any:
        async with AsyncHistoryClient(place.history.address) as opened:
            return await AntiphonSessionService(opened).get_session(**names, session_id=SESSION)

    def loader(service: Any) -> Load:
        return lambda: service.get_session(**names, session_id=SESSION)

    async def beside(theirs: Any, opened: Load) -> Sides:
        client, copy = place.clients(), await place.copies(f"{KEY_PREFIX}bench/user/")
        return Sides(
            "Google ADK",
            type(theirs).__name__,
            opened,
            loader(theirs),
            loader(theirs),
            ours_opened,
            lambda: AntiphonSessionService(client()).get_session(**names, session_id=SESSION),
            lambda: AntiphonSessionService(client()).get_session(**names, session_id=copy()),
            loader(ours),
        )

    yield await beside(sqlite, sqlite_opened)
    yield await beside(database, database_opened)
    await database.close()


def adk_events(items: int) -> list[Any]:
    """Events of a user and an agent, by turns."""
    from google.adk.events import Event
    from google.genai.types import Content, Part

    made = []
    for number in range(items):
        by_user = number % 2 == 0
        text = question(number) if by_user else answer(number)
        content = Content(role="user" if by_user else "model", parts=[Part(text=text)])
        made.append(
            Event(author="user" if by_user else "agent", invocation_id=f"i-{number}", content=content)
        )
    return made


FRAMEWORKS = (openai_agents, langchain, pydantic_ai, google_adk)

"""A process that writes one session: ``python -m tests.adapters.writer FRAMEWORK ADDRESS NAME COUNT``.

It appends COUNT turns named after it to the session "shared", two items a turn, in one
call each. Before the first turn and the second it says ``ready`` and waits for a line,
so that another process can be sure to write between.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from antiphon_client import AsyncHistoryClient

SESSION = "shared"
Append = Callable[[str, str], Awaitable[Any]]


def openai_agents(history: AsyncHistoryClient) -> Append:
    """Appends a turn to a session of the OpenAI Agents SDK."""
    from antiphon_client.adapters.openai_agents import AntiphonSession

    session = AntiphonSession(SESSION, history)
    return lambda asked, said: session.add_items(
        [{"content": asked, "role": "user"}, {"content": said, "role": "assistant"}]
    )


def langchain(history: AsyncHistoryClient) -> Append:
    """Appends a turn to a history of LangChain."""
    from langchain_core.messages import AIMessage, HumanMessage

    from antiphon_client.adapters.langchain import AntiphonChatMessageHistory

    kept = AntiphonChatMessageHistory(SESSION, async_history=history)
    return lambda asked, said: kept.aadd_messages([HumanMessage(asked), AIMessage(said)])


def pydantic_ai(history: AsyncHistoryClient) -> Append:
    """Appends a turn to a history of Pydantic AI."""
    from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart

    from antiphon_client.adapters.pydantic_ai import AntiphonMessageHistory

    kept = AntiphonMessageHistory(SESSION, history)
    return lambda asked, said: kept.append(
        [ModelRequest(parts=[UserPromptPart(asked)]), ModelResponse(parts=[TextPart(said)])]
    )


def google_adk(history: AsyncHistoryClient) -> Append:
    """Appends a turn to a session of the Google ADK, as two events; each sets a key of the app's state."""
    from google.adk.events import Event, EventActions
    from google.genai.types import Content, Part

    from antiphon_client.adapters.google_adk import AntiphonSessionService

    service = AntiphonSessionService(history)

    async def append(asked: str, said: str) -> None:
        session = await service.get_session(app_name="app", user_id="user", session_id=SESSION)
        assert session is not None
        for author, text in (("user", asked), ("agent", said)):
            content = Content(role="user", parts=[Part(text=text)])
            actions = EventActions(state_delta={f"app:{text}": True})
            await service.append_event(session, Event(author=author, content=content, actions=actions))

    return append


async def write(framework: str, address: str, name: str, count: int) -> None:
    """Appends the turns."""
    async with AsyncHistoryClient(address) as history:
        append: Append = globals()[framework](history)
        for number in range(count):
            if number < 2:
                print("ready", flush=True)
                sys.stdin.readline()
            await append(f"{name} asks {number}", f"{name} says {number}")


if __name__ == "__main__":
    asyncio.run(write(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))

"""Google ADK's DatabaseSessionService on a SQLite file, an event an append."""

from __future__ import annotations

import asyncio
from typing import Any

from google.adk.events import Event
from google.adk.sessions import DatabaseSessionService
from google.genai.types import Content, Part

from tests.bench.peers.measuring import Texts, serve_texts

NAMES: dict[str, Any] = {"app_name": "bench", "user_id": "user", "session_id": "session"}


def prepare(job: dict[str, Any]) -> Texts:
    """Returns the work: appending the texts to a session of as many events as the job says."""
    texts: list[str] = job["texts"]
    runner = asyncio.Runner()
    service = DatabaseSessionService(f"sqlite+aiosqlite:///{job['folder']}/adk.db")
    session = runner.run(service.create_session(**NAMES))

    async def append(given: list[str]) -> list[str]:
        for text in given:
            content = Content(role="user", parts=[Part(text=text)])
            await service.append_event(session, Event(author="user", invocation_id="turn", content=content))
        return texts

    runner.run(append([texts[0]] * job["length"]))
    runner.run(append(texts))
    stored = runner.run(service.get_session(**NAMES)).events
    said = [event.content.parts[0].text for event in stored]
    if said[-len(texts) :] != texts or len(said) != job["length"] + len(texts):
        raise RuntimeError("the session does not hold what was added")
    return {"append": lambda: runner.run(append(texts))}


if __name__ == "__main__":
    serve_texts(prepare)

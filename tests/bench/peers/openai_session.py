"""The OpenAI Agents SDK's SQLiteSession on a file, a message an append."""

from __future__ import annotations

import asyncio
from typing import Any

from agents import SQLiteSession

from tests.bench.peers.measuring import Texts, serve_texts


def prepare(job: dict[str, Any]) -> Texts:
    """Returns the work: appending the texts to a session of as many messages as the job says."""
    texts: list[str] = job["texts"]
    runner = asyncio.Runner()
    session = SQLiteSession("bench", f"{job['folder']}/agents.db")
    runner.run(session.add_items([_item(texts[0])] * job["length"]))

    async def append() -> list[str]:
        for text in texts:
            await session.add_items([_item(text)])
        return texts

    runner.run(append())
    stored: list[Any] = runner.run(session.get_items())
    if stored[-len(texts) :] != list(map(_item, texts)) or len(stored) != job["length"] + len(texts):
        raise RuntimeError("the session does not hold what was added")
    return {"append": lambda: runner.run(append())}


def _item(text: str) -> Any:
    return {"role": "user", "content": text}


if __name__ == "__main__":
    serve_texts(prepare)

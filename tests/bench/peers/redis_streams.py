"""Redis streams as a mailbox: batches added, read by a consumer group and acknowledged.

The server syncs its append-only file before it answers (``appendfsync always``).
"""

from __future__ import annotations

import asyncio
from typing import Any

import redis.asyncio as redis

from tests.bench.peers.measuring import Texts, serve_texts

STREAM, GROUP, CONSUMER = "letters", "readers", "reader"


def prepare(job: dict[str, Any]) -> Texts:
    """Returns the works: each text a command of its own, all under way at once; or all in one pipeline."""
    texts: list[str] = job["texts"]
    runner = asyncio.Runner()
    client = redis.Redis(unix_socket_path=job["address"], max_connections=len(texts), decode_responses=True)
    runner.run(client.xgroup_create(STREAM, GROUP, mkstream=True))

    async def commands() -> None:
        await asyncio.gather(*(client.xadd(STREAM, {"text": text}) for text in texts))

    async def pipeline() -> None:
        async with client.pipeline(transaction=False) as sending:
            for text in texts:
                sending.xadd(STREAM, {"text": text})
            await sending.execute()

    async def batches(send: Any) -> list[str]:
        received: list[str] = []
        for _ in range(job["repeats"]):
            await send()
            found = await client.xreadgroup(GROUP, CONSUMER, {STREAM: ">"}, count=len(texts))
            entries = found[STREAM][0] if isinstance(found, dict) else found[0][1]
            await client.xack(STREAM, GROUP, *(entry for entry, _ in entries))
            received = sorted(fields["text"] for _, fields in entries)
        return received

    return {
        "commands": lambda: runner.run(batches(commands)),
        "pipeline": lambda: runner.run(batches(pipeline)),
    }


if __name__ == "__main__":
    serve_texts(prepare)

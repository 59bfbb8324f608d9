"""NATS JetStream with a file store as a mailbox: batches published, fetched and acknowledged."""

from __future__ import annotations

import asyncio
from typing import Any

import nats

from tests.bench.peers.measuring import Texts, serve_texts

SUBJECT, CONSUMER = "letters", "reader"
SECONDS = 30


def prepare(job: dict[str, Any]) -> Texts:
    """Returns the work: each text published by itself, all under way at once."""
    texts: list[str] = job["texts"]
    runner = asyncio.Runner()

    async def connect() -> tuple[Any, Any]:
        client = await nats.connect(f"nats://{job['address']}")
        stream = client.jetstream()
        await stream.add_stream(name=SUBJECT, subjects=[SUBJECT], storage="file")
        return stream, await stream.pull_subscribe(SUBJECT, CONSUMER)

    stream, inbox = runner.run(connect())

    async def batches() -> list[str]:
        received: list[str] = []
        for _ in range(job["repeats"]):
            await asyncio.gather(*(stream.publish(SUBJECT, text.encode()) for text in texts))
            letters: list[Any] = []
            while len(letters) < len(texts):
                letters += await inbox.fetch(len(texts) - len(letters), timeout=SECONDS)
            # Answered acknowledgements, as those of the others are.
            await asyncio.gather(*(letter.ack_sync(timeout=SECONDS) for letter in letters))
            received = sorted(letter.data.decode() for letter in letters)
        return received

    return {"publishes": lambda: runner.run(batches())}


if __name__ == "__main__":
    serve_texts(prepare)

"""A stand-in for a measured mailbox or session, which takes no time."""

from __future__ import annotations

from typing import Any

from tests.bench.peers.measuring import Texts, serve_texts


def prepare(job: dict[str, Any]) -> Texts:
    """Returns works that give the texts back, in order."""
    texts = sorted(job["texts"])
    return dict.fromkeys(("commands", "append"), lambda: texts)


if __name__ == "__main__":
    serve_texts(prepare)

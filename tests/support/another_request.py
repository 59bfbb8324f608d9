"""A program that measures a request of its own, whatever the job asks for."""

from __future__ import annotations

from tests.bench.peers.measuring import serve

if __name__ == "__main__":
    serve(lambda _job: {"stored": lambda: [{"role": "user", "content": "something else"}]})

"""The floor: a gRPC server that does nothing.

Built as the services are (grpc.aio on uvloop, one process), with raw bytes in and
out and no edge: what remains is the cost of a call itself.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import gc
import json
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import uvloop

ECHO = "/bench.Floor/Echo"
STREAM = "/bench.Floor/Stream"


def write_frames(path: Path, frames: list[bytes]) -> None:
    """Writes frames so that `STREAM` can send them; each after its length in 4 bytes."""
    path.write_bytes(b"".join(len(frame).to_bytes(4, "big") + frame for frame in frames))


def read_frames(path: Path) -> list[bytes]:
    """Returns the frames that `write_frames` wrote."""
    data = path.read_bytes()
    frames, at = [], 0
    while at < len(data):
        end = at + 4 + int.from_bytes(data[at : at + 4], "big")
        frames.append(data[at + 4 : end])
        at = end
    return frames


_kept_frames = functools.cache(read_frames)
"""A stream is sent many times; it is read once."""


def _handlers(reply: bytes) -> grpc.GenericRpcHandler:
    async def echo(_request: bytes, _context: object) -> bytes:
        return reply

    async def stream(request: bytes, _context: object) -> AsyncIterator[bytes]:
        for frame in _kept_frames(Path(request.decode())):
            yield frame

    return grpc.method_handlers_generic_handler(
        "bench.Floor",
        {
            "Echo": grpc.unary_unary_rpc_method_handler(echo),
            "Stream": grpc.unary_stream_rpc_method_handler(stream),
        },
    )


async def serve(address: str, reply_bytes: int) -> None:
    """Serves until SIGTERM; every echo is answered with ``reply_bytes`` bytes."""
    server = grpc.aio.server()
    server.add_generic_rpc_handlers([_handlers(bytes(reply_bytes))])
    server.add_insecure_port(address)
    await server.start()
    gc.freeze()
    print(json.dumps({"address": address}), flush=True)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await stop.wait()
    await server.stop(grace=1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--listen", required=True, help="gRPC address, such as unix:/tmp/echo.sock")
    parser.add_argument("--reply-bytes", type=int, default=64)
    options = parser.parse_args()
    uvloop.run(serve(options.listen, options.reply_bytes))

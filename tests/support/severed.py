"""A connection that a test can cut: the server then has a client that died, without a word of goodbye."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

_CHUNK = 2**16


class Line:
    """Passes the bytes of connections on to a server until it is cut.

    Attributes:
        address: Where clients connect to.
    """

    def __init__(self, path: Path, server: str) -> None:
        self.address = f"unix:{path}"
        self._server = server.removeprefix("unix:")
        self._ends: list[asyncio.StreamWriter] = []

    def cut(self) -> None:
        """End all connections at once, on both sides."""
        for end in self._ends:
            end.transport.abort()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass on what one client and the server send each other."""
        try:
            upstream_reader, upstream = await asyncio.open_unix_connection(self._server)
        except OSError:  # There is no server just now, as the client shall see.
            writer.transport.abort()
            return
        self._ends += [writer, upstream]
        await asyncio.gather(_pass_on(reader, upstream), _pass_on(upstream_reader, writer))


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


@asynccontextmanager
async def line_to(server: str, folder: Path) -> AsyncIterator[Line]:
    """Open a line to a server on a unix socket."""
    line = Line(folder / "line.sock", server)
    async with await asyncio.start_unix_server(line.serve, folder / "line.sock"):
        try:
            yield line
        finally:
            line.cut()

"""A worker process that is ready and then fails, in the way that BROKEN_WORKER names."""

from __future__ import annotations

import os
import socket
import struct
import sys

from compiler_service.workers.frames import FINISH, READY, framed, receive


def answer(call: int) -> bytes:
    """Return what it answers."""
    fault = os.environ["BROKEN_WORKER"]
    if fault == "length":
        return struct.pack("!Q", 2**60)
    if fault == "garbage":
        body = b"\xff" * 40
        return struct.pack("!Q", len(body)) + body
    if fault == "other_call":
        return framed((call + 1, []))
    if fault == "no_tuple":
        return framed(7)
    if fault == "no_stretches":
        return framed((call, [(1, 2, 3)]))
    sys.exit(1)


def main() -> None:
    """Answer wrongly as soon as an answer is asked for."""
    with socket.socket(fileno=int(sys.argv[1])) as end:
        end.sendall(framed(READY))
        while True:
            said = receive(end)
            if said[0] == FINISH:
                end.sendall(answer(said[1]))


if __name__ == "__main__":
    main()

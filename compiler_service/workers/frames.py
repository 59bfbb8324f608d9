"""What service and worker say to each other: marshalled values, each after its length.

Both ends are one interpreter with one version of this package, so the form need not
last; it takes a fifth of the time that pickling does. To read it runs no code.
"""

from __future__ import annotations

import marshal
import socket
import struct
from typing import Any

MOST_BYTES = 2**30
"""What one value takes at most; a larger length is none that the other end has sent."""

BUFFER_BYTES = 2**20
"""What a socket holds of what is sent, where the system allows as much: no part of most values waits."""

_LENGTH = struct.Struct("!Q")

READY = "ready"
"""A worker's first word: it can be given work."""
TAKE = "take"
"""``(TAKE, call, start, message_ids, messages)``: fold these messages.

``call`` is the number of a call; with a new one all of an earlier call is let go.
``start`` is the index of the first message in the selection; where it is not the one
after those taken before, it follows an instruction that is kept.
"""
FINISH = "finish"
"""``(FINISH, call)``: give what is folded, and let go of it; answered by ``(call, held)``."""
ABANDON = "abandon"
"""``(ABANDON, call)``: let go of it."""


class FrameError(Exception):
    """What came is not what the other end sends."""


def framed(value: Any) -> bytes:
    """Return a value as it is sent."""
    body = marshal.dumps(value)
    return _LENGTH.pack(len(body)) + body


def receive(end: socket.socket) -> Any:
    """Receive a value.

    Raises:
        EOFError: The other end is gone.
        OSError: It sends nothing for as long as the socket's timeout.
        FrameError: What it sent is no value.
    """
    (size,) = _LENGTH.unpack(_exactly(end, _LENGTH.size))
    if size > MOST_BYTES:
        raise FrameError(f"a value of {size} bytes was announced")
    body = _exactly(end, size)
    try:
        # Only the process at the other end of the private socket pair has written it.
        return marshal.loads(body)  # nosec B302
    except (EOFError, ValueError, TypeError) as error:
        raise FrameError("what was sent is no value") from error


def _exactly(end: socket.socket, size: int) -> bytearray:
    body = bytearray(size)
    view, got = memoryview(body), 0
    while got < size:
        count = end.recv_into(view[got:])
        if not count:
            raise EOFError("the other end is gone")
        got += count
    return body

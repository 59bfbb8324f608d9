"""A worker process and the socket to it, seen from the service."""

from __future__ import annotations

import os
import socket
import subprocess  # nosec B404
import sys
import threading
from typing import Any

from compiler_service.workers.frames import BUFFER_BYTES, receive

MODULE = "compiler_service.workers.process"


class Child:
    """A process that has been started; one thread talks to it, but for offers."""

    def __init__(self) -> None:
        """Start it. Cost: some milliseconds; it is ready a while later, which it says.

        Raises:
            OSError: It cannot be started.
        """
        self._end, far = socket.socketpair()
        for end in (self._end, far):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
        with far:
            # It finds the package where this process found it, and nothing in the folder it stands in.
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            try:
                # The interpreter that runs already, with a module of this package.
                self._process = subprocess.Popen(  # nosec B603
                    [sys.executable, "-P", "-m", MODULE, str(far.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    env=environment,
                    pass_fds=[far.fileno()],
                )
            except BaseException:
                self._end.close()
                raise
        self._offering = threading.Lock()
        self._offers = self._end.dup()
        self._offers.setblocking(False)

    @property
    def process_id(self) -> int | None:
        """Its process id; None if it has ended. From any thread."""
        return None if self._process.poll() is not None else self._process.pid

    def offer(self, frame: bytes) -> bytes:
        """Send as much of a frame as fits into the socket, and return the others of its bytes.

        From the event loop, while nobody tells it anything.

        Raises:
            OSError: It is gone.
        """
        with self._offering:
            try:
                return frame[self._offers.send(frame) :]
            except BlockingIOError:
                return frame

    def tell(self, frame: bytes, seconds: float) -> None:
        """Send it a frame.

        Args:
            frame: The frame, or what an offer has left of it.
            seconds: Time that this may take.

        Raises:
            OSError: It is gone, or takes too long.
        """
        self._end.settimeout(seconds)
        self._end.sendall(frame)

    def hear(self, seconds: float) -> Any:
        """Receive a value from it, with the time that it may take.

        Raises:
            EOFError: It is gone.
            OSError: It takes too long.
            FrameError: What it sent is no value.
        """
        self._end.settimeout(seconds)
        return receive(self._end)

    def kill(self) -> None:
        """End the process, from any thread; whoever talks to it finds it gone."""
        self._process.kill()

    def close(self) -> None:
        """End the process, wait for it, and close the socket."""
        self._process.kill()
        self._process.wait()
        self._end.close()
        with self._offering:
            # Not while an offer is on its way to a descriptor of that number.
            self._offers.close()

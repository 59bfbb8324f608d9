"""``python -m compiler_service.workers.process FD``: a worker process; the service starts it.

It ends when the other end of its socket does, however that came about.
"""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Sequence
from typing import Any

from antiphon_client.edge.allocator import spare_pages
from antiphon_client.edge.collection import spare_collection
from compiler_service.folded.ahead import PartsFolder
from compiler_service.folded.plain import read_records
from compiler_service.workers.frames import FINISH, READY, TAKE, FrameError, framed, receive
from compiler_service.workers.held_form import HeldForm, form_of


def serve(end: socket.socket) -> None:
    """Fold for the process at the other end until that is gone.

    Nothing is sent but what is asked for, once it is: so neither end can wait for the
    other to read.
    """
    folding = _Folding()
    try:
        end.sendall(framed(READY))
        while True:
            _serve_one(folding, end)
    except (EOFError, OSError, FrameError):
        return


def _serve_one(folding: _Folding, end: socket.socket) -> None:
    # A function: nothing of what is said is held while the next is waited for.
    answer = folding.answer(receive(end))
    if answer is not None:
        end.sendall(framed(answer))


class _Folding:
    """What is folded for one call after the other."""

    def __init__(self) -> None:
        self._begin(0)

    def _begin(self, call: int) -> None:
        """Let go of all that is held of a call, and begin another."""
        self._call = call
        self._folder = PartsFolder()
        self._is_sound = True

    def answer(self, said: tuple[Any, ...]) -> tuple[int, list[HeldForm]] | None:
        """Do what is said; return what is to be answered."""
        what, call, *others = said
        if call != self._call:
            self._begin(call)
        if what == TAKE:
            self._take(*others)
            return None
        answer = (call, list(map(form_of, self._folder.held()))) if what == FINISH else None
        self._begin(0)
        return answer

    def _take(self, start: int, message_ids: Sequence[str], messages: Sequence[bytes]) -> None:
        """Fold messages, unless some before could not be."""
        if not self._is_sound:
            return
        try:
            self._folder.take(start, read_records(message_ids, messages, start))
        except Exception:
            # Whatever it is: the compilation comes upon it and reports it as it reports everything.
            self._is_sound = False


def main() -> None:
    """Serve the socket whose descriptor is the program's argument."""
    # The service ends it, after its last call; a terminal or a supervisor signals all processes at once.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    with socket.socket(fileno=int(sys.argv[1])) as end:
        spare_pages()
        spare_collection()
        serve(end)


if __name__ == "__main__":
    main()

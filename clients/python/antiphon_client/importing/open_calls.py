"""Calls that wait for their results, found by what the provider calls them."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Mapping

from antiphon.message.v1 import message_pb2 as pb


class OpenCalls:
    """The unanswered calls of a conversation, round by round.

    A result answers the nearest round with an open call of its key, and in that
    round the first such call: a key used again in a later round is another call.
    """

    def __init__(self) -> None:
        # For each key, the calls of each round, latest round last.
        self._rounds: dict[Hashable, list[deque[pb.Message]]] = {}
        self._answered: set[str] = set()

    def open_round(self, calls: Iterable[tuple[pb.Message, Iterable[Hashable]]]) -> None:
        """Add a round: its action requests in order, each with the keys it may be found by."""
        this_round: dict[Hashable, deque[pb.Message]] = {}
        for call, keys in calls:
            for key in keys:
                this_round.setdefault(key, deque()).append(call)
        self._add(this_round)

    def answer(self, key: Hashable) -> pb.Message | None:
        """Return the call that a result with this key answers, which is open no more; None for none."""
        rounds = self._rounds.get(key, [])
        while rounds:
            waiting = rounds[-1]
            while waiting:
                call = waiting.popleft()
                if call.id not in self._answered:
                    self._answered.add(call.id)
                    return call
            rounds.pop()
        return None

    def _add(self, this_round: Mapping[Hashable, deque[pb.Message]]) -> None:
        for key, waiting in this_round.items():
            self._rounds.setdefault(key, []).append(waiting)

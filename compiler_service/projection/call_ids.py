"""Call ids as a target's rule wants them, the same on a call and its result.

An id that the rule takes is never changed. A made one depends on the refused id
alone, so that it is the same in every process and stays when messages follow;
where it would meet another id it is made anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from compiler_service.native.turns import CallPart, ResultPart
from compiler_service.projection.capabilities import IdRule
from compiler_service.remarks import Remarks

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class CallIds:
    """The ids of one request's calls, round by round."""

    def __init__(self, rule: IdRule, *, unique_in_request: bool, losses: Remarks) -> None:
        self._rule = rule
        self._takes = rule.compiled.fullmatch
        self._unique_in_request = unique_in_request
        self._losses = losses
        self._used: set[str] = set()
        self._attempts: dict[str, int] = {}
        self._waiting: dict[str, list[str]] = {}

    def anew(self) -> CallIds:
        """Return ids for the same request written once more."""
        return CallIds(self._rule, unique_in_request=self._unique_in_request, losses=self._losses)

    def open_round(self, calls: Sequence[CallPart]) -> list[str]:
        """Return the ids of a round's calls, in order; results are looked up in it from now on."""
        if len(calls) == 1:
            # Most rounds have one call, and nothing to meet.
            only = calls[0].id
            if only not in self._used and self._takes(only) is not None:
                if self._unique_in_request:
                    self._used.add(only)
                self._waiting = {only: [only]}
                return [only]
        # Ids taken stay taken, and so do the candidates that met one: each is made once.
        taken, attempts = (self._used, self._attempts) if self._unique_in_request else (set(), {})
        given: list[str | None] = []
        for call in calls:
            keeps = call.id not in taken and self._takes(call.id) is not None
            given.append(call.id if keeps else None)
            if keeps:
                taken.add(call.id)
        self._waiting = {}
        ids: list[str] = []
        for call, kept in zip(calls, given, strict=True):
            call_id = self._made(call, taken, attempts) if kept is None else kept
            ids.append(call_id)
            self._waiting.setdefault(call.id, []).append(call_id)
        return ids

    def of_result(self, result: ResultPart) -> str:
        """Return the id of the call that a result answers: the round's first that waits for one."""
        return self._waiting[result.call_id].pop(0)

    def _made(self, call: CallPart, taken: set[str], attempts: dict[str, int]) -> str:
        """Make an id that is free; ``attempts`` says how many of a refused id's candidates are not."""
        attempt = attempts.get(call.id, 0)
        while True:
            made = self._candidate(call.id, attempt)
            attempt += 1
            if made not in taken:
                break
        attempts[call.id] = attempt
        taken.add(made)
        self._losses.add(notes_pb.COMPILE_NOTE_KIND_CALL_ID_MAPPED, call.message_id)
        return made

    def _candidate(self, call_id: str, attempt: int) -> str:
        digest = hashlib.sha256(f"{attempt}:{call_id}".encode()).digest()
        number = int.from_bytes(digest, "big")
        letters: list[str] = []
        for _ in range(self._rule.made_length):
            number, index = divmod(number, len(_ALPHABET))
            letters.append(_ALPHABET[index])
        return self._rule.made_prefix + "".join(letters)

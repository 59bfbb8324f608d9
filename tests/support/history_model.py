"""History's rules once more, naively: whole states in plain lists, one per revision.

A refused write raises ``Refused`` with the reason and leaves the state alone. A
request's answer is not stored but looked up: the final response that names it.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field

SYSTEM, INSTRUCTION, REQUEST, RESPONSE = "system", "instruction", "action_request", "action_response"


class Refused(Exception):  # noqa: N818 (it names an outcome)
    """A write the rules refuse."""


@dataclass(frozen=True)
class Draft:
    """A message as a writer sends it."""

    number: int
    kind: str
    text: str = ""
    names: int | None = None
    interim: bool = False


@dataclass
class State:
    """A branch at one revision."""

    order: list[int] = field(default_factory=list)
    records: dict[int, Draft] = field(default_factory=dict)
    view: list[int] | None = None
    metadata: str = ""

    @property
    def system(self) -> int | None:
        return next((n for n in self.order if self.records[n].kind == SYSTEM), None)

    def answer(self, request: int) -> int | None:
        finals = [n for n in self.order if self._answers(n, request)]
        assert len(finals) <= 1
        return finals[0] if finals else None

    def _answers(self, number: int, request: int) -> bool:
        record = self.records[number]
        return record.kind == RESPONSE and record.names == request and not record.interim


class Model:
    """A branch with all its revisions; ``states[r]`` is revision r."""

    def __init__(self) -> None:
        self.states: list[State | None] = [None, State()]

    @property
    def revision(self) -> int:
        return len(self.states) - 1

    def begin(self) -> State:
        """Return a copy of the newest state to work on."""
        return copy.deepcopy(self.now)

    @property
    def now(self) -> State:
        state = self.states[-1]
        assert state is not None
        return state

    def commit(self, state: State) -> None:
        """Make a state the next revision."""
        self.states.append(state)

    def add(self, batch: Sequence[Draft], allow_unresolved: bool) -> list[int]:
        """Add or replace; return each message's index."""
        state = self.begin()
        for draft in batch:
            self._put(state, draft, allow_unresolved)
        self.commit(state)
        return [state.order.index(draft.number) for draft in batch]

    def _put(self, state: State, draft: Draft, allow_unresolved: bool) -> None:
        current = state.records.get(draft.number)
        if current is not None:
            state.records[draft.number] = self._replacement(state, current, draft, allow_unresolved)
        elif draft.kind == SYSTEM:
            self._put_system(state, draft)
        else:
            if draft.names is not None:
                self._check_link(state, draft.names, draft.number, allow_unresolved)
            state.records[draft.number] = draft
            state.order.append(draft.number)
            if state.view is not None:
                state.view.append(draft.number)

    def _put_system(self, state: State, draft: Draft) -> None:
        former = state.system
        heads = former is None or (state.view is not None and former in state.view)
        if former is not None:
            self._take_out(state, former)
        state.records[draft.number] = draft
        state.order.insert(0, draft.number)
        if state.view is not None and heads:
            state.view.insert(0, draft.number)

    def _replacement(self, state: State, current: Draft, draft: Draft, allow_unresolved: bool) -> Draft:
        if current.kind != draft.kind:
            raise Refused("CONTENT_KIND_FIXED")
        if draft.kind != RESPONSE:
            return draft
        if draft.interim and not current.interim:
            raise Refused("FIELD_INVALID")
        if draft.names is not None and current.names not in (None, draft.names):
            raise Refused("FIELD_INVALID")
        if current.names is None and draft.names is not None:
            self._check_link(state, draft.names, draft.number, allow_unresolved)
        if current.names is not None and current.interim and not draft.interim:
            self._check_link(state, current.names, draft.number, True)
        names = draft.names if current.names is None else current.names
        return Draft(draft.number, draft.kind, draft.text, names, draft.interim)

    def _check_link(self, state: State, request: int, response: int, allow_unresolved: bool) -> None:
        named = state.records.get(request)
        if request == response or (named is None and not allow_unresolved):
            raise Refused("ACTION_REQUEST_UNKNOWN")
        if named is not None and named.kind != REQUEST:
            raise Refused("ACTION_REQUEST_UNKNOWN")
        if state.answer(request) not in (None, response):
            raise Refused("ACTION_ALREADY_ANSWERED")

    def respond(self, request: int, number: int, interim: bool) -> int:
        """Answer a request; return the response's index."""
        state = self.begin()
        named = state.records.get(request)
        if named is None or named.kind != REQUEST:
            raise Refused("ACTION_REQUEST_UNKNOWN")
        if number in state.records:
            raise Refused("FIELD_INVALID")
        self._put(state, Draft(number, RESPONSE, named.text, request, interim), False)
        self.commit(state)
        return len(state.order) - 1

    def remove(self, numbers: Sequence[int]) -> None:
        """Remove messages."""
        state = self.begin()
        if any(number not in state.records for number in numbers):
            raise Refused("MESSAGE_NOT_FOUND")
        if state.system in numbers:
            raise Refused("SYSTEM_RECORD_FIXED")
        for number in numbers:
            removed = self._take_out(state, number)
            if removed.kind == REQUEST:
                for other, record in state.records.items():
                    if record.kind == RESPONSE and record.names == number:
                        state.records[other] = Draft(other, RESPONSE, record.text, None, record.interim)
        self.commit(state)

    def _take_out(self, state: State, number: int) -> Draft:
        state.order.remove(number)
        if state.view is not None and number in state.view:
            state.view.remove(number)
        return state.records.pop(number)

    def move(self, number: int, index: int) -> int:
        """Move a message; return its index."""
        state = self.begin()
        if number not in state.records:
            raise Refused("MESSAGE_NOT_FOUND")
        if index >= len(state.order):
            raise Refused("FIELD_INVALID")
        if state.system is not None and (number == state.system or index == 0):
            raise Refused("SYSTEM_RECORD_FIXED")
        state.order.remove(number)
        state.order.insert(index, number)
        self.commit(state)
        return index

    def clear(self) -> None:
        """Remove all but the system record."""
        state = self.begin()
        for number in list(state.order):
            if number != state.system:
                self._take_out(state, number)
        self.commit(state)

    def select(self, numbers: Sequence[int] | None) -> None:
        """Select a view, or none."""
        state = self.begin()
        if numbers is not None and (
            len(set(numbers)) < len(numbers) or any(number not in state.records for number in numbers)
        ):
            raise Refused("PROGRESSION_INVALID")
        state.view = None if numbers is None else list(numbers)
        self.commit(state)

    def describe(self, metadata: str) -> None:
        """Replace the metadata."""
        state = self.begin()
        state.metadata = metadata
        self.commit(state)

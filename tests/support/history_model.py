"""History's rules once more, naively: whole states in plain lists, one per revision.

A program names messages by small numbers. In a fork with new ids a number stands
for the clone of the message it stands for in the source.

A refused write raises ``Refused`` with the reason and leaves the state alone. A
request's answer is not stored but looked up: the final response that names it.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

SYSTEM, INSTRUCTION, REQUEST, RESPONSE = "system", "instruction", "action_request", "action_response"
SUMMARY = "summary"


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
    clone_of: int | None = None
    ends: tuple[int, int] = (0, 0)


@dataclass
class State:
    """A branch at one revision."""

    order: list[int] = field(default_factory=list)
    records: dict[int, Draft] = field(default_factory=dict)
    view: list[int] | None = None
    metadata: str = ""
    added: set[int] = field(default_factory=set)
    """What came in with this revision."""
    written: set[int] = field(default_factory=set)
    """What came in or got a new version with it."""

    @property
    def seen(self) -> list[int]:
        """The view, else the order."""
        return self.order if self.view is None else self.view

    @property
    def summary(self) -> int | None:
        """The first summary seen."""
        return next((n for n in self.seen if self.records[n].kind == SUMMARY), None)

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

    def __init__(self, state: State | None = None, clones: dict[int, int] | None = None) -> None:
        self.states: list[State | None] = [None, state or State()]
        self.clones = clones or {}
        self.oldest = 1
        self.deleted = False

    def name(self, number: int) -> int:
        """Return the message that a program's number stands for in this branch."""
        return self.clones.get(number, number)

    @property
    def revision(self) -> int:
        return len(self.states) - 1

    def begin(self) -> State:
        """Return a copy of the newest state to work on."""
        return replace(copy.deepcopy(self.now), added=set(), written=set())

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
        state.written.add(draft.number)
        if current is None:
            state.added.add(draft.number)
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
        return replace(draft, names=names)

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
                        state.records[other] = replace(record, names=None)
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

    def compact(self, draft: Draft, kept: Sequence[int], planned: int | None) -> list[int]:
        """Put a summary in the place of what is not kept; return its index and the view's length."""
        state = self.begin()
        since = self._since(planned)
        if len(set(kept)) < len(kept) or any(number not in state.records for number in kept):
            raise Refused("PROGRESSION_INVALID")
        if any(state.records[number].kind == SUMMARY for number in kept):
            raise Refused("FIELD_INVALID")
        if any(state.summary in later.written for later in since):
            raise Refused("REVISION_CONFLICT")
        if not self._knows(draft.ends, state):
            raise Refused("MESSAGE_NOT_FOUND")
        added = set[int]().union(*(later.added for later in since)).difference(kept)
        view = [*kept, *(n for n in state.seen if n in added and state.records[n].kind != SUMMARY)]
        view.sort(key=lambda number: number != state.system)
        self._put(state, draft, False)
        view.insert(1 if state.system in view else 0, draft.number)
        state.view = view
        self.commit(state)
        return [state.order.index(draft.number), len(view)]

    def _since(self, planned: int | None) -> list[State]:
        if planned is None:
            return []
        if planned > self.revision:
            raise Refused("REVISION_IN_FUTURE")
        if planned < self.oldest:
            raise Refused("REVISION_EXPIRED")
        return [state for state in self.states[planned + 1 :] if state is not None]

    def _knows(self, ends: Sequence[int], state: State) -> bool:
        held = set[int]().union(*(kept.records for kept in self.states[self.oldest :] if kept is not None))
        if state.summary is not None:
            held.update(state.records[state.summary].ends)
        return held.issuperset(ends)

    def describe(self, metadata: str) -> None:
        """Replace the metadata."""
        state = self.begin()
        state.metadata = metadata
        self.commit(state)

    def at(self, revision: int | None) -> State:
        """Return a copy of the state at a revision, None for the newest."""
        if self.deleted:
            raise Refused("BRANCH_DELETED")
        if revision is None:
            return self.begin()
        if revision > self.revision:
            raise Refused("REVISION_IN_FUTURE")
        if revision < self.oldest:
            raise Refused("REVISION_EXPIRED")
        state = self.states[revision]
        assert state is not None
        return copy.deepcopy(state)

    def trim(self, before: int) -> int:
        """Drop the revisions before one; return the oldest left."""
        if before > self.revision:
            raise Refused("REVISION_IN_FUTURE")
        self.oldest = max(self.oldest, before)
        return self.oldest

    def delete(self, purge: bool) -> None:
        """Delete the branch, or purge it once more."""
        if self.deleted and not purge:
            raise Refused("BRANCH_DELETED")
        if not self.deleted:
            self.commit(self.begin())
        self.deleted = True


class World:
    """All branches of a program, by number."""

    def __init__(self) -> None:
        self.branches = {0: Model()}

    def branch(self, number: int) -> Model:
        """Return a branch, deleted or not."""
        if number not in self.branches:
            raise Refused("BRANCH_NOT_FOUND")
        return self.branches[number]

    def living(self, number: int) -> Model:
        """Return a branch that is not deleted."""
        branch = self.branch(number)
        if branch.deleted:
            raise Refused("BRANCH_DELETED")
        return branch

    def fork(
        self, source: int, target: int, at: int | None, up_to: int | None, new_ids: Sequence[int] | None
    ) -> None:
        """Fork a branch; ``new_ids`` are the ids of the clones, in order, None where ids are kept."""
        branch = self.branch(source)
        state = branch.at(at)
        if up_to is not None:
            if branch.name(up_to) not in state.records:
                raise Refused("MESSAGE_NOT_FOUND")
            _cut(state, state.order.index(branch.name(up_to)) + 1)
        if target in self.branches:
            raise Refused("BRANCH_DELETED" if self.branches[target].deleted else "BRANCH_EXISTS")
        if new_ids is None:
            self.branches[target] = Model(state, branch.clones)
            return
        clones = dict(zip(state.order, new_ids, strict=True))
        named = {number: clones.get(branch.name(number), branch.name(number)) for number in range(8)}
        self.branches[target] = Model(_cloned(state, clones), named)


def _cut(state: State, count: int) -> None:
    """Keep the first messages of a state; a pair of which one side goes is no pair any more."""
    kept = state.order[:count]
    for number in kept:
        record = state.records[number]
        request = None if record.names is None else state.records.get(record.names)
        if request is not None and request.kind == REQUEST and request.number not in kept:
            state.records[number] = replace(record, names=None)
    state.order = kept
    state.records = {number: state.records[number] for number in kept}
    if state.view is not None:
        state.view = [number for number in state.view if number in kept]


def _cloned(state: State, clones: dict[int, int]) -> State:
    def clone(record: Draft) -> Draft:
        names = record.names
        if names in clones and state.records[names].kind == REQUEST:
            names = clones[names]
        first, last = (clones.get(end, end) for end in record.ends)
        return replace(
            record, number=clones[record.number], names=names, clone_of=record.number, ends=(first, last)
        )

    return State(
        [clones[number] for number in state.order],
        {clones[number]: clone(record) for number, record in state.records.items()},
        None if state.view is None else [clones[number] for number in state.view],
        state.metadata,
    )

"""Random programs of writes: how the service and how the model are asked for each step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.message.v1 import message_pb2 as message_pb
from history_service.sweeping import Sweeper
from tests.support import history_model as model
from tests.support.history import History, numbers, uuid_of

NUMBERS = st.integers(0, 7)
BRANCHES = st.integers(0, 3)
TEXTS = st.sampled_from(["", "a", "b"])
DAY = 86400 * 10**9


def branch_id(number: int) -> str:
    """Return the id of a program's branch."""
    return uuid_of(0xB000 + number)


def encode(draft: model.Draft) -> message_pb.Message:
    """Return the message a draft stands for."""
    message = message_pb.Message(id=uuid_of(draft.number), metadata_json='{"draft": 1}')
    if draft.clone_of is not None:
        message.metadata_json = f'{{"draft": 1,"clone_from":"{uuid_of(draft.clone_of)}"}}'
    if draft.kind == model.SYSTEM:
        message.system.system_message = draft.text
        message.system.SetInParent()
    elif draft.kind == model.INSTRUCTION:
        message.instruction.instruction = draft.text
    elif draft.kind == model.SUMMARY:
        message.summary.text = f"so far: {draft.text}"
        message.summary.first_id, message.summary.last_id = map(uuid_of, draft.ends)
    elif draft.kind == model.REQUEST:
        message.action_request.function = draft.text
        message.action_request.SetInParent()
    else:
        message.action_response.function = draft.text
        if draft.names is not None:
            message.action_response.action_request_id = uuid_of(draft.names)
        if draft.interim:
            message.action_response.state = message_pb.ACTION_RESPONSE_STATE_INTERIM
        message.action_response.SetInParent()
    return message


@dataclass(frozen=True)
class Step:
    """One write on a branch: how the service and how the model are asked for it."""

    request: Callable[[str, Callable[[int], int]], Any]
    expect: Callable[[model.Model], Any]
    name: str
    branch: int = 0

    def __repr__(self) -> str:
        return f"{self.branch}.{self.name}"


@dataclass(frozen=True)
class Compaction:
    """Commits a compaction; without a number the service names the summary.

    One that aims counts what it keeps and its ends along the branch's order, and
    the planned revision back from the newest, so that it is seldom refused.
    """

    branch: int
    number: int | None
    ends: tuple[int, int]
    kept: tuple[int, ...]
    planned: int | None
    aims: bool

    def aimed(self, branch: model.Model) -> Compaction:
        """Return what it asks of a branch, in the branch's own message numbers."""
        now = branch.now
        if not self.aims or not now.order:
            named = [branch.name(number) for number in (*self.ends, *self.kept)]
            return replace(self, ends=(named[0], named[1]), kept=tuple(named[2:]))
        order = [n for n in now.order if now.records[n].kind != model.SUMMARY] or now.order
        kept = dict.fromkeys(order[number % len(order)] for number in self.kept)
        first, last = (order[end % len(order)] for end in self.ends)
        planned = None if self.planned is None else max(branch.oldest, branch.revision - self.planned % 5)
        return replace(self, ends=(first, last), kept=tuple(kept), planned=planned)


@dataclass(frozen=True)
class Fork:
    """Forks a branch."""

    source: int
    target: int
    at: int | None
    up_to: int | None
    new_ids: bool


@dataclass(frozen=True)
class Trim:
    """Drops revisions."""

    branch: int
    before: int


@dataclass(frozen=True)
class Delete:
    """Deletes a branch, or purges it."""

    branch: int
    purge: bool


@dataclass(frozen=True)
class Wait:
    """Lets days go by and what is due by then be erased."""

    days: int


@dataclass(frozen=True)
class Restart:
    """Starts the service again."""


Request = Step | Compaction | Fork | Trim | Delete
"""What the service is asked."""

AnyStep = Request | Wait | Restart


@st.composite
def drafts(draw: st.DrawFn) -> model.Draft:
    kind = draw(
        st.sampled_from(
            [model.SYSTEM, model.INSTRUCTION, model.REQUEST, model.RESPONSE, model.RESPONSE, model.SUMMARY]
        )
    )
    number, text = draw(NUMBERS), draw(TEXTS)
    if kind == model.SUMMARY:
        return model.Draft(number, kind, text, ends=(draw(NUMBERS), draw(NUMBERS)))
    if kind != model.RESPONSE:
        return model.Draft(number, kind, text)
    return model.Draft(number, kind, text, draw(st.none() | NUMBERS), draw(st.booleans()))


def _named(batch: Sequence[model.Draft], name: Callable[[int], int]) -> list[model.Draft]:
    return [
        replace(
            draft,
            number=name(draft.number),
            names=None if draft.names is None else name(draft.names),
            ends=(name(draft.ends[0]), name(draft.ends[1])),
        )
        for draft in batch
    ]


@st.composite
def adding(draw: st.DrawFn) -> Step:
    batch = draw(st.lists(drafts(), min_size=1, max_size=4, unique_by=lambda draft: draft.number))
    systems = [draft for draft in batch if draft.kind == model.SYSTEM]
    batch = [draft for draft in batch if draft not in systems[1:]]
    allow = draw(st.booleans())
    return Step(
        lambda branch, name: pb.AddMessagesRequest(
            branch_id=branch, messages=map(encode, _named(batch, name)), allow_unresolved=allow
        ),
        lambda expected: expected.add(_named(batch, expected.name), allow),
        f"add({batch}, {allow})",
    )


@st.composite
def responding(draw: st.DrawFn) -> Step:
    request, number, interim = draw(NUMBERS), draw(NUMBERS), draw(st.booleans())
    final, news = message_pb.ACTION_RESPONSE_STATE_FINAL, message_pb.ACTION_RESPONSE_STATE_INTERIM
    return Step(
        lambda branch, name: pb.RespondToActionRequest(
            branch_id=branch,
            action_request_id=uuid_of(name(request)),
            message_id=uuid_of(name(number)),
            state=news if interim else final,
            metadata_json='{"draft": 1}',
        ),
        lambda expected: expected.respond(expected.name(request), expected.name(number), interim),
        f"respond({request}, {number}, {interim})",
    )


def removing(chosen: Sequence[int]) -> Step:
    return Step(
        lambda branch, name: pb.RemoveMessagesRequest(
            branch_id=branch, message_ids=[uuid_of(name(number)) for number in chosen]
        ),
        lambda expected: expected.remove([expected.name(number) for number in chosen]),
        f"remove({chosen})",
    )


def moving(number: int, index: int) -> Step:
    return Step(
        lambda branch, name: pb.MoveMessageRequest(
            branch_id=branch, message_id=uuid_of(name(number)), index=index
        ),
        lambda expected: expected.move(expected.name(number), index),
        f"move({number}, {index})",
    )


def selecting(chosen: Sequence[int]) -> Step:
    return Step(
        lambda branch, name: pb.SelectViewRequest(
            branch_id=branch, message_ids=[uuid_of(name(number)) for number in chosen]
        ),
        lambda expected: expected.select([expected.name(number) for number in chosen]),
        f"select({chosen})",
    )


def describing(text: str) -> Step:
    metadata = f'{{"t": "{text}"}}'
    return Step(
        lambda branch, _: pb.UpdateBranchRequest(branch_id=branch, metadata_json=metadata),
        lambda expected: expected.describe(metadata),
        f"describe({text})",
    )


CLEARING = Step(
    lambda branch, _: pb.ClearMessagesRequest(branch_id=branch), lambda expected: expected.clear(), "clear"
)
UNSELECTING = Step(
    lambda branch, _: pb.ClearViewRequest(branch_id=branch),
    lambda expected: expected.select(None),
    "unselect",
)
WRITES = st.one_of(
    adding(),
    adding(),
    responding(),
    st.builds(removing, st.lists(NUMBERS, min_size=1, max_size=2, unique=True)),
    st.builds(moving, NUMBERS, st.integers(0, 5)),
    st.builds(selecting, st.lists(NUMBERS, max_size=3)),
    st.builds(describing, TEXTS),
    st.sampled_from([CLEARING, UNSELECTING]),
)
"""Writes on one branch."""

FORKS = st.builds(
    Fork, BRANCHES, BRANCHES, st.none() | st.integers(1, 12), st.none() | NUMBERS, st.booleans()
)
COMPACTIONS = st.builds(
    Compaction,
    st.just(0) | BRANCHES,
    st.none() | NUMBERS,
    st.tuples(NUMBERS, NUMBERS),
    st.lists(NUMBERS, max_size=3).map(tuple),
    st.none() | st.integers(1, 12),
    st.sampled_from([True, True, True, False]),
)
_KINDS: dict[str, tuple[int, st.SearchStrategy[AnyStep]]] = {
    "write": (12, st.builds(replace, WRITES, branch=st.just(0) | BRANCHES)),
    "compaction": (4, COMPACTIONS),
    "fork": (4, FORKS),
    "trim": (2, st.builds(Trim, BRANCHES, st.integers(1, 12))),
    "delete": (1, st.builds(Delete, BRANCHES, st.booleans())),
    "wait": (1, st.builds(Wait, st.sampled_from([1, 31]))),
    "restart": (1, st.just(Restart())),
}
STEPS: st.SearchStrategy[AnyStep] = st.sampled_from(
    [kind for kind, (times, _) in _KINDS.items() for _ in range(times)]
).flatmap(lambda kind: _KINDS[kind][1])
"""Steps on a few branches of one fork tree."""


def request_of(step: Request, world: model.World) -> Any:
    """Return the request that asks the service for a step."""
    if isinstance(step, Fork):
        source = world.branches.get(step.source)
        up_to = step.up_to if source is None or step.up_to is None else source.name(step.up_to)
        return pb.ForkBranchRequest(
            source_branch_id=branch_id(step.source),
            branch_id=branch_id(step.target),
            at_revision=step.at,
            up_to_message_id=None if up_to is None else uuid_of(up_to),
            ids=pb.FORK_IDS_NEW if step.new_ids else pb.FORK_IDS_KEEP,
        )
    if isinstance(step, Trim):
        return pb.TrimHistoryRequest(branch_id=branch_id(step.branch), before_revision=step.before)
    if isinstance(step, Delete):
        return pb.DeleteBranchRequest(branch_id=branch_id(step.branch), purge=step.purge)
    branch = world.branches.get(step.branch)
    branch = branch or model.Model()
    if isinstance(step, Compaction):
        return _compaction_request(step.aimed(branch), branch)
    return step.request(branch_id(step.branch), branch.name)


def _compaction_request(step: Compaction, branch: model.Model) -> pb.CommitCompactionRequest:
    draft = encode(model.Draft(0, model.SUMMARY, "a", ends=step.ends))
    return pb.CommitCompactionRequest(
        branch_id=branch_id(step.branch),
        summary=draft.summary,
        message_id=None if step.number is None else uuid_of(branch.name(step.number)),
        metadata_json=draft.metadata_json,
        view_message_ids=map(uuid_of, step.kept),
        planned_revision=step.planned,
    )


async def _foretell_compaction(history: History, branch: model.Model, step: Compaction) -> list[int]:
    if step.number is not None:
        number = branch.name(step.number)
    elif branch.now.summary is not None:
        number = branch.now.summary
    else:
        # The service made the id, if it took the request; the new record stands last.
        number = max(numbers(await history.ids(branch_id(step.branch))), default=0)
    step = step.aimed(branch)
    return branch.compact(model.Draft(number, model.SUMMARY, "a", ends=step.ends), step.kept, step.planned)


async def foretell(history: History, world: model.World, step: Request) -> object:
    """Return what the model makes of a step, in the terms of ``outcome``; after the service took it."""
    try:
        if isinstance(step, Fork):
            new_ids = await _clones(history, world, step) if step.new_ids else None
            world.fork(step.source, step.target, step.at, step.up_to, new_ids)
            return 1, None
        if isinstance(step, Trim):
            return world.living(step.branch).trim(step.before), None
        if isinstance(step, Delete):
            branch = world.branch(step.branch)
            branch.delete(step.purge)
            return branch.revision, None
        branch = world.living(step.branch)
        if isinstance(step, Compaction):
            return branch.revision + 1, await _foretell_compaction(history, branch, step)
        places = step.expect(branch)
        return branch.revision, places
    except model.Refused as refusal:
        return str(refusal)


async def _clones(history: History, world: model.World, step: Fork) -> list[int]:
    """Return the ids that the service gave to the clones of a fork; none where it made none."""
    if step.target in world.branches or step.source not in world.branches:
        return []
    if world.branches[step.source].deleted:
        return []
    try:
        return numbers(await history.ids(branch_id(step.target)))
    except LookupError:
        return []


def outcome(response: Any) -> object:
    """Return what the service answered: the revision and the places."""
    if isinstance(response, pb.ForkBranchResponse):
        return response.branch.revision, None
    if isinstance(response, pb.TrimHistoryResponse):
        return response.oldest_revision, None
    if isinstance(response, pb.AddMessagesResponse):
        return response.revision, [placement.index for placement in response.placements]
    if isinstance(response, pb.RespondToActionResponse | pb.MoveMessageResponse):
        return response.revision, response.placement.index
    if isinstance(response, pb.CommitCompactionResponse):
        return response.revision, [response.placement.index, response.view_count]
    return response.revision, None


async def wait(history: History, days: int) -> None:
    """Let days go by and the sweeper look once."""
    history.clock.now += days * DAY
    await Sweeper(history.store, history.clock).sweep_due()

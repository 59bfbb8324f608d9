"""Random programs: every store gives the model's answers, now and at every revision."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.message.v1 import message_pb2 as message_pb
from antiphon.message.v1.content_block_pb2 import IMAGE_DETAIL_AUTO
from antiphon_client.errors import AntiphonError
from tests.support import history_model as model
from tests.support.history import History, numbers, running, uuid_of

NUMBERS = st.integers(0, 7)
TEXTS = st.sampled_from(["", "a", "b"])


def encode(draft: model.Draft) -> message_pb.Message:
    """Return the message a draft stands for."""
    message = message_pb.Message(id=uuid_of(draft.number), metadata_json='{"draft": 1}')
    if draft.kind == model.SYSTEM:
        message.system.system_message = draft.text
        message.system.SetInParent()
    elif draft.kind == model.INSTRUCTION:
        message.instruction.instruction = draft.text
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
    """One write: how the service and how the model are asked for it."""

    request: Callable[[str], Any]
    expect: Callable[[model.Model], Any]
    name: str

    def __repr__(self) -> str:
        return self.name


@st.composite
def drafts(draw: st.DrawFn) -> model.Draft:
    kind = draw(
        st.sampled_from([model.SYSTEM, model.INSTRUCTION, model.REQUEST, model.RESPONSE, model.RESPONSE])
    )
    number, text = draw(NUMBERS), draw(TEXTS)
    if kind != model.RESPONSE:
        return model.Draft(number, kind, text)
    return model.Draft(number, kind, text, draw(st.none() | NUMBERS), draw(st.booleans()))


@st.composite
def adding(draw: st.DrawFn) -> Step:
    batch = draw(st.lists(drafts(), min_size=1, max_size=4, unique_by=lambda draft: draft.number))
    systems = [draft for draft in batch if draft.kind == model.SYSTEM]
    batch = [draft for draft in batch if draft not in systems[1:]]
    allow = draw(st.booleans())
    return Step(
        lambda branch: pb.AddMessagesRequest(
            branch_id=branch, messages=map(encode, batch), allow_unresolved=allow
        ),
        lambda expected: expected.add(batch, allow),
        f"add({batch}, {allow})",
    )


@st.composite
def responding(draw: st.DrawFn) -> Step:
    request, number, interim = draw(NUMBERS), draw(NUMBERS), draw(st.booleans())
    final, news = message_pb.ACTION_RESPONSE_STATE_FINAL, message_pb.ACTION_RESPONSE_STATE_INTERIM
    return Step(
        lambda branch: pb.RespondToActionRequest(
            branch_id=branch,
            action_request_id=uuid_of(request),
            message_id=uuid_of(number),
            state=news if interim else final,
            metadata_json='{"draft": 1}',
        ),
        lambda expected: expected.respond(request, number, interim),
        f"respond({request}, {number}, {interim})",
    )


def removing(chosen: Sequence[int]) -> Step:
    ids = [uuid_of(number) for number in chosen]
    return Step(
        lambda branch: pb.RemoveMessagesRequest(branch_id=branch, message_ids=ids),
        lambda expected: expected.remove(chosen),
        f"remove({chosen})",
    )


def moving(number: int, index: int) -> Step:
    return Step(
        lambda branch: pb.MoveMessageRequest(branch_id=branch, message_id=uuid_of(number), index=index),
        lambda expected: expected.move(number, index),
        f"move({number}, {index})",
    )


def selecting(chosen: Sequence[int]) -> Step:
    ids = [uuid_of(number) for number in chosen]
    return Step(
        lambda branch: pb.SelectViewRequest(branch_id=branch, message_ids=ids),
        lambda expected: expected.select(chosen),
        f"select({chosen})",
    )


def describing(text: str) -> Step:
    metadata = f'{{"t": "{text}"}}'
    return Step(
        lambda branch: pb.UpdateBranchRequest(branch_id=branch, metadata_json=metadata),
        lambda expected: expected.describe(metadata),
        f"describe({text})",
    )


CLEARING = Step(
    lambda branch: pb.ClearMessagesRequest(branch_id=branch), lambda expected: expected.clear(), "clear"
)
UNSELECTING = Step(
    lambda branch: pb.ClearViewRequest(branch_id=branch), lambda expected: expected.select(None), "unselect"
)
STEPS = st.one_of(
    adding(),
    adding(),
    responding(),
    st.builds(removing, st.lists(NUMBERS, min_size=1, max_size=2, unique=True)),
    st.builds(moving, NUMBERS, st.integers(0, 5)),
    st.builds(selecting, st.lists(NUMBERS, max_size=3)),
    st.builds(describing, TEXTS),
    st.sampled_from([CLEARING, UNSELECTING]),
)


async def run(kind: str, folder: Path, steps: Sequence[Step]) -> None:
    """Run a program on a store and on the model."""
    async with running(kind, folder) as history:
        branch, expected = await history.create(), model.Model()
        for step in steps:
            assert await attempt(history, branch, step) == foretell(expected, step), step
        for at in range(1, expected.revision + 1):
            await compare(history, branch, at, expected.states[at])


async def attempt(history: History, branch: str, step: Step) -> object:
    """Return what the service makes of a step: a reason, or the revision and the places."""
    try:
        response = await history.call(step.request(branch))
    except AntiphonError as error:
        return error.reason
    if isinstance(response, pb.AddMessagesResponse):
        return response.revision, [placement.index for placement in response.placements]
    if isinstance(response, pb.RespondToActionResponse | pb.MoveMessageResponse):
        return response.revision, response.placement.index
    return response.revision, None


def foretell(expected: model.Model, step: Step) -> object:
    """Return what the model makes of a step, in the same terms."""
    try:
        places = step.expect(expected)
    except model.Refused as refusal:
        return str(refusal)
    return expected.revision, places


async def compare(history: History, branch: str, at: int, state: model.State | None) -> None:
    """Check all that can be read at a revision."""
    assert state is not None
    listed = await history.messages(branch, at_revision=at, page_size=3)
    assert numbers(message.id for message in listed) == state.order
    for message in listed:
        message.ClearField("created_at")
        message.ClearField("role")
    assert listed == [stored(state, number) for number in state.order]
    described = await history.branch(branch, at)
    assert described.message_count == len(state.order)
    assert described.metadata_json == state.metadata
    assert described.HasField("system_message_id") is (state.system is not None)
    view = await history.view(branch, at)
    assert (None if view is None else numbers(view)) == state.view
    assert described.view_count == len(state.view or [])


def stored(state: model.State, number: int) -> message_pb.Message:
    """Return the message a record of the model is stored as."""
    record = state.records[number]
    message = encode(record)
    if record.kind == model.REQUEST:
        answer = state.answer(number)
        if answer is not None:
            message.action_request.action_response_id = uuid_of(answer)
    elif record.kind == model.INSTRUCTION:
        message.instruction.image_detail = IMAGE_DETAIL_AUTO
    elif record.kind == model.RESPONSE and not record.interim:
        message.action_response.state = message_pb.ACTION_RESPONSE_STATE_FINAL
    return message


@settings(max_examples=250)
@given(st.lists(STEPS, max_size=25))
def test_the_memory_store_gives_the_models_answers(steps: list[Step]) -> None:
    asyncio.run(run("memory", Path(), steps))


@settings(max_examples=25)
@given(st.lists(STEPS, max_size=25))
def test_the_sqlite_store_gives_the_models_answers(steps: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run("sqlite", Path(folder), steps))

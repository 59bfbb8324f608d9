"""Plans of random histories, broken ones too: what holds for every one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.compiler.v1.compiler_service_pb2 import PROFILE_NATIVE, CompileRequest, PlanWindowResponse
from antiphon.message.v1 import message_pb2
from antiphon.message.v1.message_pb2 import InstructionContent, Message
from antiphon_client.errors import BudgetImpossibleError
from antiphon_client.openai_chat import import_messages
from tests.support.compiler import compile_inline
from tests.support.history import summary, uuid_of
from tests.support.windows import (
    call,
    kept,
    model,
    news,
    plan_compaction,
    plan_window,
    policy,
    result,
    snapshot_of,
    user,
)

MUCH = 10**6
ASKED = Message(instruction=InstructionContent(instruction="and now?"))
KINDS = ["user", "model", "call", "result", "result", "news", "orphan", "excluded", "generic"]


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    """Draw a history: calls with and without results, results anywhere and of nothing, and the rest."""
    messages: list[Message] = [policy(1)] if draw(st.booleans()) else []
    if draw(st.booleans()):
        messages.append(summary(2, 900, 901, draw(st.sampled_from(["a", "long ago it began"]))))
    calls: list[int] = []
    for number in range(10, 10 + draw(st.integers(0, 12))):
        kind = draw(st.sampled_from(KINDS))
        text = draw(st.sampled_from(["", " ", "word", "many words here"]))
        if kind == "call":
            calls.append(number)
        named = draw(st.sampled_from([*calls, 999]))
        messages.append(_message(kind, number, named, text))
    return messages


def _message(kind: str, number: int, named: int, text: str) -> Message:
    if kind == "user":
        return user(number, text)
    if kind == "call":
        return call(number)
    if kind in ("result", "news"):
        return result(number, named) if kind == "result" else news(number, named)
    if kind == "orphan":
        return result(number, None)
    message = model(number, text)
    if kind == "excluded":
        message.status = message_pb2.MESSAGE_STATUS_EXCLUDED
    elif kind == "generic":
        message.generic.SetInParent()
    return message


def try_window(messages: Sequence[Message], budget: int) -> PlanWindowResponse | BudgetImpossibleError:
    """Return the plan, or why there is none."""
    try:
        return plan_window(messages, budget)
    except BudgetImpossibleError as error:
        return error


def is_fixed(message: Message) -> bool:
    """Whether a plan keeps a message whatever the budget."""
    return message.HasField("system") or message.HasField("summary")


def selected(messages: Sequence[Message], chosen: Sequence[int]) -> list[Message]:
    """Return the messages chosen by number, in the order of the history; check that it is theirs."""
    wanted = {uuid_of(number) for number in chosen}
    found = [message for message in messages if message.id in wanted]
    assert [message.id for message in found] == [uuid_of(number) for number in chosen]
    return found


def check_pairs(messages: Sequence[Message], chosen: Sequence[Message]) -> None:
    """Check that no call is parted from its results."""
    ids = {message.id for message in chosen}
    calls = {message.id for message in messages if message.HasField("action_request")}
    for message in messages:
        named = message.action_response.action_request_id
        if named in calls:
            assert (message.id in ids) == (named in ids)
    for message in chosen:
        # News that an outcome answers would be news of nothing without it.
        assert is_answered_news(message, chosen) == is_answered_news(message, messages)


def is_answered_news(message: Message, messages: Sequence[Message]) -> bool:
    """Whether a message is news of a call whose outcome is among the messages."""
    response = message.action_response
    interim = message_pb2.ACTION_RESPONSE_STATE_INTERIM
    if response.state != interim or not response.action_request_id:
        return False
    return any(
        each.action_response.action_request_id == response.action_request_id
        and each.action_response.state != interim
        for each in messages
    )


@settings(max_examples=300)
@given(histories(), st.integers(1, 120))
def test_a_window_fits_and_is_whole(messages: list[Message], budget: int) -> None:
    whole = plan_window(messages, MUCH)
    assert [*whole.progression.message_ids] == [message.id for message in messages]
    before = [message.SerializeToString() for message in messages]
    plan = try_window(messages, budget)
    if isinstance(plan, BudgetImpossibleError):
        needed = int(plan.metadata["needed"])
        assert budget < needed <= whole.tokens
        assert int(plan.metadata["pinned"]) <= needed
        assert plan_window(messages, needed).tokens <= needed
        return
    chosen = selected(messages, kept(plan))
    assert plan.tokens <= budget
    assert plan.tokens_before == whole.tokens
    assert plan.dropped_count == len(messages) - len(chosen)
    assert all(message in chosen for message in messages if is_fixed(message))
    check_pairs(messages, chosen)
    if plan.dropped_count:
        heading = (
            message for message in chosen if not is_fixed(message) and not is_answered_news(message, chosen)
        )
        first = next(heading, None)
        assert first is None or not first.HasField("action_response")
        again = plan_window(messages, max(1, plan.tokens))
        assert again.progression == plan.progression
    assert [message.SerializeToString() for message in messages] == before


@settings(max_examples=300)
@given(histories(), st.integers(1, 6))
def test_a_compaction_parts_a_history_in_two(messages: list[Message], count: int) -> None:
    plan = plan_compaction(messages, keep_messages=count)
    stays = selected(messages, kept(plan))
    gone = [message for message in messages if message not in stays and not message.HasField("summary")]
    assert plan.compacted_count == len(gone)
    assert bool(plan.first_id) == bool(plan.text) == bool(gone)
    check_pairs(messages, stays)
    answered = {
        message.action_response.action_request_id
        for message in messages
        if message.action_response.state != message_pb2.ACTION_RESPONSE_STATE_INTERIM
    }
    assert all(message.id in answered for message in gone if message.HasField("action_request"))
    assert sum(not is_fixed(message) for message in stays) >= min(
        count, sum(not is_fixed(message) for message in messages)
    )
    if gone:
        former = next((message for message in messages if message.HasField("summary")), None)
        assert plan.first_id == (gone[0].id if former is None else former.summary.first_id)
        assert plan.last_id == gone[-1].id
        assert former is None or f"[Previous summary]\n{former.summary.text}\n\n" in plan.text


@settings(max_examples=300)
@given(histories(), st.integers(1, 120) | st.just(MUCH))
def test_a_plan_counts_as_a_compilation_of_it_does(messages: list[Message], budget: int) -> None:
    tools = ['{"name":"look"}']
    try:
        plan = plan_window(messages, budget, instruction=ASKED, tool_schemas_json=tools)
    except BudgetImpossibleError:
        return
    request = CompileRequest(
        snapshot=snapshot_of(messages),
        progression=plan.progression,
        profile=PROFILE_NATIVE,
        instruction=ASKED,
        tool_schemas_json=tools,
        token_counter="estimate",
    )
    compiled = compile_inline(request).tokens
    assert compiled.counter == "estimate"
    assert plan.tokens == compiled.total
    assert compiled.system + compiled.tools <= compiled.total


@pytest.mark.parametrize("budget", [200, 1000, 4000])
def test_windows_of_real_conversations_count_as_they_compile(
    conversation: list[Message], budget: int
) -> None:
    plan = plan_window(conversation, budget)
    assert plan.tokens <= budget
    request = CompileRequest(
        snapshot=snapshot_of(conversation),
        profile=PROFILE_NATIVE,
        progression=plan.progression,
        instruction=ASKED,
        token_counter="estimate",
    )
    asked = plan_window([], MUCH, instruction=ASKED).tokens
    assert compile_inline(request).tokens.total == plan.tokens + asked


@pytest.fixture
def conversation() -> list[Message]:
    """A conversation with tools, as an importer brings it."""
    rounds: list[dict[str, Any]] = []
    for number in range(12):
        rounds += [
            {"role": "user", "content": f"Please look number {number} up, and tell me of it."},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": f"call_{number}_{part}",
                        "type": "function",
                        "function": {"name": "look", "arguments": f'{{"n": {number}, "part": {part}}}'},
                    }
                    for part in range(2)
                ],
            },
            *(
                {"role": "tool", "tool_call_id": f"call_{number}_{part}", "content": "found " * 10}
                for part in range(2)
            ),
            {"role": "assistant", "content": f"Number {number} is there."},
        ]
    imported = import_messages([{"role": "system", "content": "Be brief."}, *rounds])
    return list(imported.records)

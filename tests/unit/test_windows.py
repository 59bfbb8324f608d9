"""PlanWindow: whole exchanges, newest first, within a budget."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from antiphon.compiler.v1.compiler_service_pb2 import PlanWindowRequest
from antiphon.message.v1 import message_pb2
from antiphon.message.v1.message_pb2 import InstructionContent, Message
from antiphon_client.errors import (
    BudgetImpossibleError,
    FieldInvalidError,
    ProgressionInvalidError,
    SizeLimitExceededError,
    UnsupportedContentError,
)
from antiphon_client.limits import DEFAULT_LIMITS, Limits
from compiler_service.servicer import CompilerServicer
from tests.support.history import summary, uuid_of
from tests.support.windows import call, kept, model, news, plan_window, policy, result, snapshot_of, user

TALK = [
    policy(9),
    user(1),
    model(2),
    user(3),
    call(4, 5),
    result(5, 4),
    model(6),
    user(7),
    model(8),
]
"""A system record, 9, and three turns; the second takes two rounds."""

MUCH = 10**6


def tokens(*messages: Message) -> int:
    """Return the tokens of a history."""
    return plan_window(messages, MUCH).tokens


def test_what_fits_is_left_as_it_is() -> None:
    odd = [user(1), result(3, None), call(2), user(5), policy(9), model(4)]
    for messages in (TALK, odd, [result(3, None), user(1)]):
        whole = plan_window(messages, MUCH)
        assert [*whole.progression.message_ids] == [message.id for message in messages]
        assert (whole.tokens, whole.dropped_count) == (whole.tokens_before, 0)
        exact = plan_window(messages, whole.tokens)
        assert exact.progression == whole.progression
    assert kept(plan_window(TALK, MUCH, progression=[7, 1, 8])) == [7, 1, 8]


def test_the_newest_whole_exchanges_stay() -> None:
    newest = tokens(policy(9), user(7), model(8))
    answer = tokens(user(3), model(6))
    task = tokens(call(4, 5), result(5, 4))
    whole = tokens(*TALK)
    for budget, expected in (
        (newest, [9, 7, 8]),
        (newest + answer - 1, [9, 7, 8]),
        (newest + answer, [9, 3, 6, 7, 8]),
        (newest + answer + task - 1, [9, 3, 6, 7, 8]),
        (newest + answer + task, [9, 3, 4, 5, 6, 7, 8]),
        (whole - 1, [9, 3, 4, 5, 6, 7, 8]),
        (whole, [9, 1, 2, 3, 4, 5, 6, 7, 8]),
    ):
        plan = plan_window(TALK, budget)
        assert kept(plan) == expected
        assert plan.tokens <= budget
        assert plan.tokens_before == whole
        assert plan.dropped_count == len(TALK) - len(expected)


def test_a_budget_that_cannot_be_met_is_an_error_with_numbers() -> None:
    least = tokens(policy(9), user(7), model(8))
    with pytest.raises(BudgetImpossibleError) as caught:
        plan_window(TALK, least - 1)
    assert caught.value.metadata == {
        "budget": str(least - 1),
        "needed": str(least),
        "pinned": str(tokens(policy(9))),
    }
    with pytest.raises(BudgetImpossibleError) as caught:
        plan_window([policy(9)], 1)
    assert caught.value.metadata["needed"] == caught.value.metadata["pinned"] == str(tokens(policy(9)))


def test_the_system_record_counts_whether_or_not_it_is_selected() -> None:
    least = tokens(policy(9), user(7), model(8))
    plan = plan_window(TALK, least, progression=[1, 2, 7, 8])
    assert (kept(plan), plan.tokens) == ([7, 8], least)
    with pytest.raises(BudgetImpossibleError):
        plan_window(TALK, least - 1, progression=[1, 2, 7, 8])


def test_a_summary_is_pinned_and_counted() -> None:
    messages = [policy(9), summary(50, 100, 101, "long ago"), *TALK[1:]]
    least = tokens(policy(9), messages[1], user(7), model(8))
    assert least > tokens(policy(9), user(7), model(8))
    assert kept(plan_window(messages, least)) == [9, 50, 7, 8]
    with pytest.raises(BudgetImpossibleError):
        plan_window(messages, least - 1)


def test_of_several_summaries_one_may_compile() -> None:
    stale = summary(51, 1, 2)
    messages = [summary(50, 100, 101), stale, *TALK]
    least = tokens(policy(9), messages[0], user(7), model(8))
    assert kept(plan_window(messages, least)) == [50, 9, 7, 8]
    assert kept(plan_window(messages, MUCH)) == [50, 51, 9, 1, 2, 3, 4, 5, 6, 7, 8]
    with pytest.raises(ProgressionInvalidError) as caught:
        plan_window([*messages, summary(52, 102, 103)], MUCH)
    assert caught.value.metadata["summaries"] == f"{uuid_of(50)},{uuid_of(52)}"


def test_a_summary_of_what_is_selected_takes_over_when_that_is_cut() -> None:
    messages = [*TALK, summary(50, 1, 6)]
    least = tokens(policy(9), messages[-1], user(7), model(8))
    assert kept(plan_window(messages, least)) == [9, 7, 8, 50]


def test_pins_stay_with_their_exchanges_whatever_the_budget() -> None:
    least = tokens(policy(9), user(1), model(2), user(7), model(8))
    for pin in (1, 2):
        assert kept(plan_window(TALK, least, pinned=[pin])) == [9, 1, 2, 7, 8]
    task = tokens(policy(9), user(3), call(4, 5), result(5, 4), user(7), model(8))
    assert kept(plan_window(TALK, task, pinned=[5])) == [9, 3, 4, 5, 7, 8]
    # A user's turn is of every exchange that it opens.
    turn = tokens(policy(9), *TALK[3:])
    assert kept(plan_window(TALK, turn, pinned=[3])) == [9, 3, 4, 5, 6, 7, 8]
    with pytest.raises(BudgetImpossibleError) as caught:
        plan_window(TALK, least - 1, pinned=[1])
    assert caught.value.metadata["pinned"] == str(tokens(policy(9), user(1), model(2)))
    assert kept(plan_window(TALK, least, pinned=[9, 1])) == [9, 1, 2, 7, 8]
    with pytest.raises(ProgressionInvalidError) as unknown:
        plan_window(TALK, MUCH, pinned=[77, 1, 1])
    assert unknown.value.metadata["missing"] == uuid_of(77)
    assert unknown.value.metadata["duplicate"] == uuid_of(1)


def test_the_instruction_and_the_tools_count() -> None:
    instruction = Message(instruction=InstructionContent(instruction="and now?"))
    tool = '{"name":"look"}'
    plain = plan_window(TALK, MUCH).tokens
    asked = plan_window(TALK, MUCH, instruction=instruction)
    with_tools = plan_window(TALK, MUCH, instruction=instruction, tool_schemas_json=[tool, tool])
    assert plain < asked.tokens < with_tools.tokens
    one = asked.tokens - plain
    least = tokens(policy(9), user(7), model(8)) + one
    assert kept(plan_window(TALK, least, instruction=instruction)) == [9, 7, 8]
    with pytest.raises(BudgetImpossibleError):
        plan_window(TALK, least - 1, instruction=instruction)


def test_a_result_stays_with_its_call_wherever_it_came() -> None:
    messages = [user(1), call(2, 4), user(3), result(4, 2), model(5)]
    late = tokens(user(3), model(5))
    assert kept(plan_window(messages, late)) == [3, 5]
    assert kept(plan_window(messages, tokens(*messages) - 1)) == [3, 5]
    by_provider = [user(1), call(2), result(3, None), user(4), model(5)]
    for record in by_provider[1:3]:
        getattr(record, str(record.WhichOneof("content"))).provider_call_id = "c"
    assert kept(plan_window(by_provider, tokens(*by_provider) - 1)) == [4, 5]


def test_news_of_an_answered_call_stays_with_the_call() -> None:
    messages = [user(1), call(2, 5), user(3), news(4, 2), result(5, 2), model(6)]
    assert kept(plan_window(messages, tokens(user(3), model(6)))) == [3, 6]
    assert kept(plan_window(messages, tokens(*messages) - 1)) == [3, 6]


def test_parallel_calls_and_their_results_are_one_unit() -> None:
    one, two = call(3, 5), call(4, 6)
    messages = [user(1), model(2), one, two, result(5, 3), news(8, 4), result(6, 4), model(7)]
    cut = plan_window(messages, tokens(*messages) - 1)
    assert kept(cut) == [1, 7]
    assert kept(plan_window(messages, tokens(user(1), model(7)))) == [1, 7]


def test_a_cut_window_never_starts_on_a_result() -> None:
    orphans = [result(20, None), result(21, None), user(1), model(2), result(22, None), user(3), model(4)]
    for budget in range(1, tokens(*orphans)):
        try:
            plan = plan_window(orphans, budget)
        except BudgetImpossibleError:
            continue
        first = next(m for m in orphans if m.id == plan.progression.message_ids[0])
        assert not first.HasField("action_response")


def test_what_takes_part_in_no_turn_stays_with_what_is_before_it() -> None:
    hidden = model(10)
    hidden.status = message_pb2.MESSAGE_STATUS_EXCLUDED
    generic = Message(id=uuid_of(11))
    generic.generic.SetInParent()
    messages = [user(1), model(2), hidden, user(3), generic, model(4)]
    assert tokens(*messages) == tokens(user(1), model(2), user(3), model(4))
    assert kept(plan_window(messages, tokens(user(3), model(4)))) == [3, 11, 4]
    assert kept(plan_window([hidden, generic], 1)) == [10, 11]


def test_consecutive_turns_of_a_user_open_one_exchange() -> None:
    messages = [user(1), model(2), user(3), user(4), model(5)]
    assert kept(plan_window(messages, tokens(user(3), user(4), model(5)))) == [3, 4, 5]
    with pytest.raises(BudgetImpossibleError):
        plan_window(messages, tokens(user(4), model(5)))


def test_a_model_that_began_is_an_exchange_too() -> None:
    messages = [model(1), user(2), model(3)]
    assert kept(plan_window(messages, tokens(*messages) - 1)) == [2, 3]
    assert kept(plan_window([model(1)], MUCH)) == [1]


def test_no_history_is_an_empty_plan() -> None:
    plan = plan_window([], 1)
    assert (kept(plan), plan.tokens, plan.tokens_before, plan.dropped_count) == ([], 0, 0, 0)
    assert kept(plan_window(TALK, MUCH, progression=[])) == []


def test_the_request_is_checked() -> None:
    fields: dict[str, Callable[[Any], object]] = {
        "budget_tokens": lambda r: r.ClearField("budget_tokens"),
        "token_counter": lambda r: setattr(r, "token_counter", "o200k_base"),
        "source": lambda r: r.ClearField("source"),
        "pinned_message_ids[0]": lambda r: r.pinned_message_ids.append("x"),
        "progression.message_ids[0]": lambda r: r.progression.message_ids.append("x"),
        "tool_schemas_json[0]": lambda r: r.tool_schemas_json.append("[]"),
        "instruction": lambda r: r.instruction.system.SetInParent(),
        "snapshot.messages[1].id": lambda r: r.snapshot.messages[1].ClearField("id"),
    }
    for field, spoil in fields.items():
        with pytest.raises(FieldInvalidError) as caught:
            _plan(spoil)
        assert [violation.field for violation in caught.value.violations] == [field]
    with pytest.raises(ProgressionInvalidError):
        plan_window(TALK, MUCH, progression=[77])
    newer = Message.FromString(Message(id=uuid_of(1)).SerializeToString() + b"\x82\x01\x00")
    with pytest.raises(UnsupportedContentError):
        plan_window([newer], MUCH)


def test_a_reply_over_the_limit_is_refused() -> None:
    with pytest.raises(SizeLimitExceededError) as caught:
        _plan(lambda request: None, Limits(reply_bytes=200))
    assert caught.value.metadata["limit_name"] == "reply_bytes"


def _plan(spoil: Callable[[Any], object], limits: Limits = DEFAULT_LIMITS) -> None:
    request = PlanWindowRequest(snapshot=snapshot_of(TALK), budget_tokens=MUCH)
    spoil(request)
    asyncio.run(CompilerServicer(None, limits).PlanWindow(request, None))

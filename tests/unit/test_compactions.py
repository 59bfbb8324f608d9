"""PlanCompaction: where to cut, what stays, and the text to summarize."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.message.v1 import message_pb2
from antiphon.message.v1.content_block_pb2 import ContentBlock, Text, Thinking
from antiphon.message.v1.message_pb2 import Message
from antiphon_client.errors import BudgetImpossibleError, FieldInvalidError, ProgressionInvalidError
from tests.support.history import numbers, summary, uuid_of
from tests.support.windows import (
    call,
    kept,
    model,
    news,
    plan_compaction,
    plan_window,
    policy,
    result,
    user,
)

TALK = [
    policy(9),
    user(1, "find it"),
    call(2, 3),
    result(3, 2, '{"at": 1.0}'),
    model(4, "found"),
    user(5),
    model(6),
    user(7),
    model(8),
]


def tokens(*messages: Message) -> int:
    """Return the tokens of a history."""
    return plan_window(messages, 10**6).tokens


def stretch(plan: Any) -> tuple[int, int] | None:
    """Return the numbers of a plan's first and last id; None where there is nothing to compact."""
    if not plan.first_id:
        assert (plan.last_id, plan.text, plan.compacted_count) == ("", "", 0)
        return None
    first, last = numbers([plan.first_id, plan.last_id])
    return first, last


def test_messages_are_kept_rounded_up_to_whole_exchanges() -> None:
    for count, expected, compacted in (
        (1, [9, 7, 8], (1, 6)),
        (2, [9, 7, 8], (1, 6)),
        (3, [9, 5, 6, 7, 8], (1, 4)),
        (5, [9, 1, 4, 5, 6, 7, 8], (2, 3)),
        (7, [9, 1, 2, 3, 4, 5, 6, 7, 8], None),
        (99, [9, 1, 2, 3, 4, 5, 6, 7, 8], None),
    ):
        plan = plan_compaction(TALK, keep_messages=count)
        assert kept(plan) == expected
        assert stretch(plan) == compacted
        assert plan.compacted_count == len(TALK) - len(expected)
        assert plan.tokens_before == tokens(*TALK)
        assert plan.tokens_kept == plan_window(TALK, 10**6, progression=expected).tokens


def test_tokens_are_kept_as_many_as_fit() -> None:
    newest, more = tokens(policy(9), user(7), model(8)), tokens(user(5), model(6))
    for budget, expected in (
        (newest, [9, 7, 8]),
        (newest + more - 1, [9, 7, 8]),
        (newest + more, [9, 5, 6, 7, 8]),
        (tokens(*TALK), [9, 1, 2, 3, 4, 5, 6, 7, 8]),
    ):
        assert kept(plan_compaction(TALK, keep_tokens=budget)) == expected
    with pytest.raises(BudgetImpossibleError) as caught:
        plan_compaction(TALK, keep_tokens=newest - 1)
    assert caught.value.metadata["needed"] == str(newest)
    both = plan_compaction(TALK, keep_tokens=newest + more, keep_messages=1)
    assert kept(both) == [9, 5, 6, 7, 8]
    with pytest.raises(BudgetImpossibleError):
        plan_compaction(TALK, keep_tokens=newest + more - 1, keep_messages=3)


def test_the_text_is_a_transcript_of_the_stretch() -> None:
    assert plan_compaction(TALK, keep_messages=1).text == (
        "[User]\nfind it\n\n"
        '[Call look]\n{"n":2}\n\n'
        '[Result look]\n{"at": 1.0}\n\n'
        "[Assistant]\nfound\n\n"
        "[User]\nask 5\n\n"
        "[Assistant]\nsay 6"
    )


def test_a_transcript_says_what_a_model_is_shown_and_no_reasoning() -> None:
    thinking = model(2, "so: yes")
    thinking.assistant_response.blocks.append(ContentBlock(thinking=Thinking(thinking="hm", signature="s")))
    thinking.assistant_response.blocks.append(ContentBlock(text=Text(text="so: yes")))
    picture = user(3, "look")
    picture.instruction.images.append("https://example.org/a.png")
    failed = result(5, 4, error="no\nsuch")
    failed.action_response.ClearField("output_json")
    broken = call(4, 5, "find")
    broken.action_request.arguments_text = "{n"
    system_text = user(6, "be quick")
    system_text.sender.role = message_pb2.ROLE_SYSTEM
    messages = [user(1, " first\x00 "), thinking, picture, broken, failed, system_text, model(7), user(8)]
    assert plan_compaction(messages, keep_messages=1).text == (
        "[User]\n first\x00 \n\n"
        "[Assistant]\nso: yes\n\n"
        "[User]\nlook\n[image]\n\n"
        "[Call find]\n{n\n\n"
        "[Error find]\nno\nsuch\n\n"
        "[User]\n[System]\nbe quick\n\n"
        "[Assistant]\nsay 7"
    )


def test_a_cut_never_passes_an_open_call() -> None:
    for last in ([], [news(30, 2)]):
        messages = [user(1), call(2), *last, *(m for n in range(3, 13, 2) for m in (user(n), model(n + 1)))]
        plan = plan_compaction(messages, keep_messages=1)
        assert kept(plan) == [message and numbers([message.id])[0] for message in messages]
        assert stretch(plan) is None
    before = [user(40), model(41)]
    plan = plan_compaction([*before, *messages], keep_messages=1)
    assert stretch(plan) == (40, 41)
    with pytest.raises(BudgetImpossibleError) as caught:
        plan_compaction([*before, *messages], keep_tokens=20)
    assert caught.value.metadata["pinned"] == caught.value.metadata["needed"]


def test_an_answered_call_lets_the_cut_pass_even_when_the_answer_came_late() -> None:
    messages = [user(1), call(2, 5), user(3), model(4), result(5, 2), user(6), model(7)]
    plan = plan_compaction(messages, keep_messages=2)
    assert (kept(plan), stretch(plan)) == ([6, 7], (1, 5))
    plan = plan_compaction(messages, keep_messages=3)
    assert (kept(plan), stretch(plan)) == ([3, 4, 6, 7], (1, 5))


def test_pins_stay_and_are_not_in_the_stretch() -> None:
    plan = plan_compaction(TALK, keep_messages=1, pinned=[6])
    assert (kept(plan), stretch(plan)) == ([9, 5, 6, 7, 8], (1, 4))
    plan = plan_compaction(TALK, keep_messages=1, pinned=[1])
    assert (kept(plan), stretch(plan)) == ([9, 1, 2, 3, 4, 7, 8], (5, 6))
    assert plan.text == "[User]\nask 5\n\n[Assistant]\nsay 6"
    with pytest.raises(ProgressionInvalidError):
        plan_compaction(TALK, keep_messages=1, pinned=[77])


def test_a_former_summary_is_carried_whole_and_updated() -> None:
    messages = [policy(9), summary(50, 100, 101, "[User]\nlong ago"), *TALK[1:]]
    plan = plan_compaction(messages, keep_messages=1)
    assert kept(plan) == [9, 7, 8]
    assert stretch(plan) == (100, 6)
    assert plan.summary_message_id == uuid_of(50)
    assert plan.text.startswith("[Previous summary]\n[User]\nlong ago\n\n[User]\nfind it\n\n")
    assert plan.tokens_before == tokens(*messages)
    assert plan.tokens_kept == tokens(policy(9), user(7), model(8))
    fresh = plan_compaction(messages, keep_messages=99)
    assert stretch(fresh) is None
    assert fresh.summary_message_id == uuid_of(50)
    assert 50 not in kept(fresh)


def test_a_summary_of_what_is_selected_is_updated_and_says_nothing() -> None:
    messages = [*TALK, summary(50, 1, 4)]
    plan = plan_compaction(messages, keep_messages=1)
    assert (kept(plan), stretch(plan)) == ([9, 7, 8], (1, 6))
    assert plan.summary_message_id == uuid_of(50)
    assert "Previous summary" not in plan.text
    assert not plan_compaction(TALK, keep_messages=1).HasField("summary_message_id")


def test_what_says_nothing_is_no_stretch() -> None:
    hidden = model(2)
    hidden.status = message_pb2.MESSAGE_STATUS_EXCLUDED
    blank = user(1, " ")
    plan = plan_compaction([blank, hidden, user(3), model(4)], keep_messages=1)
    assert kept(plan) == [1, 2, 3, 4]
    assert stretch(plan) is None
    assert stretch(plan_compaction([], keep_messages=1)) is None


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({}, "keep_tokens"),
        ({"keep_tokens": -1}, "keep_tokens"),
        ({"keep_messages": -1, "keep_tokens": 1}, "keep_messages"),
        ({"keep_messages": 1, "token_counter": "none"}, "token_counter"),
    ],
)
def test_the_request_is_checked(fields: dict[str, Any], fault: str) -> None:
    with pytest.raises(FieldInvalidError) as caught:
        plan_compaction(TALK, **fields)
    assert [violation.field for violation in caught.value.violations] == [fault]

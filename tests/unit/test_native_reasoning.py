"""Reasoning of several responses in one round: what is replayed, and what gives way."""

from __future__ import annotations

from antiphon.message.v1.message_pb2 import Message
from tests.support.compiler import mid, notes_of
from tests.support.native import assistant, call, compile_native, result, signed, turns_of, unsigned, user
from tests.support.projection import assistant as assistant_turn
from tests.support.projection import call as call_part
from tests.support.projection import conversation, project_for, results
from tests.support.projection import result as result_part
from tests.support.projection import user as user_turn


def compiled(*messages: Message) -> tuple[list[list[str]], list[tuple[str, list[str]]]]:
    """Return the turns between the first question and the last, and the notes."""
    response = compile_native([user(1, "q"), *messages], "x")
    return turns_of(response)[1:-1], notes_of(response)


def test_of_signed_reasoning_without_calls_the_last_is_replayed() -> None:
    turns, notes = compiled(*[assistant(n, f"t{n}", signed(f"s{n}")) for n in (2, 3, 4)])
    assert turns == [["assistant", "text:t2", "text:t3", "thinking:s4 (sig)", "text:t4"]]
    dropped = [ids for kind, ids in notes if kind == "THINKING_DROPPED"]
    assert dropped == [[mid(2), mid(3)]]


def test_signed_reasoning_of_a_round_that_calls_stays_and_the_next_begins_another() -> None:
    turns, notes = compiled(
        assistant(2, "", signed("s2")), call(3, "c3"), assistant(4, "", signed("s4")), result(5, 3)
    )
    assert [turn[0] for turn in turns] == ["assistant", "tool", "assistant"]
    assert turns[0][1] == "thinking:s2 (sig)"
    assert turns[2] == ["assistant", "thinking:s4 (sig)"]
    assert "THINKING_DROPPED" not in {kind for kind, _ in notes}


def test_unsigned_reasoning_is_one_text_where_the_first_stood() -> None:
    turns, _ = compiled(*[assistant(n, f"t{n}", unsigned(f"u{n}")) for n in (2, 3)])
    assert turns == [["assistant", "thinking:u2\n\nu3", "text:t2", "text:t3"]]


def test_a_made_id_is_the_same_in_every_round_where_ids_may_be_used_again() -> None:
    long = "c" * 50
    one = [assistant_turn(call_part(long)), *results(result_part(long, "x"))]
    turns = project_for("openai.chat", conversation(user_turn("q"), [*one, *one])).turns
    made = [turn["tool_calls"][0]["id"] for turn in turns if turn["role"] == "assistant"]
    assert made == [turn["tool_call_id"] for turn in turns if turn["role"] == "tool"]
    assert made[0] == made[1] != long

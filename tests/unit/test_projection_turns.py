"""Which turns follow which in a projected request, and how it may begin and end."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon_client.errors import FieldInvalidError
from compiler_service.native.turns import CallPart, JsonPart, OpaquePart, ThinkingPart
from compiler_service.projection import TABLE
from tests.support.projection import (
    TARGETS,
    assistant,
    call,
    conversation,
    png,
    project_for,
    result,
    results,
    text,
    user,
)

ANTHROPIC, GEMINI, OLLAMA, CHAT, RESPONSES = TARGETS
OPENING = TABLE.targets[ANTHROPIC].opening_user_text
MERGE = {"flags": ["merge_consecutive_users"]}
ECHO = {"flags": ["reasoning_echo"]}
TWO_USERS = conversation(user("a", id="u1"), user("b", png("u2"), id="u2"), user("c", id="u3"))


def roles(turns: list[dict[str, Any]]) -> list[str]:
    return [turn["role"] for turn in turns]


class TestConsecutiveUsers:
    def test_anthropic_takes_one(self) -> None:
        projected = project_for(ANTHROPIC, TWO_USERS)
        kinds = [[block["type"] for block in turn["content"]] for turn in projected.turns]
        assert kinds == [["text", "text", "image", "text"]]
        assert projected.about("USERS_MERGED") == [(("u1", "u2", "u3"), "")]

    def test_gemini_takes_one(self) -> None:
        projected = project_for(GEMINI, TWO_USERS)
        assert [[*part] for part in projected.turns[0]["parts"]] == [
            ["text"],
            ["text"],
            ["inlineData"],
            ["text"],
        ]
        assert len(projected.turns) == 1
        assert projected.about("USERS_MERGED") == [(("u1", "u2", "u3"), "")]

    @pytest.mark.parametrize("target", [CHAT, OLLAMA, RESPONSES])
    def test_others_take_them_as_they_are_unless_told(self, target: str) -> None:
        projected = project_for(target, TWO_USERS)
        assert roles(projected.turns) == ["user"] * 3
        assert projected.about("USERS_MERGED") == []
        merged = project_for(target, TWO_USERS, options=MERGE)
        assert roles(merged.turns) == ["user"]
        assert merged.about("USERS_MERGED") == [(("u1", "u2", "u3"), "")]

    def test_separate_runs_are_separate_notes(self) -> None:
        given = conversation(
            user("a", id="u1"), user("b", id="u2"), assistant("x"), user("c", id="u3"), user("d", id="u4")
        )
        assert project_for(ANTHROPIC, given).about("USERS_MERGED") == [(("u1", "u2"), ""), (("u3", "u4"), "")]

    def test_a_turn_that_vanishes_makes_neighbours_meet(self) -> None:
        given = conversation(user("a", id="u1"), assistant(JsonPart("1", "a")), user("b", id="u2"))
        assert project_for(ANTHROPIC, given).about("USERS_MERGED") == [(("u1", "u2"), "")]

    def test_results_and_what_follows_are_one_anthropic_message(self) -> None:
        given = conversation(
            user("hi"),
            assistant(call()),
            results(result("call_1", "r")),
            user("b", id="u2"),
            user("c", id="u3"),
        )
        projected = project_for(ANTHROPIC, given)
        assert [block["type"] for block in projected.turns[2]["content"]] == ["tool_result", "text", "text"]
        assert projected.about("USERS_MERGED") == [(("u2", "u3"), "")]


class TestConsecutiveAssistants:
    def test_are_one_where_turns_alternate(self) -> None:
        given = conversation(
            user("hi"),
            assistant("x", id="a1"),
            user(JsonPart("1", "u2"), id="u2"),
            assistant("y", id="a2"),
            user("go"),
        )
        for target in (ANTHROPIC, GEMINI):
            projected = project_for(target, given)
            assert len(projected.turns) == 3
            assert projected.about("ASSISTANTS_MERGED") == [(("a1", "a2"), "")]

    def test_reasoning_of_two_responses_is_never_in_one(self) -> None:
        former = ThinkingPart("one", "c2ln", "anthropic", None, "a1")
        redacted = OpaquePart(
            "anthropic", "", "redacted_thinking", '{"type":"redacted_thinking","data":"d"}', "a1"
        )
        latter = ThinkingPart("two", "c2ln", "anthropic", None, "a2")
        given = conversation(
            user("hi"),
            assistant(former, redacted, "x", id="a1"),
            user(JsonPart("1", "u2"), id="u2"),
            assistant(latter, "y", id="a2"),
            user("go"),
        )
        projected = project_for(ANTHROPIC, given)
        assert [block["type"] for block in projected.turns[1]["content"]] == ["thinking", "text", "text"]
        assert projected.about("THINKING_DROPPED") == [(("a1",), "of a response merged into another")]


class TestOpening:
    @pytest.mark.parametrize("target", [ANTHROPIC, GEMINI])
    def test_a_user_turn_is_made_in_front_of_an_assistant(self, target: str) -> None:
        projected = project_for(target, conversation(assistant("Hello!"), user("hi")))
        assert OPENING in str(projected.turns[0])
        assert projected.turns[0]["role"] == "user"
        assert projected.about("OPENING_TURN_MADE") == [((), "")]

    @pytest.mark.parametrize("target", [CHAT, OLLAMA, RESPONSES])
    def test_others_need_none(self, target: str) -> None:
        projected = project_for(target, conversation(assistant("Hello!"), user("hi")))
        assert roles(projected.turns) == ["assistant", "user"]
        assert projected.about("OPENING_TURN_MADE") == []

    @pytest.mark.parametrize("target", TARGETS)
    def test_a_request_is_never_without_turns(self, target: str) -> None:
        given = conversation(user(JsonPart("1", "u")), is_continuation=True)
        projected = project_for(target, given)
        assert len(projected.turns) == 1
        assert OPENING in projected.text
        assert {"OPENING_TURN_MADE", "EMPTY_DROPPED", "PART_DROPPED"} <= projected.kinds


class TestEnding:
    GIVEN = conversation(user("hi"), assistant("So far \n", id="a9"), is_continuation=True)

    @pytest.mark.parametrize("target", [CHAT, RESPONSES, GEMINI])
    def test_an_assistant_that_is_not_continued_is_refused(self, target: str) -> None:
        with pytest.raises(FieldInvalidError) as raised:
            project_for(target, self.GIVEN)
        assert [violation.field for violation in raised.value.violations] == ["instruction"]

    def test_ollama_continues_it(self) -> None:
        projected = project_for(OLLAMA, self.GIVEN)
        assert projected.turns[-1] == {"role": "assistant", "content": "So far \n"}

    def test_anthropic_continues_it_without_white_space_at_its_end(self) -> None:
        projected = project_for(ANTHROPIC, self.GIVEN)
        assert projected.turns[-1]["content"] == [{"type": "text", "text": "So far"}]
        detail = "white space at the end of a turn to be continued"
        assert projected.about("PART_CONVERTED") == [(("a9",), detail)]
        earlier = project_for(ANTHROPIC, conversation(*self.GIVEN.turns, user("go")))
        assert earlier.turns[1]["content"] == [{"type": "text", "text": "So far \n"}]

    @pytest.mark.parametrize("target", TARGETS)
    def test_results_may_end_it(self, target: str) -> None:
        given = conversation(
            user("hi"), assistant(call()), results(result("call_1", "r")), is_continuation=True
        )
        assert "call_1" in project_for(target, given).text or target == OLLAMA

    @pytest.mark.parametrize("target", TARGETS)
    def test_a_request_without_its_question_is_refused(self, target: str) -> None:
        given = conversation(user("hi"), assistant("yes"), user(JsonPart("1", ""), id=""))
        with pytest.raises(FieldInvalidError) as raised:
            project_for(target, given)
        assert [violation.field for violation in raised.value.violations] == ["instruction"]


class TestSystemInUser:
    FLAG = {"flags": ["system_in_user"]}  # noqa: RUF012

    @pytest.mark.parametrize("target", [ANTHROPIC, GEMINI, OLLAMA, CHAT, RESPONSES])
    def test_system_text_goes_in_front_of_the_first_user_turn(self, target: str) -> None:
        projected = project_for(target, conversation(user("hi"), system="be"), options=self.FLAG)
        assert roles(projected.turns) == ["user"]
        assert str(projected.turns[0]).index("be") < str(projected.turns[0]).index("hi")
        assert "system" not in {turn.get("role") for turn in projected.body.get("messages", ())}
        assert not {"system", "systemInstruction", "instructions"} & set(projected.body)

    def test_it_is_a_turn_of_its_own_in_front_of_an_assistant(self) -> None:
        given = conversation(assistant("Hello!"), user("hi"), system="be")
        projected = project_for(ANTHROPIC, given, options=self.FLAG)
        assert projected.turns[0] == {"role": "user", "content": "be"}
        assert projected.about("OPENING_TURN_MADE") == []

    def test_blank_text_adds_nothing(self) -> None:
        given = conversation(user("hi"), system=" ")
        assert project_for(CHAT, given, options=self.FLAG).turns == [{"role": "user", "content": "hi"}]


class TestReasoningEcho:
    """The field stands on assistants after the last user turn, empty where nothing is known."""

    GIVEN = conversation(
        user("hi"),
        assistant(ThinkingPart("old", None, "deepseek", None, "a0"), "yes", id="a0"),
        user("and?", id="u2"),
        assistant(
            ThinkingPart("one,", None, "deepseek", None, "a1"),
            ThinkingPart("two", None, None, None, "a1"),
            call("c1"),
            id="a1",
        ),
        results(result("c1", "r")),
        assistant("more", call("c2"), id="a2"),
        results(result("c2", "r")),
        is_continuation=True,
    )

    @pytest.mark.parametrize(("target", "key"), [(CHAT, "reasoning_content"), (OLLAMA, "thinking")])
    def test_is_on_the_current_turn_only(self, target: str, key: str) -> None:
        projected = project_for(target, self.GIVEN, options=ECHO, check=target == OLLAMA)
        spoken = [turn for turn in projected.turns if turn["role"] == "assistant"]
        assert [turn.get(key) for turn in spoken] == [None, "one,two", ""]
        assert projected.about("THINKING_DROPPED") == [(("a0",), "not of the current turn")]

    def test_is_off_without_the_flag(self) -> None:
        assert "reasoning_content" not in project_for(CHAT, self.GIVEN).text
        assert "thinking" not in project_for(OLLAMA, self.GIVEN).text


def test_parts_in_the_wrong_place_never_reach_a_provider() -> None:
    for target in TARGETS:
        given = conversation(user("hi"), assistant("a", result("call_9", "r")), user("go"))
        projected = project_for(target, given)
        assert "call_9" not in projected.text
        assert projected.about("PART_DROPPED") == [(("r-call_9",), "result in an assistant's turn")]


def test_projecting_changes_nothing_and_repeats_itself() -> None:
    given = conversation(
        user("hi", text(""), png()),
        assistant("x", CallPart("a.b", "n.m", "{}", "[1]", "c2ln", "q")),
        results(result("a.b", "r", png(), name="n.m")),
        user("go"),
        system="be",
    )
    before = repr(given)
    for target in TARGETS:
        assert project_for(target, given) == project_for(target, given)
    assert repr(given) == before

"""What providers refuse a whole request for, and what is made of it instead."""

from __future__ import annotations

import json
from typing import Any

import pytest

from antiphon.compiler.v1.compiler_service_pb2 import PROFILE_NATIVE, CompileRequest, CompileResponse
from antiphon.message.v1.message_pb2 import InstructionContent, Message
from antiphon_client.errors import FieldInvalidError
from compiler_service.native.turns import CacheMark, JsonPart, NativeTurn, OpaquePart, ThinkingPart
from compiler_service.projection import TABLE
from tests.support.compiler import CURRENT_ID, compile_inline
from tests.support.imported import (
    OPENAI,
    body_of,
    compile_imported,
    import_request,
    note_kinds,
    stored,
)
from tests.support.native import native_request
from tests.support.projection import (
    TARGETS,
    Projected,
    assistant,
    call,
    conversation,
    linked,
    png,
    project_for,
    result,
    results,
    text,
    user,
)
from tests.support.projection_rules import check_rules
from tests.support.recorded_conversations import EPHEMERAL, HOUR

ANTHROPIC, GEMINI, OLLAMA, CHAT, RESPONSES = TARGETS
GIVEN = conversation(user("hi"))
ERROR_TEXT = "(error without a message)"


def signed(said: str, id: str = "a") -> ThinkingPart:
    return ThinkingPart(said, "c2ln", "anthropic", None, id)


REDACTED = OpaquePart("anthropic", "", "redacted_thinking", '{"type":"redacted_thinking","data":"d"}', "a")
NO_TURN = user(JsonPart("1", "u2"), id="u2")
"""A user's turn of which nothing is left."""


class TestSystemTextInItsPlace:
    """It stands where it stood while all that was before it is there, and never within a round."""

    TOOL_CALL: dict[str, Any] = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}  # noqa: RUF012
    MESSAGES: list[dict[str, Any]] = [  # noqa: RUF012
        {"role": "user", "content": "q0"},
        {"role": "assistant", "content": "a0"},
        {"role": "system", "content": "be"},
        {"role": "user", "content": "q1"},
        {"role": "assistant", "content": None, "tool_calls": [TOOL_CALL, {**TOOL_CALL, "id": "b"}]},
        {"role": "tool", "tool_call_id": "a", "content": "A"},
        {"role": "tool", "tool_call_id": "b", "content": "B"},
    ]

    def of_selection(self, start: int, end: int | None = None) -> tuple[list[str], CompileResponse]:
        imported = import_request(OPENAI, {"messages": self.MESSAGES})
        request = CompileRequest(profile=PROFILE_NATIVE, target=OPENAI)
        request.snapshot.messages.extend(stored(imported.messages))
        assert imported.system is not None
        request.snapshot.system.CopyFrom(stored([imported.system])[0])
        request.progression.message_ids.extend([each.id for each in imported.messages][start:end])
        request.instruction.CopyFrom(Message(id=CURRENT_ID, instruction=InstructionContent(instruction="go")))
        response = compile_inline(request)
        check_rules(OPENAI, body_of(response))
        return [message["role"] for message in body_of(response)["messages"]], response

    def test_stays_while_all_before_it_is_there(self) -> None:
        roles, response = self.of_selection(0)
        assert roles[:4] == ["user", "assistant", "system", "user"]
        assert note_kinds(response) == []

    @pytest.mark.parametrize(("start", "end"), [(1, None), (2, None), (2, 3), (0, 1), (99, None)])
    def test_goes_to_the_front_otherwise(self, start: int, end: int | None) -> None:
        roles, response = self.of_selection(start, end)
        assert roles[0] == "system"
        assert roles[-1] == "user"
        assert note_kinds(response) == ["PART_CONVERTED"]
        assert response.report[0].reason.endswith(": system text moved to the front")

    def test_is_never_between_calls_and_results(self) -> None:
        asked, called, answered, other = self.MESSAGES[3:7]
        given = [asked, called, {"role": "system", "content": "be"}, answered, other]
        response = compile_imported(import_request(OPENAI, {"messages": given}), OPENAI)
        roles = [message["role"] for message in body_of(response)["messages"]]
        assert roles == ["system", "user", "assistant", "tool", "tool"]

    @pytest.mark.parametrize(("position", "after"), [(-3, "x"), (99, "x"), (1, 5), (1, "x"), (True, None)])
    def test_a_place_that_is_none_is_the_front(self, position: Any, after: Any) -> None:
        marks = {"openai_chat": {"position": position, "after": after}}
        given = conversation(user("hi"), system="be", system_extras_json=json.dumps(marks))
        projected = project_for(CHAT, given)
        assert [turn["role"] for turn in projected.body["messages"]] == ["system", "user"]


class TestReasoningFirst:
    def moved(self, *parts: Any) -> Projected:
        calls = [part for part in parts if type(part) is type(call())]
        given = conversation(
            user("hi"), assistant(*parts), results(*[result(each.id, "r") for each in calls]), user("go")
        )
        return project_for(ANTHROPIC, given)

    def test_goes_in_front_of_what_another_response_said(self) -> None:
        projected = self.moved("aloud", signed("one"), REDACTED, call())
        kinds = [block["type"] for block in projected.turns[1]["content"]]
        assert kinds == ["thinking", "redacted_thinking", "text", "tool_use"]
        assert projected.about("PART_CONVERTED") == [(("a",), "reasoning moved to the front of its turn")]

    def test_goes_in_front_of_calls(self) -> None:
        projected = self.moved(call("c1"), signed("one"), call("c2"))
        assert [block.get("id") for block in projected.turns[1]["content"]] == [None, "c1", "c2"]

    def test_later_reasoning_of_the_response_stays_where_it_was(self) -> None:
        projected = self.moved("aloud", signed("one"), "x", signed("two"), call())
        said = [block.get("thinking") or block.get("text") for block in projected.turns[1]["content"]]
        assert said == ["one", "aloud", "x", "two", None]

    def test_what_begins_with_it_is_not_touched(self) -> None:
        projected = self.moved(signed("one"), "x", signed("two"), call())
        said = [block.get("thinking") or block.get("text") for block in projected.turns[1]["content"]]
        assert said == ["one", "x", "two", None]
        assert projected.about("PART_CONVERTED") == []

    def test_is_first_also_in_turns_that_become_one(self) -> None:
        given = conversation(
            user("hi"), assistant("x", id="a1"), NO_TURN, assistant(signed("two"), "y", id="a2"), user("go")
        )
        kinds = [block["type"] for block in project_for(ANTHROPIC, given).turns[1]["content"]]
        assert kinds == ["thinking", "text", "text"]

    @pytest.mark.parametrize("target", [ANTHROPIC, GEMINI])
    def test_of_two_responses_is_never_in_one_turn(self, target: str) -> None:
        provider = TABLE.targets[target].provider
        one, two = (ThinkingPart(said, "c2ln", provider, None, said) for said in ("one", "two"))
        given = conversation(
            user("hi"),
            assistant(one, "x", id="a1"),
            NO_TURN,
            assistant(two, "y", id="a2"),
            NO_TURN,
            assistant("z", id="a3"),
            user("go"),
        )
        projected = project_for(target, given)
        assert projected.about("THINKING_DROPPED") == [(("one",), "of a response merged into another")]
        assert projected.text.count("c2ln") == 1
        assert '"two"' in projected.text

    def test_gemini_leaves_it_in_its_place(self) -> None:
        thought = ThinkingPart("one", "c2ln", "gemini", None, "a")
        given = conversation(user("hi"), assistant("aloud", thought, "x"), user("go"))
        parts = project_for(GEMINI, given).turns[1]["parts"]
        assert [part["text"] for part in parts] == ["aloud", "one", "x"]


class TestFailedResults:
    def failed(self, *content: Any, **fields: Any) -> tuple[dict[str, Any], Projected]:
        given = conversation(
            user("hi"), assistant(call()), results(result("call_1", *content, is_error=True, **fields))
        )
        projected = project_for(ANTHROPIC, given)
        return projected.turns[2]["content"][0], projected

    @pytest.mark.parametrize(("said", "expected"), [("", ERROR_TEXT), (" ", f" \n{ERROR_TEXT}")])
    def test_one_without_words_gets_some(self, said: str, expected: str) -> None:
        block, projected = self.failed(said)
        assert (block["content"], block["is_error"]) == (expected, True)
        assert (("r-call_1",), "text of a failed result") in projected.about("DEFAULT_APPLIED")

    def test_one_with_an_image_only_gets_some(self) -> None:
        block, projected = self.failed("", png())
        assert block["content"] == ERROR_TEXT
        assert projected.turns[2]["content"][1]["type"] == "image"

    def test_one_of_blocks_gets_one(self) -> None:
        block, _ = self.failed("", extras_json='{"anthropic_messages":{"parts":true}}')
        assert block["content"] == [{"type": "text", "text": ERROR_TEXT}]

    def test_words_stay_as_they_are(self) -> None:
        block, projected = self.failed(" no ")
        assert block["content"] == " no "
        assert [detail for _, detail in projected.about("DEFAULT_APPLIED")] == ["max_tokens 4096"]

    def test_a_blank_result_that_did_not_fail_stays(self) -> None:
        given = conversation(user("hi"), assistant(call()), results(result("call_1", " ")))
        assert project_for(ANTHROPIC, given).turns[2]["content"][0]["content"] == " "


class TestCacheMarks:
    FIVE, HOURLY = CacheMark("ephemeral", None), CacheMark("ephemeral", "1h")

    def marked(self, *content: Any) -> tuple[dict[str, Any], Projected]:
        given = conversation(user("hi"), assistant(call()), results(result("call_1", *content)))
        projected = project_for(ANTHROPIC, given)
        return projected.turns[2]["content"][0], projected

    def test_of_one_text_is_the_results(self) -> None:
        block, _ = self.marked(text("a", mark=self.FIVE))
        assert (block["content"], block["cache_control"]) == ("a", EPHEMERAL)

    def test_of_one_text_among_several_stays_with_it(self) -> None:
        block, projected = self.marked(text("a", mark=self.FIVE), text("b"), text("c", mark=self.FIVE))
        assert [part.get("cache_control") for part in block["content"]] == [EPHEMERAL, None, EPHEMERAL]
        assert "cache_control" not in block
        assert projected.about("CACHE_MARK_DROPPED") == []

    @pytest.mark.parametrize("blank", ["", " "])
    def test_of_a_blank_text_among_several_goes(self, blank: str) -> None:
        block, projected = self.marked(text(blank, mark=self.FIVE), text("b"))
        assert block["content"] == [{"type": "text", "text": "b"}]
        assert projected.about("CACHE_MARK_DROPPED") == [(("r-call_1",), "")]
        assert projected.about("EMPTY_PART_DROPPED") == ([(("r-call_1",), "")] if blank else [])

    def test_of_imported_system_text_is_in_the_order_of_lifetimes(self) -> None:
        pieces = {"anthropic_messages": {"pieces": [[2, {"set": {"cache_control": EPHEMERAL}}]]}}
        given = conversation(
            user(text("hi", mark=self.HOURLY)), system="be", system_extras_json=json.dumps(pieces)
        )
        projected = project_for(ANTHROPIC, given)
        assert projected.body["system"] == [{"type": "text", "text": "be"}]
        assert projected.turns[0]["content"][0]["cache_control"] == HOUR
        assert projected.about("CACHE_MARK_DROPPED") == [(("s",), "")]
        shorter = conversation(*given.turns[:0], user(text("hi", mark=self.FIVE)), system="be")
        kept = project_for(ANTHROPIC, shorter._replace(system_extras_json=json.dumps(pieces)))
        assert kept.text.count("cache_control") == 2

    def test_of_an_imported_call_is_in_the_order_of_lifetimes(self) -> None:
        form = json.dumps({"anthropic_messages": {"block": {"set": {"cache_control": EPHEMERAL}}}})
        given = conversation(
            user("hi"),
            assistant(call(extras_json=form)),
            results(result("call_1", text("r", "r", mark=self.HOURLY))),
        )
        projected = project_for(ANTHROPIC, given)
        assert "cache_control" not in projected.turns[1]["content"][0]
        assert projected.turns[2]["content"][0]["cache_control"] == HOUR
        assert projected.about("CACHE_MARK_DROPPED") == [(("q-call_1",), "")]

    @pytest.mark.parametrize("odd", [5, {"type": "other"}, {"type": "ephemeral", "ttl": "9d"}])
    def test_that_anthropic_does_not_know_go(self, odd: Any) -> None:
        form = json.dumps({"anthropic_messages": {"block": {"set": {"cache_control": odd}}}})
        given = conversation(user("hi"), assistant(call(extras_json=form)), results(result("call_1", "r")))
        projected = project_for(ANTHROPIC, given)
        assert "cache_control" not in projected.text
        assert projected.about("CACHE_MARK_DROPPED") == [(("q-call_1",), "")]

    def test_writing_once_more_changes_nothing_else(self) -> None:
        marked = [text(f"t{number}", mark=self.FIVE) for number in range(6)]
        turns: list[NativeTurn | list[NativeTurn]] = [user("hi")]
        for number in range(2):
            turns += [assistant(call("a.b"), id=f"a{number}"), results(result("a.b", "r"))]
        plain = project_for(ANTHROPIC, conversation(*turns, user(*[f"t{n}" for n in range(6)], id="t")))
        projected = project_for(ANTHROPIC, conversation(*turns, user(*marked, id="t")))
        assert projected.text.replace(',"cache_control":{"type":"ephemeral"}', "") == plain.text
        assert projected.text.count("cache_control") == 4
        assert projected.about("CALL_ID_MAPPED") == plain.about("CALL_ID_MAPPED") != []


class TestAddressesOfImages:
    @pytest.mark.parametrize("url", ["http://e.org/i.png", "HTTP://e.org/i.png"])
    def test_anthropic_takes_secure_ones_only(self, url: str) -> None:
        projected = project_for(ANTHROPIC, conversation(user("a", linked(url, "i9"))))
        assert projected.turns[0] == {"role": "user", "content": "a"}
        assert projected.about("PART_DROPPED") == [(("i9",), "image at an address of http")]
        secure = project_for(ANTHROPIC, conversation(user("a", linked("HTTPS://e.org/i.png"))))
        assert secure.turns[0]["content"][1]["source"]["url"] == "HTTPS://e.org/i.png"

    @pytest.mark.parametrize("target", [CHAT, RESPONSES, GEMINI])
    def test_others_take_both(self, target: str) -> None:
        assert (
            "http://e.org/i.png" in project_for(target, conversation(user(linked("http://e.org/i.png")))).text
        )


class TestLimitOfTokens:
    @pytest.mark.parametrize(
        ("thinking", "expected"),
        [
            ({"type": "enabled", "budget_tokens": 10000}, 11024),
            ({"type": "enabled", "budget_tokens": 2000}, 4096),
            ({"type": "enabled", "budget_tokens": "x"}, 4096),
            ({"type": "adaptive"}, 4096),
            (None, 4096),
        ],
    )
    def test_a_made_one_exceeds_the_budget_for_reasoning(self, thinking: Any, expected: int) -> None:
        projected = project_for(ANTHROPIC, GIVEN, kwargs=json.dumps({"thinking": thinking}), check=False)
        assert projected.body["max_tokens"] == expected
        assert projected.about("DEFAULT_APPLIED") == [((), f"max_tokens {expected}")]

    def test_null_gives_none(self) -> None:
        projected = project_for(ANTHROPIC, GIVEN, kwargs='{"max_tokens":null,"top_k":1}', check=False)
        assert (projected.body["max_tokens"], projected.body["top_k"]) == (4096, 1)
        assert projected.text.count("max_tokens") == 1
        assert projected.about("DEFAULT_APPLIED") == [((), "max_tokens 4096")]

    def test_a_given_one_stays_whatever_the_budget(self) -> None:
        kwargs = '{"max_tokens":5,"thinking":{"type":"enabled","budget_tokens":10000}}'
        assert project_for(ANTHROPIC, GIVEN, kwargs=kwargs).body["max_tokens"] == 5


def test_one_key_in_two_spellings_is_refused() -> None:
    kwargs = '{"generation_config":{"temperature":1},"generationConfig":{"topP":1}}'
    with pytest.raises(FieldInvalidError) as raised:
        project_for(GEMINI, GIVEN, kwargs=kwargs)
    assert [violation.field for violation in raised.value.violations] == ["provider_kwargs_json"]


class TestSystemText:
    FLAG = {"flags": ["system_in_user"]}  # noqa: RUF012

    @pytest.mark.parametrize("target", TARGETS)
    @pytest.mark.parametrize("blank", ["", " \n"])
    def test_blank_is_noted_where_it_goes_to_the_user(self, target: str, blank: str) -> None:
        projected = project_for(target, conversation(user("hi"), system=blank), options=self.FLAG)
        assert projected.about("EMPTY_PART_DROPPED") == [(("s",), "")]
        assert len(projected.turns) == 1

    @pytest.mark.parametrize("target", TARGETS)
    def test_its_move_is_noted(self, target: str) -> None:
        projected = project_for(target, conversation(user("hi"), system="be"), options=self.FLAG)
        detail = "system text in front of a user's turn"
        assert projected.about("PART_CONVERTED") == [(("s",), detail)]

    def test_empty_is_noted_by_ollama(self) -> None:
        projected = project_for(OLLAMA, conversation(user("hi"), system=""))
        assert projected.about("EMPTY_PART_DROPPED") == [(("s",), "")]


def test_neutral_turns_and_their_digest_know_no_target() -> None:
    imported = import_request(OPENAI, {"messages": TestSystemTextInItsPlace.MESSAGES})
    records = stored(imported.messages)
    without = compile_inline(native_request(records, "go"))
    for target in TARGETS:
        response = compile_inline(native_request(records, "go", target=target))
        assert response.messages_digest == without.messages_digest
        assert list(response.messages) == list(without.messages)

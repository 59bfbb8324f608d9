"""Ids, names and arguments of calls, as each target's rules want them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from compiler_service.native.turns import ThinkingPart
from tests.support.projection import (
    TARGETS,
    Projected,
    assistant,
    call,
    conversation,
    project_for,
    result,
    results,
    user,
)

ANTHROPIC, GEMINI, OLLAMA, CHAT, RESPONSES = TARGETS
LONG = "call-" + "x" * 60


def one_round(target: str, *calls: Any, **fields: Any) -> Projected:
    """Project one round of calls, each answered."""
    answers = [result(made.id, f"r{number}", name=made.name) for number, made in enumerate(calls)]
    return project_for(target, conversation(user("hi"), assistant(*calls), results(*answers)), **fields)


def ids_of(target: str, projected: Projected) -> tuple[list[str], list[str]]:
    """Return the ids of the calls, and of the results, in the order of the request."""
    calls: list[str] = []
    answers: list[str] = []
    for turn in projected.turns:
        if target == CHAT:
            calls += [made["id"] for made in turn.get("tool_calls", ())]
            answers += [turn["tool_call_id"]] if turn["role"] == "tool" else []
        elif target == RESPONSES and "call_id" in turn:
            (calls if turn["type"] == "function_call" else answers).append(turn["call_id"])
        elif target == ANTHROPIC and isinstance(turn["content"], list):
            calls += [block["id"] for block in turn["content"] if block["type"] == "tool_use"]
            answers += [block["tool_use_id"] for block in turn["content"] if block["type"] == "tool_result"]
        elif target == GEMINI:
            calls += [part["functionCall"]["id"] for part in turn["parts"] if "functionCall" in part]
            answers += [
                part["functionResponse"]["id"] for part in turn["parts"] if "functionResponse" in part
            ]
    return calls, answers


WITH_IDS = [ANTHROPIC, GEMINI, CHAT, RESPONSES]
GRAMMARS = {
    ANTHROPIC: re.compile(r"[A-Za-z0-9_-]{1,64}"),
    GEMINI: re.compile(r".+"),
    CHAT: re.compile(r".{1,40}"),
    RESPONSES: re.compile(r".{1,64}"),
}


class TestIds:
    @pytest.mark.parametrize("target", WITH_IDS)
    def test_legal_ids_are_never_changed(self, target: str) -> None:
        projected = one_round(target, call("toolu_01A-b"), call("x"))
        assert ids_of(target, projected) == (["toolu_01A-b", "x"], ["toolu_01A-b", "x"])
        assert projected.about("CALL_ID_MAPPED") == []

    @pytest.mark.parametrize(
        ("target", "given"),
        [
            *[(ANTHROPIC, given) for given in ("a.b:c", LONG, "é", "")],
            *[(CHAT, LONG), (CHAT, ""), (RESPONSES, LONG), (GEMINI, "")],
        ],
    )
    def test_refused_ids_are_changed_on_call_and_result_alike(self, target: str, given: str) -> None:
        projected = one_round(target, call(given))
        calls, answers = ids_of(target, projected)
        assert calls == answers
        assert calls != [given]
        assert GRAMMARS[target].fullmatch(calls[0])
        assert projected.about("CALL_ID_MAPPED") == [((f"q-{given}",), "")]
        assert ids_of(target, one_round(target, call(given))) == (calls, answers)

    def test_ids_that_would_sanitize_alike_stay_apart(self) -> None:
        calls, answers = ids_of(ANTHROPIC, one_round(ANTHROPIC, call("a.b"), call("a:b"), call("a_b")))
        assert len(set(calls)) == 3
        assert calls == answers
        assert calls[2] == "a_b"

    def test_a_made_id_that_is_taken_is_made_anew(self) -> None:
        first, _ = ids_of(ANTHROPIC, one_round(ANTHROPIC, call("a.b")))
        calls, answers = ids_of(ANTHROPIC, one_round(ANTHROPIC, call("a.b"), call(first[0])))
        assert calls[1] == first[0]
        assert calls[0] != first[0]
        assert calls == answers

    @pytest.mark.parametrize("target", WITH_IDS)
    def test_two_calls_of_a_round_never_share_one(self, target: str) -> None:
        calls, answers = ids_of(target, one_round(target, call("same"), call("same")))
        assert len(set(calls)) == 2
        assert calls == answers
        assert calls[0] == "same"

    @pytest.mark.parametrize("target", WITH_IDS)
    def test_a_later_round_may_use_an_id_again(self, target: str) -> None:
        given = conversation(
            user("hi"),
            assistant(call("call_0")),
            results(result("call_0", "A")),
            user("more", id="u2"),
            assistant(call("call_0"), id="a2"),
            results(result("call_0", "B")),
        )
        if target != ANTHROPIC:
            assert ids_of(target, project_for(target, given)) == (["call_0"] * 2, ["call_0"] * 2)
        two = [call("call_0"), call("call_1")]
        twice = conversation(
            user("hi"),
            assistant(*two),
            results(result("call_0", "A"), result("call_1", "B")),
            assistant(*two, id="a2"),
            results(result("call_0", "C"), result("call_1", "D")),
        )
        if target != ANTHROPIC:
            assert ids_of(target, project_for(target, twice))[0] == ["call_0", "call_1"] * 2
        unique, answers = ids_of(target, project_for(target, given, options={"flags": ["unique_call_ids"]}))
        assert unique == answers
        assert len(set(unique)) == 2
        assert unique[0] == "call_0"

    def test_anthropic_never_uses_an_id_again(self) -> None:
        given = conversation(
            user("hi"),
            assistant(call("call_0")),
            results(result("call_0", "A")),
            assistant(call("call_0"), id="a2"),
            results(result("call_0", "B")),
        )
        projected = project_for(ANTHROPIC, given)
        calls, answers = ids_of(ANTHROPIC, projected)
        assert calls == answers
        assert calls[0] == "call_0" != calls[1]
        assert projected.about("CALL_ID_MAPPED") == [(("q-call_0",), "")]

    def test_mistral_ids_are_nine_letters_and_digits(self) -> None:
        projected = one_round(
            CHAT, call("call_1"), call("abcDEF123"), options={"flags": ["mistral_call_ids"]}
        )
        calls, answers = ids_of(CHAT, projected)
        assert calls == answers
        assert calls[1] == "abcDEF123"
        assert re.fullmatch("[A-Za-z0-9]{9}", calls[0])

    def test_more_turns_never_change_a_made_id(self) -> None:
        before = conversation(user("hi"), assistant(call("a.b")), results(result("a.b", "A")))
        after = before._replace(
            turns=(*before.turns, assistant(call("c.d"), id="a2"), *results(result("c.d", "B")))
        )
        for flags in ([], ["unique_call_ids"]):
            first, _ = ids_of(ANTHROPIC, project_for(ANTHROPIC, before, options={"flags": flags}))
            more, _ = ids_of(ANTHROPIC, project_for(ANTHROPIC, after, options={"flags": flags}))
            assert more[:1] == first

    def test_ollama_has_none(self) -> None:
        projected = one_round(OLLAMA, call("call_1"), call("call_1"))
        assert "call_1" not in projected.text


class TestNames:
    @pytest.mark.parametrize("target", [ANTHROPIC, CHAT, RESPONSES])
    @pytest.mark.parametrize("name", ["fs.read", "wetter für", "x" * 65])
    def test_refused_names_are_changed_everywhere_alike(self, target: str, name: str) -> None:
        tool = f'{{"name":"{name}","parameters":{{"type":"object","properties":{{}}}}}}'
        projected = one_round(target, call(name=name), tools=[tool])
        made = projected.action_names[name]
        assert list(projected.action_names) == [name]
        assert re.fullmatch("[A-Za-z0-9_-]{1,64}", made)
        assert projected.text.count(f'"{made}"') == 2
        assert f'"{name}"' not in projected.text
        assert projected.about("NAME_MAPPED") == [
            ((), f"{name} is {made}"),
            (("q-call_1",), f"{name} is {made}"),
        ]

    @pytest.mark.parametrize("target", TARGETS)
    def test_legal_names_are_never_changed(self, target: str) -> None:
        projected = one_round(target, call(name="get_weather-2"))
        assert projected.action_names == {}
        assert '"get_weather-2"' in projected.text

    def test_gemini_takes_dots_and_no_digit_first(self) -> None:
        projected = one_round(GEMINI, call("c1", name="fs.read"), call("c2", name="2fast"))
        assert list(projected.action_names) == ["2fast"]
        made = projected.action_names["2fast"]
        assert made.startswith("_2fast_")
        assert projected.text.count(f'"{made}"') == 2

    def test_ollama_takes_any(self) -> None:
        assert one_round(OLLAMA, call(name="wetter für")).action_names == {}

    def test_names_that_would_sanitize_alike_stay_apart(self) -> None:
        names = one_round(
            CHAT, call("c1", name="a.b"), call("c2", name="a:b"), call("c3", name="a_b")
        ).action_names
        assert len({*names.values(), "a_b"}) == 3

    def test_a_made_name_that_is_taken_is_made_anew(self) -> None:
        made = one_round(CHAT, call(name="a.b")).action_names["a.b"]
        names = one_round(CHAT, call("c1", name="a.b"), call("c2", name=made)).action_names
        assert names["a.b"] != made
        assert list(names) == ["a.b"]


def arguments_in(target: str, projected: Projected) -> Any:
    """Return the arguments of the one call of a request: a text, or an object."""
    turn = projected.turns[1]
    if target == CHAT:
        return turn["tool_calls"][0]["function"]["arguments"]
    if target == OLLAMA:
        return turn["tool_calls"][0]["function"]["arguments"]
    if target == RESPONSES:
        return turn["arguments"]
    return turn["content"][0]["input"] if target == ANTHROPIC else turn["parts"][0]["functionCall"]["args"]


class TestArguments:
    @pytest.mark.parametrize("target", TARGETS)
    def test_are_the_text_as_it_was_written(self, target: str) -> None:
        given = '{"n":1, "id" : 9007199254740993,"f":1.50,"ü":"\\u00fc"}'
        projected = one_round(target, call(arguments=given))
        if target in (CHAT, RESPONSES):
            assert arguments_in(target, projected) == given
        else:
            assert given in projected.text
        assert projected.about("ARGUMENTS_WRAPPED") == []

    @pytest.mark.parametrize("target", TARGETS)
    @pytest.mark.parametrize("given", ["", " ", "null", '""', "[]", " [ ] "])
    def test_that_say_nothing_are_an_empty_object(self, target: str, given: str) -> None:
        projected = one_round(target, call(arguments_text=given))
        assert arguments_in(target, projected) == ("{}" if target in (CHAT, RESPONSES) else {})
        assert projected.about("ARGUMENTS_WRAPPED") == [(("q-call_1",), "they say nothing")]

    @pytest.mark.parametrize("target", TARGETS)
    @pytest.mark.parametrize(
        ("given", "wrapped", "detail"),
        [
            ('"a"', {"arguments": "a"}, "their value"),
            ("[1, 9007199254740993]", {"arguments": [1, 9007199254740993]}, "their value"),
            ("0", {"arguments": 0}, "their value"),
            ('{"a":', {"arguments": '{"a":'}, "their text"),
            ("NaN", {"arguments": "NaN"}, "their text"),
        ],
    )
    def test_that_are_no_object_are_passed_or_wrapped(
        self, target: str, given: str, wrapped: Any, detail: str
    ) -> None:
        projected = one_round(target, call(arguments_text=given))
        if target in (CHAT, RESPONSES):
            assert arguments_in(target, projected) == given
            assert projected.about("ARGUMENTS_WRAPPED") == []
        else:
            assert arguments_in(target, projected) == wrapped
            assert projected.about("ARGUMENTS_WRAPPED") == [(("q-call_1",), detail)]

    @pytest.mark.parametrize("target", [ANTHROPIC, GEMINI, OLLAMA])
    def test_that_were_read_as_an_object_are_that(self, target: str) -> None:
        projected = one_round(target, call(arguments='{"a":1}', arguments_text='{"a":1,}'))
        assert arguments_in(target, projected) == {"a": 1}
        assert projected.about("ARGUMENTS_WRAPPED") == [(("q-call_1",), "the object that was read from them")]

    def test_reasoning_goes_in_where_a_proxy_demands_it(self) -> None:
        signed = ThinkingPart("hm", "c2ln", "anthropic", None, "th")
        flags = {"flags": ["reasoning_in_tool_input"]}
        projected = one_round(ANTHROPIC, call(arguments='{"n": 1.0}'), options=flags)
        assert arguments_in(ANTHROPIC, projected) == {"n": 1}
        assert projected.about("PART_CONVERTED") == []
        given = conversation(
            user("hi"), assistant(signed, call(arguments='{"n": 1.0}')), results(result("call_1", "r"))
        )
        changed = project_for(ANTHROPIC, given, options=flags)
        assert '"input":{"n": 1.0,"reasoning_content":"hm"}' in changed.text
        detail = "reasoning put into the arguments, under reasoning_content"
        assert changed.about("PART_CONVERTED") == [(("q-call_1",), detail)]
        assert "reasoning_content" not in project_for(ANTHROPIC, given).text
        taken = conversation(
            user("hi"),
            assistant(signed, call(arguments='{"reasoning_content":1}')),
            results(result("call_1", "r")),
        )
        unchanged = project_for(ANTHROPIC, taken, options=flags)
        assert '"input":{"reasoning_content":1}' in unchanged.text
        assert unchanged.about("PART_CONVERTED") == []

    def test_reasoning_is_not_repeated_without_bound(self) -> None:
        long = ThinkingPart("m" * 2**20, "c2ln", "anthropic", None, "th")
        calls = [call(f"c{number}") for number in range(6)]
        answers = results(*[result(f"c{number}", "r") for number in range(6)])
        given = conversation(user("hi"), assistant(long, *calls), answers)
        projected = project_for(ANTHROPIC, given, options={"flags": ["reasoning_in_tool_input"]})
        assert projected.text.count('"reasoning_content"') == 4
        assert [ids for ids, _ in projected.about("THINKING_DROPPED")] == [("q-c4", "q-c5")]


class TestParallelCalls:
    def test_gemini_signs_the_first_only(self) -> None:
        signed = [call(f"c{number}", thought_signature="c2ln") for number in range(3)]
        projected = one_round(GEMINI, *signed)
        assert ["thoughtSignature" in part for part in projected.turns[1]["parts"]] == [True, False, False]
        assert projected.about("SIGNATURE_DROPPED") == [(("q-c1", "q-c2"), "not the first of parallel calls")]

    def test_gemini_invents_no_signature(self) -> None:
        projected = one_round(GEMINI, call("c0"), call("c1"))
        assert "thoughtSignature" not in projected.text

    def test_results_are_counted_and_ordered_by_the_target(self) -> None:
        calls = [call(f"c{number}", name=f"f{number}") for number in range(3)]
        assert [len(turn["content"]) for turn in one_round(ANTHROPIC, *calls).turns[2:]] == [3]
        contents = one_round(GEMINI, *calls).turns[2:]
        assert [part["functionResponse"]["id"] for part in contents[0]["parts"]] == ["c0", "c1", "c2"]
        assert len(contents) == 1
        assert [turn["tool_call_id"] for turn in one_round(CHAT, *calls).turns[2:]] == ["c0", "c1", "c2"]
        assert [turn["tool_name"] for turn in one_round(OLLAMA, *calls).turns[2:]] == ["f0", "f1", "f2"]
        assert [turn["call_id"] for turn in one_round(RESPONSES, *calls).turns[4:]] == ["c0", "c1", "c2"]

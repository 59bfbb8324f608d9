"""Histories and schemas at which a step of the compiler would look at everything again, at n and at 4n.

Steps are counted, and items that are handed out; no clock is read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from antiphon.compiler.v1.compiler_service_pb2 import (
    CompileRequest,
    PlanCompactionRequest,
    PlanWindowRequest,
)
from antiphon.message.v1.message_pb2 import Message
from compiler_service.compilation import CompileSource, compile_turn
from compiler_service.native.call_ids import call_ids
from compiler_service.native.items import Call
from compiler_service.native.reasoning import with_one_reasoning
from compiler_service.native.turns import ThinkingPart
from compiler_service.projection import plain_schema, project, strict_schema
from compiler_service.projection.capabilities import TABLE
from compiler_service.projection.plain_schema import plain_form
from compiler_service.projection.strict_schema import strict_form
from compiler_service.remarks import Remarks
from compiler_service.tokens import ESTIMATE_ONLY
from compiler_service.windows import plan_compaction, plan_window
from tests.support import projection
from tests.support.counting import CountedDict, CountedList, CountedText, growth, steps_of
from tests.support.native import assistant, call, native_request, result, signed, user

LINEAR = 4.2
"""How many times the steps four times the size may take."""

Work = Callable[[], object]
ESTIMATE = ESTIMATE_ONLY.get("estimate")


def source_of(messages: Sequence[Message]) -> CompileSource:
    return CompileSource(system=None, messages=messages, revision=0, incarnation="")


def compiling(messages: Sequence[Message]) -> Work:
    request = CompileRequest(profile=native_request(()).profile)
    request.instruction.instruction.instruction = "x"
    return lambda: compile_turn(request, source_of(messages))


def projecting(target: str, *turns: Any, **fields: Any) -> Work:
    conversation, request = projection.conversation(*turns), projection.request(target, **fields)
    return lambda: project(conversation, request)


def test_an_id_that_every_round_uses_again() -> None:
    """Anthropic wants ids unique in the request: each round's is made anew."""

    def rounds(count: int) -> Work:
        turns = [
            turn
            for _ in range(count)
            for turn in (
                projection.assistant(projection.call("c")),
                *projection.results(projection.result("c", "x")),
            )
        ]
        return projecting("anthropic.messages", projection.user("q"), *turns)

    assert growth(rounds, 40) < LINEAR


def test_an_id_that_every_call_of_a_round_has() -> None:
    def hashes(count: int) -> int:
        requests = [
            SimpleNamespace(id=f"m{n}", action_request=SimpleNamespace(provider_call_id=CountedText("c")))
            for n in range(count)
        ]
        calls = [Call(number, request, ()) for number, request in enumerate(requests)]  # type: ignore[arg-type]
        CountedText.hashed = 0
        assert call_ids(calls, Remarks()) == ["c", *[f"m{number}" for number in range(1, count)]]
        return CountedText.hashed

    assert hashes(400) < LINEAR * hashes(100)


def test_signed_responses_in_a_row() -> None:
    def responses(count: int) -> Work:
        return compiling([user(1, "q"), *[assistant(n, "t", signed(f"s{n}")) for n in range(2, count)]])

    assert growth(responses, 60) < LINEAR


def test_unsigned_reasoning_in_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []
    replace = ThinkingPart._replace

    def counting(part: ThinkingPart, **fields: Any) -> ThinkingPart:
        written.append(len(fields["thinking"]))
        return replace(part, **fields)

    monkeypatch.setattr(ThinkingPart, "_replace", counting)
    parts = [ThinkingPart("why", None, None, None, "a") for _ in range(100)]
    (merged,) = with_one_reasoning(parts)
    assert merged == ThinkingPart("\n\n".join(["why"] * 100), None, None, None, "a")
    assert sum(written) == 3 * 100 + 2 * 99


def test_reasoning_put_into_the_input_of_many_calls() -> None:
    def calls(count: int) -> Work:
        given = [projection.call(f"c{number}") for number in range(count)]
        reasoning = ThinkingPart("why", "s", "anthropic", None, "a")
        answers = projection.results(*[projection.result(each.id, "x") for each in given])
        return projecting(
            "anthropic.messages",
            projection.user("q"),
            projection.assistant(reasoning, *given),
            answers,
            options={"flags": ["reasoning_in_tool_input"]},
        )

    assert growth(calls, 60) < LINEAR


def users_then_rounds(count: int) -> list[Message]:
    """Return one turn of many users' records that a model answers in many rounds."""
    rounds = [
        message
        for n in range(count, 4 * count, 3)
        for message in (assistant(n, "a"), call(n + 1, f"c{n}"), result(n + 2, n + 1))
    ]
    return [*[user(n, "q") for n in range(1, count)], *rounds]


@pytest.mark.parametrize("pins", [1, 0], ids=["the turn pinned", "a round pinned"])
@pytest.mark.parametrize("plan", ["window", "compaction", "compaction with an open call"])
def test_plans_of_a_long_turn_in_many_rounds(plan: str, pins: int) -> None:
    def planning(count: int) -> Work:
        messages = users_then_rounds(count)
        if plan == "compaction with an open call":
            messages[count + 1].action_request.action_response_id = ""
            del messages[count + 1]
        pinned = [messages[0].id if pins else messages[-1].id]
        source = source_of(messages)
        if plan == "window":
            # With the turn pinned all its rounds are.
            budget = 10**9 if pins else 25 * count
            request = PlanWindowRequest(budget_tokens=budget, pinned_message_ids=pinned)
            return lambda: plan_window(request, source, ESTIMATE)
        compacting = PlanCompactionRequest(keep_messages=7 * count // 2, pinned_message_ids=pinned)
        return lambda: plan_compaction(compacting, source, ESTIMATE)

    assert growth(planning, 50) < LINEAR


@pytest.mark.parametrize("keyword", ["allOf", "anyOf"])
def test_properties_of_an_alternative(keyword: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_schema, "dict", CountedDict, raising=False)

    def copied(count: int) -> int:
        properties = {f"p{number}": {"type": "string"} for number in range(count)}
        text = json.dumps(
            {keyword: [{"type": "object", "properties": properties, "required": list(properties)}]}
        )
        CountedDict.copied = 0
        form = json.loads(plain_form(text, TABLE.plain_schemas["anthropic"]).text)
        assert form == {"type": "object", "properties": properties, "required": list(properties)}
        return CountedDict.copied

    assert copied(400) <= LINEAR * copied(100)


def test_requirements_of_the_strict_form(monkeypatch: pytest.MonkeyPatch) -> None:
    def parsed(text: str) -> Any:
        schema = json.loads(text)
        return {**schema, "required": CountedList(schema["required"])}

    monkeypatch.setattr(strict_schema, "parse_checked", parsed)

    def looked_through(count: int) -> int:
        properties = {f"p{number}": {"type": "string"} for number in range(count)}
        schema = {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
        CountedList.seen = 0
        assert strict_form(json.dumps(schema), TABLE.strict_schemas["openai"]).text is not None
        return CountedList.seen

    assert looked_through(400) <= LINEAR * looked_through(100)


def test_spellings_of_one_reference() -> None:
    """A name of eight letters has 256 spellings, each of them percent-encoded or not."""
    named = {"type": "object", "properties": {f"k{number}": {"type": "string"} for number in range(500)}}

    def spelled(number: int) -> str:
        letters = enumerate("abcdefgh")
        return "".join([f"%{ord(letter):02x}" if number >> bit & 1 else letter for bit, letter in letters])

    def steps(count: int) -> int:
        references = {f"r{number}": {"$ref": f"#/$defs/{spelled(number)}"} for number in range(count)}
        text = json.dumps({"type": "object", "properties": references, "$defs": {"abcdefgh": named}})
        return steps_of(lambda: strict_form(text, TABLE.strict_schemas["anthropic"]))

    assert steps(80) < 2 * steps(20)

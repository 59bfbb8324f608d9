"""Real conversations imported, compiled NATIVE and projected: nothing is lost on any way."""

from __future__ import annotations

import copy
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from antiphon_client.json_text import dump_json_text
from tests.support.imported import (
    ANTHROPIC,
    GEMINI,
    OPENAI,
    body_of,
    compile_imported,
    import_request,
    note_kinds,
    sorted_keys,
)
from tests.support.native import turns_of
from tests.support.projection import TARGETS
from tests.support.projection_rules import check_rules
from tests.support.provider_types import check_request
from tests.support.statements import Statement, statements

MODEL = {"model": "m"}
ASKED = "And now?"


def needed(target: str, body: dict[str, Any]) -> set[str]:
    """Return the kinds of notes on what a target needs beyond a conversation: Anthropic alone needs any.

    It wants a limit of tokens, and ids that are unique in the whole request.
    """
    if target != ANTHROPIC:
        return set()
    ids = call_ids(body)
    return {"DEFAULT_APPLIED"} | ({"CALL_ID_MAPPED"} if len(set(ids)) < len(ids) else set())


def call_ids(body: dict[str, Any]) -> list[str]:
    """Return the ids of a conversation's calls, in order."""
    return [call["id"] for message in body["messages"] for call in message.get("tool_calls") or ()]


def asked_after(body: dict[str, Any]) -> str | None:
    """Return what is asked after a conversation: where a model has spoken last, something must be."""
    return ASKED if body["messages"][-1]["role"] == "assistant" else None


def said_in(body: dict[str, Any]) -> list[Statement]:
    """Return a conversation's statements, and what is asked after it."""
    asked = asked_after(body)
    return statements(OPENAI, body) + ([] if asked is None else [("user", asked)])


def compact(body: dict[str, Any]) -> dict[str, Any]:
    """Return a conversation with its calls' arguments as an import of parsed JSON spells them."""
    again: dict[str, Any] = copy.deepcopy(body)
    for message in again["messages"]:
        for call in message.get("tool_calls") or ():
            arguments = json.loads(call["function"]["arguments"])
            call["function"]["arguments"] = dump_json_text(arguments)
    return again


def by_place(turns: list[list[Any]]) -> list[list[Any]]:
    """Return turns with the number of the call in the place of its id, on the call and on its result."""
    numbers: dict[str, int] = {}
    calls = itertools.count()

    def renamed(part: Any) -> Any:
        if isinstance(part, dict):
            return {numbers[call_id]: content for call_id, content in part.items()}
        if not part.startswith("call:"):
            return part
        call_id, said = part.removeprefix("call:").split(" ", 1)
        numbers[call_id] = next(calls)
        return f"call:{numbers[call_id]} {said}"

    return [[role, *map(renamed, parts)] for role, *parts in turns]


@pytest.fixture(scope="module")
def conversations(shared_data: Path) -> list[dict[str, Any]]:
    """The conversations as bodies of requests to OpenAI."""
    lines = (shared_data / "tau-airline" / "transcripts.jsonl").read_text("utf-8").splitlines()
    bodies = [{"messages": json.loads(line)["messages"]} for line in lines]
    assert (len(bodies), sum(len(body["messages"]) for body in bodies)) == (50, 1306)
    return bodies


def test_each_comes_back_equal_from_openai(conversations: list[dict[str, Any]]) -> None:
    for body in conversations:
        response = compile_imported(import_request(OPENAI, body), OPENAI, instruction=asked_after(body))
        asked = [] if asked_after(body) is None else [{"role": "user", "content": ASKED}]
        assert sorted_keys(body_of(response)["messages"]) == sorted_keys([*body["messages"], *asked])
        assert response.report == []


@pytest.mark.parametrize("target", TARGETS)
def test_each_says_the_same_to_every_provider(conversations: list[dict[str, Any]], target: str) -> None:
    for body in conversations:
        response = compile_imported(
            import_request(OPENAI, body), target, instruction=asked_after(body), options=MODEL
        )
        sent = body_of(response)
        assert statements(target, sent) == said_in(body)
        assert set(note_kinds(response)) == needed(target, body)
        steps = [kind for kind, _, _ in check_rules(target, sent)]
        assert steps.count("call") == steps.count("result")
        if target != OPENAI:
            # OpenAI's own types do not know the name that these tools' results bear.
            check_request(target, response.provider_request_json)


@pytest.mark.parametrize("other", TARGETS)
@pytest.mark.parametrize("source", [ANTHROPIC, GEMINI])
def test_each_as_another_providers_says_the_same_to_every_provider(
    conversations: list[dict[str, Any]], source: str, other: str
) -> None:
    # A third of them, to be quick.
    for body in conversations[::3]:
        first = compile_imported(
            import_request(OPENAI, body), source, instruction=asked_after(body), options=MODEL
        )
        given = body_of(first)
        imported = import_request(source, given)
        assert imported.notes == ()
        response = compile_imported(imported, other, options=MODEL)
        sent = body_of(response)
        if other == source:
            assert sorted_keys(sent) == sorted_keys(given)
        assert statements(other, sent) == said_in(body)
        # What comes from Anthropic has its ids made unique already.
        unique = {"CALL_ID_MAPPED"} if source == ANTHROPIC else set()
        assert set(note_kinds(response)) == needed(other, body) - unique
        check_request(other, response.provider_request_json)


@pytest.mark.parametrize("source", [ANTHROPIC, GEMINI, OPENAI])
def test_the_turns_are_the_same_through_every_format(
    conversations: list[dict[str, Any]], source: str
) -> None:
    for body in map(compact, conversations):
        first = compile_imported(import_request(OPENAI, body), source, instruction=asked_after(body))
        again = compile_imported(import_request(source, body_of(first)), source)
        # Anthropic has an id once in a request, so calls go by their place.
        assert by_place(turns_of(again)) == by_place(turns_of(first))
        assert again.system_text == first.system_text

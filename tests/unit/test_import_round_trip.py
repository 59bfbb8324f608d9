"""A conversation in a provider's format, imported, stored, compiled NATIVE and projected, comes back."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given

from tests.support.import_strategies import anthropic_bodies, gemini_bodies
from tests.support.imported import (
    ANTHROPIC,
    GEMINI,
    body_of,
    compile_imported,
    import_request,
    note_kinds,
    sorted_keys,
)
from tests.support.projection import TARGETS
from tests.support.projection_rules import check_rules
from tests.support.provider_types import check_request
from tests.support.recorded_conversations import ANTHROPIC_BODIES, GEMINI_BODIES

BODIES = [
    pytest.param(target, body, id=f"{target}: {name}")
    for target, bodies in ((ANTHROPIC, ANTHROPIC_BODIES), (GEMINI, GEMINI_BODIES))
    for name, body in bodies.items()
]
MODEL: dict[str, dict[str, Any]] = {ANTHROPIC: {"model": "m"}, GEMINI: {}}
KWARGS: dict[str, dict[str, Any]] = {
    ANTHROPIC: {"max_tokens": 100, "stop_sequences": ["."]},
    GEMINI: {"generationConfig": {"topK": 3}},
}


@pytest.mark.parametrize(("target", "body"), BODIES)
def test_a_recorded_request_comes_back(target: str, body: dict[str, Any]) -> None:
    given = copy.deepcopy(body)
    response = compile_imported(
        import_request(target, given), target, kwargs=KWARGS[target], options={"model": "m"}
    )
    assert given == body
    assert sorted_keys(body_of(response)) == sorted_keys({**body, **KWARGS[target], **MODEL[target]})
    assert note_kinds(response) == []
    check_request(target, response.provider_request_json)


@pytest.mark.parametrize("other", TARGETS)
@pytest.mark.parametrize(("target", "body"), BODIES)
def test_a_recorded_request_goes_to_any_provider(target: str, body: dict[str, Any], other: str) -> None:
    if other == target:
        return
    response = compile_imported(
        import_request(target, body), other, instruction="Go on.", options={"model": "m"}
    )
    check_request(other, response.provider_request_json)
    steps = [kind for kind, _, _ in check_rules(other, body_of(response))]
    calls = str(body).count("'tool_use',") + str(body).count("'functionCall':")
    assert steps.count("call") == steps.count("result") == calls


def assert_comes_back(target: str, body: dict[str, Any]) -> None:
    response = compile_imported(import_request(target, body), target, kwargs=KWARGS[target])
    # What a note explains may differ.
    if not response.report:
        assert sorted_keys(body_of(response)) == sorted_keys({**body, **KWARGS[target]})


@given(anthropic_bodies())
def test_whatever_is_sent_to_anthropic_comes_back(body: dict[str, Any]) -> None:
    assert_comes_back(ANTHROPIC, body)


@given(gemini_bodies())
def test_whatever_is_sent_to_gemini_comes_back(body: dict[str, Any]) -> None:
    assert_comes_back(GEMINI, body)

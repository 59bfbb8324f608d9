"""The shared scenarios on the real pair, and that they cover the contract."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.polyglot.calls import REGISTRIES, SERVICES, Pair
from tests.polyglot.running import run
from tests.polyglot.scenario import FOLDER, Scenario, load_all, load_volatile
from tests.support.history import CLEAR_STORES, store_url
from tests.support.pair import served_pair

ROOT = Path(__file__).resolve().parents[2]
UNREACHABLE = json.loads((Path(__file__).with_name("unreachable_reasons.json")).read_bytes())
SCENARIOS = load_all(FOLDER)
VOLATILE = load_volatile(FOLDER)

TOPICS = frozenset(
    {
        "actions", "big integers", "branch files", "branches", "client streams", "compaction", "compiling",
        "conditional writes", "dead letters", "deadlines", "digests", "errors", "exchange", "forks",
        "JSON text", "large messages", "leases", "messages", "metadata", "odd Unicode", "paging",
        "presence and defaults", "raw bytes", "request ids", "responses", "retries", "revisions", "snapshots",
        "streams", "system records", "targets", "unknown enum values", "unknown fields", "views", "watches",
        "windows",
    }
)  # fmt: skip
"""What the scenarios are about; each is the topic of one at least."""


TRANSCRIPTS: dict[str, str] = {}
"""Every scenario's transcript on whichever pair it ran first: all stores and transports answer alike."""


@pytest.fixture(scope="module", params=["unix", "loopback"])
def transport(request: pytest.FixtureRequest) -> str:
    """Each way to the pair in turn."""
    name: str = request.param
    return name


@pytest.fixture(scope="module", params=CLEAR_STORES)
def pair(
    request: pytest.FixtureRequest, transport: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pair]:
    """A running pair over each store in turn; the conformance suite has the encrypted ones."""
    folder = tmp_path_factory.mktemp("pair")
    with (
        served_pair(folder, store_url(request.param, folder), loopback=transport == "loopback") as addresses,
        Pair(addresses.history, addresses.compiler) as channels,
    ):
        yield channels


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_scenario_passes_and_answers_alike_everywhere(pair: Pair, scenario: Scenario) -> None:
    outcome = run(scenario, pair, VOLATILE)

    assert outcome.fault is None
    digest = outcome.transcript.digest()
    assert TRANSCRIPTS.setdefault(scenario.name, digest) == digest


def calls() -> Iterator[dict[str, Any]]:
    """Every step that calls or opens."""
    return (dict(step) for scenario in SCENARIOS for step in scenario.steps if "call" in step)


def expected_errors() -> set[tuple[str, str]]:
    """Domain and reason of every error that a scenario expects."""
    errors = [
        step["expect"]["error"]
        for scenario in SCENARIOS
        for step in scenario.steps
        if "error" in step.get("expect", {})
    ]
    return {(error["domain"], error["reason"]) for error in errors if "reason" in error}


def test_there_are_at_least_sixty() -> None:
    assert len(SCENARIOS) >= 60


def test_every_method_is_called() -> None:
    methods = {f"{name}/{method.name}" for name, service in SERVICES.items() for method in service.methods}

    assert {step["call"] for step in calls()} == methods


def test_every_method_answers_well_at_least_once() -> None:
    well = {
        step["call"]
        for step in calls()
        if "error" not in step.get("expect", {}) or "replies" in step["expect"]
    }

    assert well == {step["call"] for step in calls()}


def test_every_reason_is_expected_or_unreachable_for_a_cause() -> None:
    reasons = {
        (domain, name.removeprefix("ERROR_REASON_"))
        for domain, registry in REGISTRIES.items()
        for name, number in registry.items()
        if number != 0
    }
    unreachable = {(entry["domain"], entry["reason"]) for entry in UNREACHABLE}

    assert expected_errors() | unreachable == reasons
    assert not expected_errors() & unreachable


@pytest.mark.parametrize("entry", UNREACHABLE, ids=lambda entry: f"{entry['domain']}-{entry['reason']}")
def test_an_unreachable_reason_has_its_cause_and_a_test_elsewhere(entry: dict[str, str]) -> None:
    text = (ROOT / entry["tested_by"]).read_text()
    class_name = "".join(word.title() for word in entry["reason"].split("_")).removesuffix("Error") + "Error"

    assert entry["why"].endswith(".")
    assert re.search(rf"\b({entry['reason']}|{class_name})\b", text)


def test_every_scenario_is_named_explained_and_of_known_topics() -> None:
    for scenario in SCENARIOS:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", scenario.name), scenario.name
        assert scenario.about.endswith("."), scenario.name
        assert len(scenario.about) > 30, scenario.name
        assert scenario.steps, scenario.name
    assert {topic for scenario in SCENARIOS for topic in scenario.topics} == TOPICS
    assert len({scenario.about for scenario in SCENARIOS}) == len(SCENARIOS)


def test_every_answer_is_expected_to_be_something() -> None:
    bare = [
        f"{scenario.name}, step {number}"
        for scenario in SCENARIOS
        for number, step in enumerate(scenario.steps)
        if ("call" in step and "open" not in step) or "read" in step
        if not step.get("expect")
    ]
    assert not bare


def test_every_projection_target_has_its_request_digest_fixed() -> None:
    fixed = {
        step["request"]["target"]
        for step in calls()
        if step["call"].endswith("/Compile") and "requestDigest" in step.get("expect", {}).get("reply", {})
        if isinstance(step["expect"]["reply"]["requestDigest"], str)
    }
    assert fixed == {
        "anthropic.messages",
        "gemini.generate_content",
        "ollama.chat",
        "openai.chat",
        "openai.responses",
    }

"""The scenario runner: its parts by the vectors all languages share, and that wrong answers do not pass."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format

from antiphon.compiler.v1.compiler_service_pb2 import CompileResponse, StreamCompileResponse
from antiphon.history.v1.history_service_pb2 import (
    ReadSnapshotResponse,
    SnapshotBatch,
    SnapshotFooter,
    SnapshotFrames,
)
from tests.polyglot import runner
from tests.polyglot.calls import Pair
from tests.polyglot.digests import check_compiled, check_snapshot, check_stream, messages_digest
from tests.polyglot.faults import MismatchError, ScenarioError
from tests.polyglot.matching import match
from tests.polyglot.pointers import resolve
from tests.polyglot.running import run
from tests.polyglot.scenario import FOLDER, Scenario, load, load_all, load_volatile
from tests.polyglot.transcript import Transcript
from tests.polyglot.values import Variables
from tests.support.pair import served_pair

HISTORY = "antiphon.history.v1.HistoryService/"
BRANCH = "0d0d0d0d-0000-4000-8000-000000000001"


def vectors(name: str) -> list[Any]:
    """Read a file of vectors; each case is a test of its own."""
    cases = json.loads((FOLDER / "vectors" / f"{name}.json").read_bytes())
    return [pytest.param(case, id=case["about"]) for case in cases]


@pytest.mark.parametrize("case", vectors("values"))
def test_a_value_is_made(case: dict[str, Any]) -> None:
    variables = Variables(case["variables"])
    expected = case.get("expected", False)

    if case.get("fails"):
        with pytest.raises(ScenarioError):
            variables.expand(case["value"], expected=expected)
    else:
        assert variables.expand(case["value"], expected=expected) == case["made"]


@pytest.mark.parametrize("case", vectors("matching"))
def test_an_answer_matches_or_not(case: dict[str, Any]) -> None:
    if case["matches"]:
        match(case["expected"], case["actual"])
    else:
        with pytest.raises(MismatchError) as caught:
            match(case["expected"], case["actual"])
        assert caught.value.pointer == case["pointer"]


@pytest.mark.parametrize("case", vectors("transcripts"))
def test_answers_become_lines(case: dict[str, Any]) -> None:
    transcript = Transcript(frozenset(case["volatile"]))
    for answer in case["answers"]:
        transcript.add(answer["step"], answer["reply"], answer["value"])

    assert transcript.lines == [f"{line}\n" for line in case["lines"]]
    assert transcript.digest() == case["digest"]


@pytest.mark.parametrize("case", vectors("digests"))
def test_compiled_messages_have_a_digest(case: dict[str, Any]) -> None:
    response = json_format.ParseDict(case["response"], CompileResponse())
    system = response.system_text if response.HasField("system_text") else None

    assert messages_digest(response.messages, system) == case["digest"]


def test_every_new_variable_is_another_uuid() -> None:
    variables = Variables()
    made = variables.expand({"$list": [3, "${new:id}"]})

    assert len({*made}) == 3
    assert variables.text("${id}") == made[2]


def test_only_texts_numbers_and_booleans_are_kept() -> None:
    variables = Variables()
    variables.keep("flag", True)
    variables.keep("number", 5)

    assert variables.text("${flag} ${number}") == "true 5"
    with pytest.raises(ScenarioError):
        variables.keep("object", {})


def test_a_pointer_leads_to_a_value_or_fails() -> None:
    assert resolve({"a/b": [{"~": 1}]}, "/a~1b/0/~0") == 1
    for pointer in ("/x", "/a~1b/1", "/a~1b/x", "/a~1b/0/~0/deeper"):
        with pytest.raises(ScenarioError):
            resolve({"a/b": [{"~": 1}]}, pointer)


def test_a_false_digest_of_a_compilation_is_noticed() -> None:
    good = CompileResponse(messages_digest=messages_digest([], None))
    assert check_compiled(good) == 1
    for wrong in (
        CompileResponse(messages_digest="0" * 64),
        CompileResponse(
            messages_digest=good.messages_digest, provider_request_json="{}", request_digest="0" * 64
        ),
        CompileResponse(messages_digest=good.messages_digest, system_text=""),
    ):
        with pytest.raises(MismatchError):
            check_compiled(wrong)


def frames(*told: dict[str, Any]) -> list[StreamCompileResponse]:
    return [json_format.ParseDict(frame, StreamCompileResponse()) for frame in told]


def test_a_streamed_compilation_is_put_together() -> None:
    whole = json_format.ParseDict(
        {
            "messages": [
                {"role": "ROLE_USER", "text": "ab"},
                {"role": "ROLE_ASSISTANT", "text": ""},
                {
                    "role": "ROLE_USER",
                    "parts": {"parts": [{"text": {"text": "cd"}}, {"imageUrl": {"url": "https://e.com/"}}]},
                },
            ]
        },
        CompileResponse(),
    )
    result = {"messageCount": "3", "last": True, "messagesDigest": messages_digest(whole.messages, "s")}
    stream: list[dict[str, Any]] = [
        {"messageStart": {"role": "ROLE_USER"}},
        {"textChunk": {"text": "a"}},
        {"textChunk": {"text": "b"}},
        {"messageStart": {"index": "1", "role": "ROLE_ASSISTANT"}},
        {"messageStart": {"index": "2", "role": "ROLE_USER"}},
        {"partChunk": {"text": "c"}},
        {"partChunk": {"text": "d"}},
        {"partChunk": {"partIndex": "1", "imageUrl": {"url": "https://"}}},
        {"partChunk": {"partIndex": "1", "imageUrl": {"url": "e.com/"}}},
        {"result": {"systemText": "s"}},
    ]

    assert check_stream(frames(*stream, {"result": result})) == 1
    for wrong in (
        {**result, "messageCount": "2"},
        {**result, "last": False},
        {**result, "messagesDigest": "0" * 64},
    ):
        with pytest.raises(MismatchError):
            check_stream(frames(*stream, {"result": wrong}))
    with pytest.raises(MismatchError):
        check_stream(frames(*stream[:1], *stream[2:], {"result": result}))


def test_a_snapshot_of_other_bytes_is_noticed() -> None:
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    footer = ReadSnapshotResponse(footer=SnapshotFooter(sha256=bytes.fromhex(empty)))
    assert check_snapshot([footer]) == 1
    assert check_snapshot([ReadSnapshotResponse(joined=SnapshotFrames(footer=footer.footer))]) == 1
    for wrong in (
        [],
        [ReadSnapshotResponse(batch=SnapshotBatch(messages=[b"x"])), footer],
        [ReadSnapshotResponse(batch=SnapshotBatch(messages=[b""])), footer],
        [ReadSnapshotResponse(footer=SnapshotFooter(sha256=bytes(32)))],
        [ReadSnapshotResponse(joined=SnapshotFrames(batches=[SnapshotBatch(messages=[b"x"])])), footer],
        [ReadSnapshotResponse(joined=SnapshotFrames())],
        [ReadSnapshotResponse(joined=SnapshotFrames(footer=SnapshotFooter(sha256=bytes(32))))],
    ):
        with pytest.raises(MismatchError):
            check_snapshot(wrong)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """A running pair."""
    with (
        served_pair(tmp_path_factory.mktemp("pair")) as addresses,
        Pair(addresses.history, addresses.compiler) as channels,
    ):
        yield channels


def fault_of(pair: Pair, *steps: dict[str, Any]) -> str | None:
    """Run steps after one that makes a branch; return what went wrong."""
    create = {
        "call": HISTORY + "CreateBranch",
        "request": {"branchId": "${new:branch}"},
        "expect": {"reply": {}},
    }
    scenario = Scenario("steps", "Steps of a test.", (), (create, *steps))
    return run(scenario, pair, load_volatile(FOLDER)).fault


def get(**step: Any) -> dict[str, Any]:
    """Return a step that reads the branch."""
    return {"call": HISTORY + "GetBranch", "request": {"branchId": "${branch}"}, **step}


def missing(error: dict[str, Any]) -> dict[str, Any]:
    """Return a step that reads a branch that is not there, and what is expected of the error."""
    return {"call": HISTORY + "GetBranch", "request": {"branchId": BRANCH}, "expect": {"error": error}}


NOT_FOUND = {"code": "NOT_FOUND", "reason": "BRANCH_NOT_FOUND", "domain": "antiphon.history"}
INVALID = {"call": HISTORY + "GetBranch", "request": {"branchId": "x"}}
EXPORT = {"call": HISTORY + "ExportBranch", "request": {"branchId": "${branch}"}}


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (get(expect={"reply": {"branch": {"revision": "2"}}}), "/branch/revision"),
        (get(expect={"reply": {"branch": {"externalKey": "x"}}}), "/branch/externalKey"),
        (get(expect={"reply": {"branch": {"createdAt": {"$absent": True}}}}), "/branch/createdAt"),
        (get(expect={"error": NOT_FOUND}), "no error"),
        (get(expect={"count": 2}), "2 replies"),
        (get(expect={"answer": {}}), "an expectation has no answer"),
        (get(expects={}), "a step has no expects"),
        (get(save={"x": "/nothing"}), "nothing at /nothing"),
        (get(save={"x": "/branch"}), "only a text"),
        (missing({**NOT_FOUND, "code": "ABORTED"}), "/error/code"),
        (missing({**NOT_FOUND, "reason": "BRANCH_DELETED"}), "/error/reason"),
        (missing({**NOT_FOUND, "domain": "antiphon.compiler"}), "/error/domain"),
        (missing({**NOT_FOUND, "metadata": {"x": "1"}}), "/error/metadata/x"),
        (missing({**NOT_FOUND, "fields": ["branch_id"]}), "/error/fields"),
        (
            missing({**NOT_FOUND, "details": {"google.rpc.RetryInfo": {}}}),
            "/error/details/google.rpc.RetryInfo",
        ),
        (missing({**NOT_FOUND, "retry": True}), "/error/retry"),
        (missing({**NOT_FOUND, "why": "x"}), "an error has no why"),
        ({**INVALID, "expect": {"reply": {}}}, "no error"),
        (INVALID, "no error"),
        ({**INVALID, "expect": {"error": {"fields": ["branch"]}}}, "/error/fields/0"),
        ({**EXPORT, "expect": {"replies": []}}, "0 members"),
        ({**EXPORT, "expect": {"count": 3}}, "3 replies"),
        ({**EXPORT, "take": 5}, "5 replies"),
        ({**EXPORT, "expect": {"error": NOT_FOUND}}, "no error"),
        ({"call": HISTORY + "Nothing", "request": {}}, "no method"),
        ({"call": HISTORY + "GetBranch", "request": {"branch": 1}}, "GetBranchRequest"),
        ({"call": HISTORY + "GetBranch", "request": {"branchId": "${who}"}}, "who has no value"),
        ({"read": "w"}, "no stream w"),
        ({"cancel": "w"}, "no stream w"),
    ],
    ids=str,
)
def test_a_wrong_expectation_fails_the_scenario(pair: Pair, step: dict[str, Any], told: str) -> None:
    fault = fault_of(pair, step)

    assert fault is not None
    assert fault.startswith("step 1, ")
    assert told in fault


def test_what_is_expected_rightly_passes(pair: Pair) -> None:
    steps = [
        get(
            expect={"reply": {"branch": {"revision": "1"}}, "count": 1}, save={"lineage": "/branch/lineageId"}
        ),
        get(request={"branchId": "${lineage}"}),
        missing(NOT_FOUND),
        {**EXPORT, "take": 1},
        {"open": "w", "call": HISTORY + "WatchBranch", "request": {"branchId": "${branch}"}},
        {"read": "w", "count": 2, "expect": {"count": 2}},
        {"cancel": "w"},
    ]
    assert fault_of(pair, *steps) is None


def test_the_rest_of_a_scenario_is_not_run_after_a_fault(pair: Pair) -> None:
    scenario = Scenario("two", "Two steps.", (), ({**INVALID}, {**INVALID}))
    outcome = run(scenario, pair, frozenset())

    assert {line.split("\t")[0] for line in outcome.transcript.lines} == {"0"}


def write_scenario(folder: Path, name: str, told: dict[str, Any]) -> None:
    told = {"name": name, "about": "A test.", "topics": [], "steps": [], **told}
    (folder / f"{name}.json").write_text(json.dumps(told))


@pytest.mark.parametrize("told", [{"name": "other"}, {"more": 1}])
def test_a_file_that_is_no_scenario_is_refused(tmp_path: Path, told: dict[str, Any]) -> None:
    write_scenario(tmp_path, "one", told)
    with pytest.raises(ScenarioError):
        load_all(tmp_path)


def test_a_member_given_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "twice.json"
    path.write_text('{"name": "twice", "name": "twice", "about": "A test.", "topics": [], "steps": []}')
    with pytest.raises(ScenarioError):
        load(path)


def test_the_runner_writes_a_line_for_each_and_the_transcripts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenarios = tmp_path / "scenarios"
    scenarios.mkdir()
    (scenarios / "volatile.json").write_text("[]")
    good = {"call": HISTORY + "GetBranch", "request": {"branchId": BRANCH}, "expect": {"error": NOT_FOUND}}
    write_scenario(scenarios, "a_good", {"steps": [good]})
    write_scenario(scenarios, "b_bad", {"steps": [{**good, "expect": {"reply": {}}}]})

    with served_pair(tmp_path) as addresses:
        given = [
            "--history",
            addresses.history,
            "--compiler",
            addresses.compiler,
            "--scenarios",
            str(scenarios),
        ]
        assert runner.main([*given, "--transcripts", str(tmp_path / "t")]) == 1
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert runner.main([*given, "--only", "a_good"]) == 0

    assert [(line["scenario"], line["ok"], line["steps"]) for line in lines] == [
        ("a_good", True, 1),
        ("b_bad", False, 1),
    ]
    assert "no error" in lines[1]["message"]
    assert lines[0]["transcript"] == lines[1]["transcript"]
    assert (tmp_path / "t" / "a_good.txt").read_text().startswith("0\terror\t/code\ts\tNOT_FOUND\n")


def test_the_runner_refuses_a_scenario_that_is_not_there() -> None:
    assert runner.main(["--history", "127.0.0.1:1", "--compiler", "127.0.0.1:1", "--only", "nothing"]) == 2
    with pytest.raises(SystemExit) as caught:
        runner.main([])
    assert caught.value.code == 2

"""The documents that say which test shows what name only tests that exist, for every line there is."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest

from tests.support.payloads import SCENES

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ("adr-0006-coverage.md", "adr-0007-coverage.md", "scenario-coverage.md")

LINES = {
    "adr-0006-coverage.md": {"P": 7, "D1.": 16, "D2.": 20, "D3.": 18, "D4.": 8, "D5.": 13, "D6.": 5},
    "adr-0007-coverage.md": {"P": 6, "D1.": 11, "D2.": 32, "D3.": 7, "D4.": 6, "D5.": 5, "D6.": 7, "C": 4},
}
"""Lines of each part of the decision records."""

SCENARIOS = 36
"""How many field scenarios there are."""

VECTORS = ROOT / "tests" / "golden" / "vectors" / "compile_handwritten.jsonl"
HANDWRITTEN = "tests/golden/test_compile.py::test_handwritten"
PAYLOADS = (
    "tests/e2e/test_sdk_payloads.py::test_every_way_sends_the_same",
    "tests/e2e/test_sdk_payloads.py::test_what_may_be_recorded_holds_nothing_of_the_call",
)


def rows(document: str) -> list[list[str]]:
    """Return the cells of a document's table rows, headings and rules left out."""
    found = []
    for line in (ROOT / "docs" / document).read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and set(line) - set("|- ") and cells[-1] != "Shown by":
            found.append(cells)
    return found


@cache
def defined_tests(path: str) -> frozenset[str]:
    """Return the names of the tests that a file defines; none where there is no such file."""
    file = ROOT / path
    if not file.is_file():
        return frozenset()
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    names = [node.name for node in ast.parse(file.read_bytes()).body if isinstance(node, functions)]
    return frozenset(name for name in names if name.startswith("test_"))


@cache
def cases(test: str) -> frozenset[str]:
    """Return the cases that may be named of a test."""
    if test in PAYLOADS:
        return frozenset(SCENES)
    if test == HANDWRITTEN:
        return frozenset(json.loads(line)["id"] for line in VECTORS.read_text("utf-8").split("\n") if line)
    return frozenset()


def exists(test_id: str) -> bool:
    """Tell whether there is such a test, and the case in brackets where one is named."""
    test, bracket, case = test_id.partition("[")
    path, _, name = test.partition("::")
    return name in defined_tests(path) and (not bracket or case.removesuffix("]") in cases(test))


def missing(document: str) -> list[str]:
    """Return what a document names that is no test, and the lines that name none."""
    found = []
    for cells in rows(document):
        ids = re.findall(r"`([^`]+)`", cells[-1])
        if not ids or re.sub(r"`[^`]+`", "", cells[-1]).strip():
            found.append(" | ".join(cells))
        found += [test_id for test_id in ids if not exists(test_id)]
    return found


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_test_named_exists(document: str) -> None:
    assert rows(document)
    assert missing(document) == []


@pytest.mark.parametrize("document", LINES)
def test_no_line_of_the_record_is_left_out(document: str) -> None:
    lines = LINES[document].items()
    expected = [f"{part}{number}" for part, count in lines for number in range(1, count + 1)]
    assert [cells[0] for cells in rows(document)] == expected


def test_no_field_scenario_is_left_out() -> None:
    assert len({cells[0] for cells in rows("scenario-coverage.md")}) == SCENARIOS


def test_the_scenarios_are_those_of_the_list(shared_data: Path) -> None:
    source = (shared_data.parent / "scenarios" / "README.md").read_text("utf-8")
    titles = re.findall(r"^- \*\*(.+?)\.\*\*", source, re.MULTILINE)
    assert [cells[0] for cells in rows("scenario-coverage.md")] == titles
    assert len(titles) == SCENARIOS


def test_a_test_that_is_gone_is_noticed() -> None:
    assert "test_every_test_named_exists" in defined_tests("tests/unit/test_coverage_documents.py")
    assert "test_that_is_gone" not in defined_tests("tests/unit/test_coverage_documents.py")
    assert defined_tests("tests/unit/no_such_file.py") == frozenset()
    assert exists(f"{HANDWRITTEN}[reserved-key]")
    assert not exists(f"{HANDWRITTEN}[case-that-is-gone]")
    assert not exists("tests/golden/test_compile.py::test_the_measured_vectors_are_all_there[x]")

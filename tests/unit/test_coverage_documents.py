"""The documents that say which test shows what name only tests that exist, for every line there is."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ("adr-0006-coverage.md", "scenario-coverage.md")

LINES = {"P": 7, "D1.": 16, "D2.": 20, "D3.": 18, "D4.": 8, "D5.": 13, "D6.": 5}
"""Lines of each part of ADR-0006."""


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


def missing(document: str) -> list[str]:
    """Return what a document names that is no test, and the lines that name none."""
    found = []
    for cells in rows(document):
        ids = re.findall(r"`([^`]+)`", cells[-1])
        if not ids or re.sub(r"`[^`]+`", "", cells[-1]).strip():
            found.append(" | ".join(cells))
        for test_id in ids:
            path, _, name = test_id.partition("::")
            if name not in defined_tests(path):
                found.append(test_id)
    return found


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_test_named_exists(document: str) -> None:
    assert rows(document)
    assert missing(document) == []


def test_no_line_of_the_record_is_left_out() -> None:
    expected = [f"{part}{number}" for part, count in LINES.items() for number in range(1, count + 1)]
    assert [cells[0] for cells in rows("adr-0006-coverage.md")] == expected


def test_a_test_that_is_gone_is_noticed() -> None:
    assert "test_every_test_named_exists" in defined_tests("tests/unit/test_coverage_documents.py")
    assert "test_that_is_gone" not in defined_tests("tests/unit/test_coverage_documents.py")
    assert defined_tests("tests/unit/no_such_file.py") == frozenset()

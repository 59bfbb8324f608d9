"""Every error reason is brought about by a test, with its status code."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from antiphon_client.errors import BY_REASON
from tests.polyglot.scenario import FOLDER, load_all

ROOT = Path(__file__).resolve().parents[2]
UNREACHABLE = json.loads(Path(__file__).with_name("unreachable_reasons.json").read_bytes())


EXPECTED: list[dict[str, Any]] = [
    error
    for scenario in load_all(FOLDER)
    for step in scenario.steps
    if "reason" in (error := step.get("expect", {}).get("error", {}))
]
"""Every error with a reason that a scenario expects."""


def named_in_code(path: Path) -> set[str]:
    """Return the reasons that a module's functions name, in texts or by their classes."""
    by_class = {cls.__name__: reason for reason, cls in BY_REASON.items()}
    found = set()
    for function in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        documented = ast.get_docstring(function, clean=False)
        for node in ast.walk(function):
            if isinstance(node, ast.Constant) and node.value in BY_REASON and node.value != documented:
                found.add(str(node.value))
            elif isinstance(node, ast.Name) and node.id in by_class:
                found.add(by_class[node.id])
    return found


@pytest.mark.parametrize("reason", sorted({error["reason"] for error in EXPECTED}))
def test_a_reason_that_a_caller_can_bring_about_is_expected_with_its_code(reason: str) -> None:
    codes = {error["code"] for error in EXPECTED if error["reason"] == reason and "code" in error}
    assert codes == {BY_REASON[reason].code}


@pytest.mark.parametrize("entry", UNREACHABLE, ids=lambda entry: f"{entry['domain']}-{entry['reason']}")
def test_any_other_reason_is_named_by_the_code_of_its_test(entry: dict[str, str]) -> None:
    assert entry["reason"] in named_in_code(ROOT / entry["tested_by"])


def test_every_reason_is_one_or_the_other() -> None:
    reachable = {error["reason"] for error in EXPECTED}
    assert reachable | {entry["reason"] for entry in UNREACHABLE} == set(BY_REASON)

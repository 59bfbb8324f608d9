"""The FOLDED profile against the measured vectors and the hand-written ones, byte for byte."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from antiphon_client.errors import AntiphonError
from tests.support.compiler import compile_inline, dump, notes_of, openai_form, request_of

VECTORS = Path(__file__).parent / "vectors"


def _measured() -> list[dict[str, Any]]:
    with gzip.open(VECTORS / "compile.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _handwritten() -> list[dict[str, Any]]:
    text = (VECTORS / "compile_handwritten.jsonl").read_text(encoding="utf-8")
    # Not splitlines(): it also splits at separators that are legal inside JSON text.
    return [json.loads(line) for line in text.split("\n") if line]


MEASURED = _measured()
HANDWRITTEN = _handwritten()


def test_the_measured_vectors_are_all_there() -> None:
    assert len(MEASURED) == 241


@pytest.mark.parametrize("vector", MEASURED, ids=lambda vector: vector["id"])
def test_measured(vector: dict[str, Any]) -> None:
    compiled = openai_form(compile_inline(request_of(vector["input"])))
    # Texts, so that 1 and 1.0 or true and 1 are told apart too.
    assert dump(compiled) == dump(vector["expected"]["ok"])


@pytest.mark.parametrize("vector", HANDWRITTEN, ids=lambda vector: vector["id"])
def test_handwritten(vector: dict[str, Any]) -> None:
    request = request_of(vector["input"])
    expected = vector["expected"]
    if "error" in expected:
        with pytest.raises(AntiphonError) as caught:
            compile_inline(request)
        error = caught.value
        assert {"reason": error.reason, "code": error.code, "message": error.message} == {
            name: expected["error"][name] for name in ("reason", "code", "message")
        }
        assert error.metadata == expected["error"].get("metadata", error.metadata)
        assert [violation.field for violation in error.violations] == expected["error"].get("fields", [])
        return
    response = compile_inline(request)
    assert dump(openai_form(response)) == dump(expected["ok"])
    assert [[kind, *ids] for kind, ids in notes_of(response)] == expected["notes"]

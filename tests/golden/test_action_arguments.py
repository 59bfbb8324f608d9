"""Arguments of actions against the measured vectors, with the design's stated differences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from antiphon_client.messages import ActionRequest

LINES = (Path(__file__).parent / "vectors" / "action_arguments.jsonl").read_text("utf-8").splitlines()
VECTORS = [json.loads(line) for line in LINES]

# Stated differences: a list is no object, fences and Python literals are
# repaired, and an integer is never rounded.
REFUSED = {"action_arguments-0008", "action_arguments-0014", "action_arguments-0015"}
OTHERWISE: dict[str, dict[str, Any]] = {
    "action_arguments-0006": {"a": 1},
    "action_arguments-0017": {"a": True, "b": None},
    "action_arguments-0019": {"big": 123456789012345678901234567890},
}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_arguments_become_an_object_as_measured(vector: dict[str, Any]) -> None:
    given, name = vector["input"]["arguments"], vector["id"]
    if name in REFUSED or ("error" in vector["expected"] and name not in OTHERWISE):
        with pytest.raises(ValueError, match="arguments"):
            ActionRequest.create("f", given)
        return
    expected = OTHERWISE.get(name) or vector["expected"]["ok"]
    request = ActionRequest.create("f", given)
    assert request.arguments == expected
    # repr tells 1 from True and 1.0
    assert repr(request.arguments) == repr(expected)


def test_every_vector_is_here() -> None:
    assert len(VECTORS) == 20

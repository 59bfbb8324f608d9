"""Normalization of providers' answers against the measured vectors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from antiphon_client.messages import AssistantResponse, from_proto, to_proto

LINES = (Path(__file__).parent / "vectors" / "assistant_normalization.jsonl").read_text("utf-8").splitlines()
VECTORS = [json.loads(line) for line in LINES]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_an_answer_is_normalized_as_measured(vector: dict[str, Any]) -> None:
    message = AssistantResponse.from_response(vector["input"]["response"])
    expected = vector["expected"]["ok"]
    assert message.content.assistant_response == expected["text"]
    assert message.metadata == {"model_response": expected["model_response"]}
    again = from_proto(to_proto(message))
    assert again.content == message.content
    assert again.metadata == message.metadata


def test_every_vector_is_here() -> None:
    assert len(VECTORS) == 128

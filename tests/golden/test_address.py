"""Sender and recipient normalization against the measured vectors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from antiphon_client.messages import UNSET, MessageRole, normalize_recipient, normalize_sender
from antiphon_client.messages.address import address_to_text

LINES = (Path(__file__).parent / "vectors" / "address.jsonl").read_text("utf-8").splitlines()
VECTORS = [json.loads(line) for line in LINES]
KINDS: dict[str, type] = {"MessageRole": MessageRole, "str": str, "UUID": UUID}

# The reference's field helper maps these two otherwise; the design's rule wins.
EMPTY, NULL = "address-0007", "address-0014"


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_an_address_is_normalized_as_measured(vector: dict[str, Any]) -> None:
    value = vector["input"]["value"]
    if vector["id"] == NULL:
        assert normalize_recipient(value) is None
        assert normalize_sender(value) is UNSET
        return
    if vector["id"] == EMPTY or "error" in vector["expected"]:
        for normalize in (normalize_recipient, normalize_sender):
            with pytest.raises(ValueError, match=r"^Invalid sender or recipient$"):
                normalize(value)
        return
    expected = vector["expected"]["ok"]
    for normalize in (normalize_recipient, normalize_sender):
        address = normalize(value)
        assert type(address) is KINDS[expected["kind"]]
        assert address_to_text(address) == expected["text"]


def test_every_vector_is_here() -> None:
    assert len(VECTORS) == 23

"""The SDK's error classes say which facts they carry, as the registries of the protos do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from antiphon_client.errors import BY_REASON

ROOT = Path(__file__).resolve().parents[2]
REASON = re.compile(r"((?:^  // .*\n)+)  ERROR_REASON_(\w+) = \d+;", re.M)
FACTS = re.compile(r"metadata:\s(.*?)(?:\.\s|$)", re.S)


def documented() -> list[tuple[str, str]]:
    """Return each reason with each name that a registry gives its metadata."""
    found = set()
    for package in ("history", "compiler"):
        text = (ROOT / "protos" / "antiphon" / package / "v1" / "errors.proto").read_text("utf-8")
        for comment, reason in REASON.findall(text):
            for facts in FACTS.findall(re.sub(r"\n?\s*// ?", " ", comment)):
                found |= {(reason, name) for name in re.findall(r"`(\w+)`", facts)}
    return sorted(found)


def test_the_registries_are_read() -> None:
    found = documented()
    assert len(found) > 30
    assert {("REVISION_EXPIRED", "oldest"), ("OPEN_CALLS", "message_ids_count")} <= set(found)


@pytest.mark.parametrize(("reason", "name"), documented())
def test_metadata_of_the_registries_is_documented(reason: str, name: str) -> None:
    documentation = BY_REASON[reason].__doc__ or ""
    assert f"``{name}``" in documentation.partition("Metadata: ")[2]

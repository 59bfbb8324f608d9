"""The one model of routing states, as ``docs/messages.md`` tells it: its table is what is checked."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from antiphon_client.messages import UNSET, Message, MessageRole, Sendable, from_proto, to_proto

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "messages.md"
MEMBER = "6f1c5ad0-6c2d-4a51-9a3c-0f4e2c1b7d11"

GIVEN: dict[str, dict[str, Any]] = {
    "left out": {},
    "`UNSET`": {"recipient": UNSET},
    "`None`": {"recipient": None},
    "a UUID": {"recipient": MEMBER},
    "a role": {"recipient": MessageRole.USER},
    "a name": {"recipient": "alice"},
}
"""The table's first column: what a caller gives as the recipient."""


def rows() -> list[list[str]]:
    section = DOCUMENT.read_text("utf-8").partition("## Routing")[2].partition("\n## ")[0]
    lines = re.findall(r"^\| *(.+?) *\|$", section, re.M)
    return [re.split(r" *\| *", line) for line in lines][2:]


def test_the_table_names_every_state() -> None:
    assert [row[0] for row in rows()] == list(GIVEN)


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_a_state_is_what_the_table_says(row: list[str]) -> None:
    given, wire, plain, broadcast, direct = row[:5]
    message = Message("x", **GIVEN[given])
    recipient = to_proto(message).recipient
    state = recipient.WhichOneof("state") or "absent"
    assert state == wire.strip("`")
    text = message.to_dict()["recipient"]
    assert plain.strip("`") == {
        None: "null",
        MEMBER: "the UUID",
        "alice": "the name",
        "user": "the role",
    }.get(text, text)
    assert (message.is_broadcast, message.is_direct) == (broadcast == "yes", direct == "yes")
    for again in (from_proto(to_proto(message)), Message.from_dict(message.to_dict())):
        assert again.recipient == message.recipient
        assert (again.is_broadcast, again.is_direct) == (message.is_broadcast, message.is_direct)


def test_the_vocabulary_of_roles_is_closed() -> None:
    assert {role.value for role in MessageRole} == {"system", "user", "assistant", "unset", "action"}
    assert Message(recipient="tool").recipient == "tool"
    assert Message(recipient="unset").recipient is UNSET


def test_sendable_has_typed_addresses() -> None:
    hints = {name: vars(Sendable)[name].fget.__annotations__["return"] for name in ("sender", "recipient")}
    assert hints == {"sender": "Address", "recipient": "Address"}
    assert isinstance(Message(), Sendable)


def test_an_embedding_of_an_older_record_is_ignored() -> None:
    message = Message("x")
    assert Message.from_dict({**message.to_dict(), "embedding": [0.5]}) == message
    assert "embedding" not in message.to_dict()

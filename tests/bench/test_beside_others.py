"""Mailboxes and sessions are measured beside others where these are installed, and are missed where not."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.bench import append, length, mailbox, sessions
from tests.bench.report import Absent, Row
from tests.bench.servers import Servers, running

pytestmark = pytest.mark.anyio

# Any server that lets one connect will do: the stand-in's client never calls it.
STAND_IN = mailbox.Broker(
    "a stand-in",
    sys.executable,
    lambda _folder, address: ["-m", "http.server", "--bind", *address.split(":")],
    "tests.support.another_mailbox",
    {"commands": "any"},
    1.0,
)


def _say(_text: str) -> None:
    """Progress that nobody reads."""


@pytest.fixture
async def servers() -> AsyncIterator[Servers]:
    async with running(append.reply_bytes()) as started:
        yield started


async def test_an_append_is_measured_on_a_short_and_on_a_long_branch(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(length, "LONG", 40)
    (row,) = [row async for row in length.measure(servers, rounds=8, say=_say)]
    assert (row.work, row.beside) == ("append to a branch of 40 messages", "to a branch of 10 messages")
    assert row.ratio == pytest.approx(row.ours / row.theirs)
    assert (row.bound, row.target) == ("at most", 1.1)


async def test_a_mailbox_is_measured_beside_a_broker(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailbox, "PEER_PYTHON", Path(sys.executable))
    monkeypatch.setattr(mailbox, "BROKERS", (STAND_IN,))
    (row,) = [row async for row in mailbox.measure(servers, rounds=1, say=_say)]
    assert isinstance(row, Row)
    assert (row.beside, row.unit) == ("a stand-in, any", "messages/s")
    assert row.ratio == pytest.approx(row.ours / row.theirs)


async def test_mailboxes_that_receive_other_things_are_not_compared(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailbox, "PEER_PYTHON", Path(sys.executable))
    monkeypatch.setattr(mailbox, "BROKERS", (STAND_IN,))
    monkeypatch.setattr("tests.bench.mailbox.digest_of_texts", lambda _texts: "another")
    with pytest.raises(RuntimeError, match="receive different things"):
        await anext(mailbox.measure(servers, rounds=1, say=_say))


async def test_what_is_not_installed_is_missed_and_not_made_up(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = Path("/no/such/python")
    monkeypatch.setattr(mailbox, "PEER_PYTHON", nowhere)
    monkeypatch.setattr(sessions, "PEER_PYTHON", nowhere)
    missed = [row async for row in mailbox.measure(servers, rounds=1, say=_say)]
    missed += [row async for row in sessions.measure(servers, rounds=1, say=_say)]
    assert len(missed) == len(mailbox.BROKERS) + len(sessions.PEERS)
    assert all(isinstance(row, Absent) for row in missed)
    assert "OpenAI Agents SQLiteSession: not measured, it is not installed" in str(missed[-3])
    monkeypatch.setattr(mailbox, "_PATH", "")
    first = await anext(mailbox.measure(servers, rounds=1, say=_say))
    assert "there is no redis-server (make bench-brokers)" in str(first)


async def test_sessions_are_measured_at_two_lengths(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "PEER_PYTHON", Path(sys.executable))
    monkeypatch.setattr(sessions, "PEERS", (sessions.Peer("a stand-in", "tests.support.another_mailbox"),))
    monkeypatch.setattr(sessions, "LENGTHS", (3, 30))
    rows = [row async for row in sessions.measure(servers, rounds=1, say=_say)]
    assert [isinstance(row, Row) and row.work for row in rows] == [
        "append a message, 3 before",
        "append a message, 30 before",
    ]
    assert all(isinstance(row, Row) and row.ours > 0 and row.target is None for row in rows)

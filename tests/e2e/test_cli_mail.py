"""An exchange's mailboxes from the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from uuid import UUID, uuid4

import pytest

from antiphon_client import Exchange, HistoryClient
from tests.support.cli import Cli
from tests.support.pair import Pair, served_pair


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with served_pair(tmp_path_factory.mktemp("pair")) as pair:
        yield pair


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], pair: Pair) -> Cli:
    return Cli(monkeypatch, capsys, pair.history, pair.compiler)


@pytest.fixture
def exchange(pair: Pair) -> Iterator[Exchange]:
    with HistoryClient(pair.history) as history:
        yield Exchange(history, f"exchange {uuid4()}")


@pytest.fixture
def owners(exchange: Exchange) -> tuple[UUID, UUID]:
    """Two owners; of three messages between them one waits, one is there, one is a dead letter."""
    ada, ben = exchange.register(uuid4()), exchange.register(uuid4())
    exchange.send(ada, ben, "there")
    exchange.send(ada, "somebody", {"to": "a name"})
    exchange.collect(ada)
    exchange.send(ada, ben, "waits")
    return ada, ben


def test_owners_are_listed(cli: Cli, exchange: Exchange, owners: tuple[UUID, UUID]) -> None:
    titles, first, second = cli("mail", "owners", exchange.exchange_id).out.splitlines()
    assert titles.split("  ")[0] == "OWNER"
    assert (first.split()[0], first.split()[3:]) == (str(owners[0]), ["0", "1", "0"])
    assert (second.split()[0], second.split()[3:]) == (str(owners[1]), ["1", "0", "1"])
    told = [
        json.loads(line) for line in cli("mail", "owners", exchange.exchange_id, "--json").out.splitlines()
    ]
    registered_at = [record.registered_at for record in exchange.owners()]
    assert told == [
        {"owner_id": str(owner), "registered_at": at, "inbox": inbox, "outbox": outbox, "last_sequence": last}
        for owner, at, (inbox, outbox, last) in zip(
            owners, registered_at, [(0, 1, 0), (1, 0, 1)], strict=True
        )
    ]
    nobody = cli("mail", "owners", "nobody's")
    assert (nobody.code, nobody.out) == (0, "")


def test_dead_letters_are_listed_and_delivered_after_all(
    cli: Cli, exchange: Exchange, owners: tuple[UUID, UUID]
) -> None:
    name = exchange.exchange_id
    (letter,) = exchange.dead_letters()
    titles, line = cli("mail", "dead-letters", name).out.splitlines()
    assert titles.startswith("DEAD LETTER")
    assert line.split()[0] == str(letter.dead_letter_id)
    assert line.split()[3:] == ["recipient_name", "-", "0"]
    (told,) = map(json.loads, cli("mail", "dead-letters", name, "--json").out.splitlines())
    assert (told["reason"], told["owner_id"]) == ("recipient_name", None)
    assert told["message"] == letter.message.to_dict()
    assert cli("mail", "dead-letters", name, "--owner", str(owners[1])).out == ""
    failed = cli("mail", "redrive", name, str(letter.dead_letter_id))
    assert (failed.code, failed.out) == (1, "")
    outcome = cli("mail", "redrive", name, str(letter.dead_letter_id), "--to", str(owners[1]))
    assert outcome.out == f"{letter.dead_letter_id}  delivered, sequence 2\n"
    assert [message.content for message in exchange.receive(owners[1])] == ["there", {"to": "a name"}]
    assert cli("mail", "dead-letters", name).out == ""
    again = cli("mail", "redrive", name, str(letter.dead_letter_id), "--to", str(owners[1]))
    assert again.code == 1
    assert "MESSAGE_NOT_FOUND" in again.err


@pytest.mark.parametrize("name", ["owners", "dead-letters", "redrive"])
def test_every_help_has_examples(cli: Cli, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert f"antiphon mail {name}" in cli("mail", name, "--help").out
    assert f" {name} " in cli("mail", "--help").out

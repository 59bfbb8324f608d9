"""Stores by URL: which one is named, and what of a URL people may see."""

from __future__ import annotations

import pytest

import history_service.__main__
from history_service.storage import masked_url, open_store
from history_service.storage.postgres import PostgresStore


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("memory:", "memory:"),
        ("sqlite:a:b@c?password=x", "sqlite:a:b@c?password=x"),
        ("postgresql://host/db", "postgresql://host/db"),
        ("postgresql://me@host/db", "postgresql://me@host/db"),
        ("postgresql://me:pw@host:1,other:2/db", "postgresql://me:***@host:1,other:2/db"),
        ("postgres://me:p@w@host/db", "postgres://me:***@host/db"),
        ("postgres://me:p?w#x@host/db?sslmode=require", "postgres://me:***@host/db?sslmode=require"),
        ("postgresql://me:p%40w@host", "postgresql://me:***@host"),
        ("postgresql:///db?host=/run&password=pw", "postgresql:///db?host=/run&password=***"),
        ("postgresql:///db?pass%77ord=pw&user=me", "postgresql:///db?pass%77ord=***&user=me"),
        (
            "postgresql://h/db?sslpassword=pw&sslmode=verify-full",
            "postgresql://h/db?sslpassword=***&sslmode=verify-full",
        ),
    ],
)
def test_secrets_in_a_url_are_masked(url: str, shown: str) -> None:
    assert masked_url(url) == shown


def test_the_configuration_is_printed_without_the_secret(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        history_service.__main__.main(["--store", "postgresql://me:hidden@host/db", "--print-config"])
    assert left.value.code == 0
    printed = capsys.readouterr()
    assert "postgresql://me:***@host/db" in printed.out
    assert "hidden" not in printed.out + printed.err


@pytest.mark.parametrize(
    "url", ["postgresql://me:hidden@host/db?nonsense=1", "postgresql://me:hid%zzden@host"]
)
def test_a_url_that_cannot_be_read_is_not_repeated(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        history_service.__main__.main(["--store", url])
    assert left.value.code == 2
    printed = capsys.readouterr()
    assert "--store: the PostgreSQL URL cannot be read" in printed.err
    assert "hid" not in printed.out + printed.err


def test_an_unknown_store_is_not_repeated() -> None:
    with pytest.raises(ValueError, match="not a store: 'mysql:'; use") as caught:
        open_store("mysql://me:hidden@host")
    assert "hidden" not in str(caught.value)


def test_naming_a_store_connects_to_nothing() -> None:
    assert isinstance(open_store("postgresql://nobody@192.0.2.1/nowhere"), PostgresStore)


def test_connection_bounds_fit_together(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        history_service.__main__.main(["--store", "memory:", "--store-min-connections", "9"])
    assert left.value.code == 2
    assert "--store-min-connections must not be over --store-max-connections" in capsys.readouterr().err

"""The random programs show a store that answers otherwise."""

from __future__ import annotations

import pytest

from history_service.storage.sqlite.writing import SqliteWriteTransaction
from tests.conformance.programs import run_programs
from tests.support.store_mutants import keep_members


def test_programs_show_a_store_that_clears_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SqliteWriteTransaction, "remove_all_members", keep_members)
    with pytest.raises(AssertionError):
        run_programs("sqlite", 200, 1, shrink=False)


def test_programs_are_counted() -> None:
    counted = run_programs("sqlite", 3, 1, shrink=False)
    assert counted["programs"] == 3
    assert counted.total() >= 3 + 3 * 10

"""Memory that waits for a cache to grow."""

from __future__ import annotations

import gc
import sys

import pytest

from antiphon_client.edge.ready_memory import ReadyMemory
from compiler_service.settings import CompilerSettings
from history_service.settings import HistorySettings

MIB = 2**20


def test_the_first_mebibytes_are_let_go_of_at_once() -> None:
    assert len(ReadyMemory(64 * MIB)) == 60
    assert len(ReadyMemory(4 * MIB)) == 0
    assert len(ReadyMemory(0)) == 0


def test_what_is_over_whole_mebibytes_counts_for_nothing() -> None:
    assert len(ReadyMemory(6 * MIB + MIB - 1)) == 2


def test_as_much_is_let_go_of_as_comes_into_the_cache() -> None:
    ready = ReadyMemory(16 * MIB)
    waiting = []
    for _ in range(5):
        ready.give(MIB // 2)
        waiting.append(len(ready))
    assert waiting == [12, 11, 11, 10, 10]
    ready.give(100 * MIB)
    assert len(ready) == 0
    ready.give(MIB)
    assert len(ready) == 0


def test_small_objects_have_half_of_it_and_are_given_apart() -> None:
    ready = ReadyMemory(16 * MIB, for_objects=True)
    assert len(ready) == 12
    ready.give(100 * MIB)
    assert len(ready) == 6
    ready.give(0, 2 * MIB)
    assert len(ready) == 4
    ready.give(0, 100 * MIB)
    assert len(ready) == 0


@pytest.mark.parametrize("for_objects", [False, True])
def test_what_waits_is_in_memory_and_gone_once_given(for_objects: bool) -> None:
    def held() -> int:  # blocks of Python's own arenas
        return sys.getallocatedblocks()

    gc.collect()
    before = held()
    ready = ReadyMemory(12 * MIB, for_objects=for_objects)
    waiting = held() - before
    # Half of the eight that wait are of 2,048 small objects each.
    assert (waiting > 4 * 2000) == for_objects
    ready.give(12 * MIB, 12 * MIB)
    assert held() - before < 100


def test_both_services_fetch_some_where_nothing_else_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for service in ("HISTORY", "COMPILER"):
        monkeypatch.delenv(f"ANTIPHON_{service}_READY_BYTES", raising=False)
    assert HistorySettings(listen="unix:/h").ready_bytes == 64 * MIB
    assert CompilerSettings(listen="unix:/c", history="unix:/h").ready_bytes == 64 * MIB
    for wrong in (-1, 2**40):
        with pytest.raises(ValueError, match="ready_bytes"):
            HistorySettings(listen="unix:/h", ready_bytes=wrong)

"""A short run of the power-cut harness, its proof that it sees faults, and the rules of its disk.

``ANTIPHON_TEST_POWER_CUTS`` and ``ANTIPHON_TEST_SEED`` make it longer or another one.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.crash.power_cuts import BrokenPromiseError, run
from tests.support.powercut import SECTOR, Create, Delete, DiskLog, Sync, Truncate, Write

CUTS = int(os.environ.get("ANTIPHON_TEST_POWER_CUTS", "200"))
SEED = int(os.environ.get("ANTIPHON_TEST_SEED", "1"))

OLD = b"o" * (4 * SECTOR)
NEW = b"n" * (4 * SECTOR)


@pytest.mark.anyio
async def test_power_cuts_lose_nothing(tmp_path: Path) -> None:
    report = await run(CUTS, SEED, "none", tmp_path)
    assert report.cuts == CUTS
    assert report.acknowledged > CUTS


@pytest.mark.anyio
@pytest.mark.parametrize("mutant", ["normal", "hasty"])
async def test_the_harness_catches_a_faulty_writer(mutant: str, tmp_path: Path) -> None:
    with pytest.raises(BrokenPromiseError, match="was acknowledged"):
        await run(100, SEED, mutant, tmp_path)


def _images(log: DiskLog) -> list[dict[str, bytes]]:
    chance = random.Random(SEED)
    return [log.image_at(len(log.entries), chance) for _ in range(300)]


def test_what_was_synced_survives() -> None:
    log = DiskLog({"db": OLD})
    log.add(Write(0, 0, NEW))
    log.add(Sync(0, directory=False))
    assert all(image == {"db": NEW} for image in _images(log))


def test_what_was_not_synced_may_be_lost_kept_or_torn() -> None:
    log = DiskLog({"db": OLD})
    log.add(Write(0, 0, NEW))
    contents = {image["db"] for image in _images(log)}
    assert OLD in contents
    assert NEW in contents
    sectors = {
        content[start : start + SECTOR] for content in contents for start in range(0, len(OLD), SECTOR)
    }
    assert any(sector not in (OLD[:SECTOR], NEW[:SECTOR]) for sector in sectors)
    assert {content[:SECTOR] == content[SECTOR : 2 * SECTOR] for content in contents} == {True, False}


def test_bytes_outside_a_write_are_never_damaged() -> None:
    log = DiskLog({"db": OLD})
    log.add(Write(0, 100, b"n" * 10))
    assert all(
        image["db"][:100] == OLD[:100] and image["db"][110:] == OLD[110:] and len(image["db"]) == len(OLD)
        for image in _images(log)
    )


def test_a_size_that_was_not_synced_may_be_either() -> None:
    log = DiskLog({"db": OLD})
    log.add(Truncate(0, SECTOR))
    assert {len(image["db"]) for image in _images(log)} == {SECTOR, len(OLD)}


def test_directory_entries_need_a_sync_of_the_directory() -> None:
    log = DiskLog({"db": OLD, "db-wal": NEW})
    log.add(Delete("db-wal", directory=False))
    assert {tuple(image) for image in _images(log)} == {("db",), ("db", "db-wal")}
    log.add(Create(7, "db-wal"))
    log.add(Write(7, 0, b"w"))
    log.add(Sync(7, directory=True))
    assert all(image["db-wal"] == b"w" for image in _images(log))

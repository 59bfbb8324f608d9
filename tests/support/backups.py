"""Stores and backups for tests, and damage that only their rows can tell."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import apsw

from antiphon.history.v1 import history_service_pb2 as pb
from history_service.backup.manifest import DATABASE_NAME, MANIFEST_NAME, facts_of, file_sha256
from tests.support import exchange as exchanges
from tests.support.exchange_scenes import set_up
from tests.support.history import assistant, instruction, running, uuid_of

BRANCHES = (1, 2, 3)


async def make_store(folder: Path, kind: str = "sqlite") -> Path:
    """Make a store with something of everything, in clear or ``encrypted``; return its file."""
    folder.mkdir(exist_ok=True)
    async with running(kind, folder) as history:
        for number in BRANCHES:
            branch = await history.create(number, request_id=uuid_of(500 + number), metadata_json='{"a": 1}')
            await history.system(branch, "Be brief.")
            for at in range(5):
                turn = 100 * number + 2 * at
                await history.add(branch, instruction(turn), assistant(turn + 1))
            chosen = [uuid_of(100 * number), uuid_of(100 * number + 1)]
            await history.call(pb.SelectViewRequest(branch_id=branch, message_ids=chosen))
    async with exchanges.running(kind, folder) as exchange:
        await set_up(exchange)
    return folder / "history.sqlite3"


def damage(backup: Path, sql: str) -> None:
    """Change a backup's database, and its manifest to fit."""
    database = backup / DATABASE_NAME
    with contextlib.closing(apsw.Connection(str(database))) as connection:
        connection.pragma("journal_mode", "DELETE")
        connection.execute(sql)
        assert connection.changes()
        facts = asdict(facts_of(connection))
    rewrite_manifest(backup, sha256=file_sha256(database), bytes=database.stat().st_size, facts=facts)


def rewrite_manifest(backup: Path, **fields: Any) -> None:
    """Change fields of a backup's manifest."""
    path = backup / MANIFEST_NAME
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))

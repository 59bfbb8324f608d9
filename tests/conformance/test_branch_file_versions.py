"""Files written by earlier releases stay readable, for ever.

``tests/golden/branch_files`` holds files of every version of the format, one of
them as the release that introduced it wrote it, and others for kinds of messages
that came later. They are never written again.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from antiphon_client.branch_file import READABLE_VERSIONS, is_branch_file
from tests.support.branch_files import import_file
from tests.support.history import History, numbers

pytestmark = pytest.mark.anyio

FILES = Path(__file__).resolve().parents[1] / "golden" / "branch_files"


def test_there_is_a_file_of_every_version() -> None:
    assert {int(path.stem.split("-")[1]) for path in FILES.glob("version-*.jsonl")} == READABLE_VERSIONS


async def test_version_1(history: History) -> None:
    file = (FILES / "version-1.jsonl").read_bytes()
    assert is_branch_file(file)
    branch = (await import_file(history, file)).branch
    assert branch.metadata_json == '{"n":1.0, "n2":1e2}'
    order = await history.ids(branch.branch_id)
    assert numbers(order) == [1, 5, 2, 3, 4, 8, 6, 7, 9]
    assert numbers(await history.view(branch.branch_id) or ()) == [6, 2]
    bodies = (await history.snapshot(branch.branch_id, ids=order)).bodies
    assert hashlib.sha256(b"".join(bodies)).hexdigest() == (
        "766923c592750fa86f3bdf783b1e7ac6d414907e874cc5cd2a11fbb9fc708ce3"
    )


async def test_version_1_with_a_summary(history: History) -> None:
    file = (FILES / "version-1-summary.jsonl").read_bytes()
    branch = (await import_file(history, file)).branch
    order = await history.ids(branch.branch_id)
    assert numbers(order) == [9, 1, 2, 3, 4, 5, 50]
    assert numbers(await history.view(branch.branch_id) or ()) == [9, 50, 5]
    stored = (await history.get(branch.branch_id, order[-1])).summary
    assert stored.text == "They said:\n\u2028 1 \x00 \ufeff\u00e9"
    assert (numbers([stored.first_id, stored.last_id]), stored.summary_ref) == ([1, 4], "s3://kept/1")
    bodies = (await history.snapshot(branch.branch_id, ids=order)).bodies
    assert hashlib.sha256(b"".join(bodies)).hexdigest() == (
        "bd226548d050c1921b43b0770c5ca11dc5318561b24646d84db517080da576fb"
    )

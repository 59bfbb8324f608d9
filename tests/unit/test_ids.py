"""Ids: canonical spelling, versions, order and derivation."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from antiphon_client.ids import (
    derived_request_id,
    is_canonical_uuid,
    new_id,
    new_ordered_id,
    new_ordered_ids,
)
from tests.support.cli import PYTHONPATH


@pytest.mark.parametrize(
    "text",
    [
        "00000000-0000-0000-0000-000000000000",
        "01a22ae7-1d31-73bc-bc82-723c776f2f24",
        "f" * 8 + "-ffff" * 3 + "-" + "f" * 12,
    ],
)
def test_canonical(text: str) -> None:
    assert is_canonical_uuid(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "01A22AE7-1D31-73BC-BC82-723C776F2F24",
        "01a22ae71d3173bcbc82723c776f2f24",
        "{01a22ae7-1d31-73bc-bc82-723c776f2f24}",
        "urn:uuid:01a22ae7-1d31-73bc-bc82-723c776f2f24",
        " 01a22ae7-1d31-73bc-bc82-723c776f2f24",
        "01a22ae7-1d31-73bc-bc82-723c776f2f24\n",
        "01a22ae7-1d31-73bc-bc82-723c776f2f2",
        "01a22ae7-1d31-73bc-bc82-723c776f2f2g",
        "01a22ae7-1d31-73bc-bc82-723c776f2f2\u0661",
    ],
)
def test_not_canonical(text: str) -> None:
    assert not is_canonical_uuid(text)


def test_new_ids_are_random_and_canonical() -> None:
    ids = [new_id() for _ in range(1000)]
    assert len(set(ids)) == 1000
    assert all(is_canonical_uuid(text) for text in ids)
    assert {uuid.UUID(text).version for text in ids} == {4}


def test_ordered_ids_are_distinct_and_of_version_7() -> None:
    ids = [new_ordered_id() for _ in range(1000)]
    assert len(set(ids)) == 1000
    parsed = [uuid.UUID(text) for text in ids]
    assert all(is_canonical_uuid(text) for text in ids)
    assert {(value.version, value.variant) for value in parsed} == {(7, uuid.RFC_4122)}


def test_ordered_ids_grow_with_time(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = [0, 1_000, 999_999, 1_000_000, 1_700_000_000_000_000_000, 1_700_000_000_000_001_000]
    clock = iter(moments)
    monkeypatch.setattr(time, "time_ns", lambda: next(clock))
    ids = [new_ordered_id() for _ in moments]
    assert ids == sorted(ids)
    assert ids[4].replace("-", "")[:12] == f"{1_700_000_000_000:012x}"


@pytest.mark.parametrize("moment", [0, 999_999, 1_700_000_000_123_999_999])
def test_ordered_ids_made_at_once_grow_from_each_to_the_next(
    monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: moment)
    # More than a millisecond has parts: they go on into the next one.
    ids = new_ordered_ids(5000)
    assert all(first[:18] < second[:18] for first, second in itertools.pairwise(ids))
    begin = moment // 10**6 << 12 | (moment % 10**6 << 12) // 10**6
    parts = [int(text[:8] + text[9:13] + text[15:18], 16) for text in ids]
    assert parts == list(range(begin, begin + 5000))
    assert all(is_canonical_uuid(text) for text in ids)
    parsed = [uuid.UUID(text) for text in ids]
    assert {(value.version, value.variant) for value in parsed} == {(7, uuid.RFC_4122)}
    assert len({text[19:] for text in ids}) == 5000
    assert ids[0].replace("-", "")[:12] == f"{moment // 10**6:012x}"
    assert new_ordered_ids(0) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_makes_other_ids() -> None:
    program = (
        "import os; from antiphon_client.ids import new_ordered_ids; new_ordered_ids(1); os.fork();"
        " os.write(1, (' '.join(new_ordered_ids(20)) + ' ').encode())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        check=True,
        text=True,
        env=os.environ | {"PYTHONPATH": PYTHONPATH},
    )
    tails = [text[19:] for text in done.stdout.split()]
    assert len(tails) == len(set(tails)) == 40


def test_threads_make_different_ids() -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(new_ordered_ids, [700] * 32))
    assert len({text[19:] for ids in made for text in ids}) == 700 * 32


def test_derived_ids_repeat_and_differ() -> None:
    assert derived_request_id("a", "b") == derived_request_id("a", "b")
    assert is_canonical_uuid(derived_request_id())
    different = [("a", "bc"), ("ab", "c"), ("abc",), ("a", "b", "c"), ("",), ("", ""), (), ("1:a",), ("a",)]
    assert len({derived_request_id(*parts) for parts in different}) == len(different)


def test_derived_id_never_changes() -> None:
    # An import interrupted under one release is resumed under the next.
    assert derived_request_id("import", "conversation-1", "0") == "44cdf576-f473-528d-941d-cddf4bdb4ce2"

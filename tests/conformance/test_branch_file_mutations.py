"""Damaged branch files: refused with nothing made, or else a branch that says just what the file says."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.message.v1 import message_pb2 as message_pb
from antiphon_client.errors import AntiphonError
from antiphon_client.messages.validation import canonicalize_message
from tests.support.branch_files import export_file, import_file, lines_of
from tests.support.descriptors import ROLES, messages
from tests.support.history import STORES, History, action_result, call_action, instruction, running, uuid_of

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "branch_files" / "version-1.jsonl"
BRANCH = uuid_of(500)
VALUES: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        True,
        0,
        1,
        -1,
        1.0,
        2**63,
        "",
        "1",
        "x",
        "{}",
        "null",
        uuid_of(3),
        uuid_of(0xA),
        [],
        {},
        [None],
        [{}],
    ]
)
NUMBERS = st.integers(0, 2**20)
Lines = list[bytes]


async def _written() -> bytes:
    """Return the file of a branch with every field of every kind of message, links and a view."""
    with TemporaryDirectory() as folder:
        async with running("memory", Path(folder)) as history:
            branch = await history.create(1, metadata_json='{"a":[1.0,"b"]}')
            number = 10
            for kind in ROLES:
                for message in messages(kind, number, 900 + number):
                    await history.add(branch, message, allow_unresolved=True)
                    number += 1
            await history.add(
                branch, call_action(1), call_action(2), action_result(3, 1), instruction(4, "x")
            )
            view = (await history.ids(branch))[-5:]
            await history.call(pb.SelectViewRequest(branch_id=branch, message_ids=view))
            return await export_file(history, branch)


@cache
def originals() -> tuple[bytes, ...]:
    """Return the good files that are damaged."""
    return GOLDEN.read_bytes(), asyncio.run(_written())


def flip(lines: Lines, at: int, number: int) -> None:
    """Change one byte."""
    line = at % len(lines)
    if lines[line]:
        position = number % len(lines[line])
        changed = lines[line][position] ^ (number // 7 % 255 + 1)
        lines[line] = lines[line][:position] + bytes([changed]) + lines[line][position + 1 :]


def drop(lines: Lines, at: int, number: int) -> None:
    """Leave out a line."""
    if len(lines) > 1:
        del lines[at % len(lines)]


def double(lines: Lines, at: int, number: int) -> None:
    """Let a line come twice."""
    lines.insert(number % (len(lines) + 1), lines[at % len(lines)])


def swap(lines: Lines, at: int, number: int) -> None:
    """Let two lines change places."""
    one, other = at % len(lines), number % len(lines)
    lines[one], lines[other] = lines[other], lines[one]


def cut(lines: Lines, at: int, number: int) -> None:
    """End the file within a line."""
    line = at % len(lines)
    lines[line] = lines[line][: number % (len(lines[line]) + 1)]
    del lines[line + 1 :]


def put(value: Any, lines: Lines, at: int, number: int) -> None:
    """Put a value in the place of another, anywhere in a record."""
    with contextlib.suppress(ValueError):
        record = json.loads(lines[at % len(lines)])
        places: list[tuple[Any, Any]] = []
        waiting = [record]
        while waiting:
            holder = waiting.pop()
            if isinstance(holder, (dict, list)):
                keys = list(holder) if isinstance(holder, dict) else range(len(holder))
                places += [(holder, key) for key in keys]
                waiting += [holder[key] for key in keys]
        if places:
            holder, key = places[number % len(places)]
            holder[key] = value
            lines[at % len(lines)] = json.dumps(record, ensure_ascii=False).encode()


KINDS: list[Callable[[Lines, int, int], None]] = [flip, drop, double, swap, cut]
DAMAGES = st.tuples(st.sampled_from(KINDS) | VALUES.map(lambda value: partial(put, value)), NUMBERS, NUMBERS)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Draw a file with some damage; often one whose footer is right all the same."""
    lines = lines_of(draw(st.sampled_from(originals())))
    resealed = draw(st.booleans() | st.just(True))
    body = lines[:-1] if resealed else lines
    for damage, at, number in draw(st.lists(DAMAGES, min_size=1, max_size=3)):
        damage(body, at, number)
    return resealed_file(body) if resealed else b"".join(line + b"\n" for line in body)


def resealed_file(lines: Lines) -> bytes:
    """Put lines together under a footer that is right for them, as far as they can be read."""
    body = b"".join(line + b"\n" for line in lines)
    footer: dict[str, Any] = {"messages": 0, "view": 0, "sha256": hashlib.sha256(body).hexdigest()}
    for record in map(_read, lines):
        footer["messages"] += "message" in record
        footer["view"] += len(record["view"]) if isinstance(record.get("view"), list) else 0
    branch = _read(lines[0]).get("branch")
    if not isinstance(branch, dict) or branch.get("view_count") is None:
        del footer["view"]
    return body + json.dumps({"end": footer}).encode() + b"\n"


def _read(line: bytes) -> dict[str, Any]:
    with contextlib.suppress(ValueError):
        record = json.loads(line)
        if isinstance(record, dict):
            return record
    return {}


def said(file: bytes) -> tuple[list[bytes], list[str] | None, str]:
    """Return what a file says, by a reader of its own: messages, view and metadata."""
    bodies, view = [], []
    records = [json.loads(line) for line in lines_of(file)]
    for record in records[1:-1]:
        view += record.get("view", ())
        if "message" in record:
            message: Any = ParseDict(record["message"], message_pb.Message())
            answer = message.action_request.action_response_id
            canonicalize_message(message)
            if answer:
                message.action_request.action_response_id = answer
            bodies.append(message.SerializeToString(deterministic=True))
    branch = records[0]["branch"]
    return bodies, None if branch.get("view_count") is None else view, branch.get("metadata_json") or ""


async def held(history: History) -> tuple[list[bytes], list[str] | None, str]:
    """Return what a branch holds, in the same terms."""
    order = await history.ids(BRANCH)
    bodies = (await history.snapshot(BRANCH, ids=order)).bodies
    return bodies, await history.view(BRANCH), (await history.branch(BRANCH)).metadata_json


async def refusal(history: History, file: bytes) -> AntiphonError | None:
    """Import a file; return the error that refused it."""
    try:
        await import_file(history, file, size=997, branch_id=BRANCH, external_key="key")
    except AntiphonError as error:
        return error
    return None


async def try_file(store: str, file: bytes) -> str:
    """Import a file and check what came of it; return the reason why it was refused, or how it was taken."""
    with TemporaryDirectory() as folder:
        async with running(store, Path(folder)) as history:
            error = await refusal(history, file)
            if error is not None:
                assert error.code == "INVALID_ARGUMENT"
                line = int(error.metadata["line"])
                assert 1 <= line <= file.count(b"\n") + 1
                assert error.message.startswith(f"line {line}: ")
                assert not (await history.call(pb.ListBranchesRequest())).branches
                # Neither the id nor the key is taken.
                assert await refusal(history, GOLDEN.read_bytes()) is None
                return error.reason
            assert await held(history) == said(file)
            assert (await history.branch(BRANCH)).revision == 1
            assert said(await export_file(history, BRANCH)) == said(file)
    return "unchanged" if file in originals() else "changed"


@pytest.mark.parametrize(("store", "examples"), [(STORES[0], 300), (STORES[1], 60)])
def test_damaged_files(store: str, examples: int) -> None:
    outcomes: Counter[str] = Counter()

    @settings(max_examples=examples)
    @given(file=damaged())
    def run(file: bytes) -> None:
        outcomes[asyncio.run(try_file(store, file))] += 1

    run()
    assert outcomes["FIELD_INVALID"] > examples // 10
    assert outcomes["changed"] > examples // 50


def test_originals_are_good() -> None:
    for file in originals():
        assert asyncio.run(try_file("memory", file)) == "unchanged"

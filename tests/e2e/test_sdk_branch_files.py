"""Whole branches to files and back, through the SDK and the command line."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from antiphon_client import AsyncHistoryClient, Branch, HistoryClient, Instruction
from antiphon_client.branch_file import BranchFileError, FileCheck
from antiphon_client.errors import (
    BranchExistsError,
    BranchNotFoundError,
    FieldInvalidError,
    SnapshotTruncatedError,
)
from tests.support.cli import Cli
from tests.support.pair import Pair, served_pair

TEXT = "a\x00b\u2028c\u0085d"


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with served_pair(tmp_path_factory.mktemp("pair")) as pair:
        yield pair


@pytest.fixture
def history(pair: Pair) -> Iterator[HistoryClient]:
    with HistoryClient(pair.history) as client:
        yield client


@pytest.fixture
def branch(history: HistoryClient) -> Branch:
    branch = Branch.create(history, metadata={"topic": "sky"})
    branch.set_system("Be brief")
    branch.add([Instruction.create(f"{number} {TEXT}" + "x" * 2000) for number in range(400)])
    branch.select_view(branch.progression()[1:4])
    return branch


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], pair: Pair) -> Cli:
    return Cli(monkeypatch, capsys, pair.history, pair.compiler)


def same(first: Branch, second: Branch) -> None:
    assert first.snapshot().messages == second.snapshot().messages
    assert list(first.messages()) == list(second.messages())
    assert first.record().metadata == second.record().metadata


def test_branch_goes_to_a_file_and_comes_back(history: HistoryClient, branch: Branch, tmp_path: Path) -> None:
    path, moved = tmp_path / "branch.jsonl", list[int]()
    size = branch.export(path, progress=moved.append)
    assert size == path.stat().st_size == moved[-1]
    assert moved == sorted(moved)
    sent = list[int]()
    record = history.import_branch(path, external_key="copy", progress=sent.append)
    assert (record.external_key, record.revision, record.replayed) == ("copy", 1, False)
    assert sent[-1] == size
    same(Branch(history, record.branch_id), branch)
    assert list(tmp_path.iterdir()) == [path]


def test_open_files_and_requests_sent_again(history: HistoryClient, branch: Branch) -> None:
    file, request_id = io.BytesIO(), str(uuid4())
    branch.export(file, at_revision=2)
    assert file.getvalue().count(b"\n") == 3
    first = history.import_branch(io.BytesIO(file.getvalue()), request_id=request_id)
    again = history.import_branch(io.BytesIO(file.getvalue()), request_id=request_id)
    assert (again.branch_id, again.replayed) == (first.branch_id, True)


@pytest.mark.anyio
async def test_asyncio_client_has_the_same(pair: Pair, branch: Branch, tmp_path: Path) -> None:
    path = tmp_path / "branch.jsonl"
    async with AsyncHistoryClient(pair.history) as client:
        size = await client.export_branch(branch.branch_id, path)
        assert size == path.stat().st_size
        record = await client.import_branch(path)
        assert record.message_count == 401
        path.write_bytes(path.read_bytes()[:-1])
        with pytest.raises(FieldInvalidError):
            await client.import_branch(path)


def test_refused_file_tells_its_line_and_makes_nothing(
    history: HistoryClient, branch: Branch, tmp_path: Path
) -> None:
    path, branch_id = tmp_path / "branch.jsonl", uuid4()
    branch.export(path)
    lines = path.read_bytes().split(b"\n")
    lines[2] = b"nonsense"
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(FieldInvalidError) as caught:
        history.import_branch(path, branch_id=branch_id)
    assert caught.value.metadata["line"] == "3"
    assert [violation.field for violation in caught.value.violations] == ["data"]
    assert caught.value.message == "line 3: data: not a JSON object that fills the line"
    with pytest.raises(BranchNotFoundError):
        history.get_branch(branch_id)


@pytest.mark.parametrize("footer", [b"[" * 50_000, b'{"end":{"sha256":1}}', b'{"end":[]}', b"\xff", b"{"])
def test_file_without_a_footer_is_not_whole(footer: bytes) -> None:
    check = FileCheck()
    for byte in b'{"format":"antiphon.branch"}\n' + footer + b"\n":
        check.feed(bytes([byte]))
    with pytest.raises(BranchFileError):
        check.finish()


def test_failures_of_the_files_themselves(history: HistoryClient, branch: Branch, tmp_path: Path) -> None:
    class Broken(io.BytesIO):
        def read(self, size: Any = -1) -> bytes:
            raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        history.import_branch(Broken())
    with pytest.raises(FileNotFoundError):
        history.import_branch(tmp_path / "none")
    path = tmp_path / "kept.jsonl"
    path.write_bytes(b"what was there before")
    with pytest.raises(BranchNotFoundError):
        history.export_branch(uuid4(), path)
    assert path.read_bytes() == b"what was there before"
    assert list(tmp_path.iterdir()) == [path]


def test_stream_that_ends_early_is_an_error(
    branch: Branch, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("antiphon_client.branch_transfer.FileCheck.feed", lambda check, data: None)
    with pytest.raises(SnapshotTruncatedError, match="before its last line, `end`"):
        branch.export(tmp_path / "branch.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_command_line_exports_and_imports(
    cli: Cli, history: HistoryClient, branch: Branch, tmp_path: Path
) -> None:
    path, name = str(tmp_path / "branch.jsonl"), str(branch.branch_id)
    assert cli("export", name, "--format", "antiphon", "-o", path).code == 0
    printed = cli("export", name, "--format", "antiphon")
    assert printed.out.encode() == Path(path).read_bytes()
    first = cli("import", path, "--json")
    assert first.code == 0
    made = json.loads(first.out)
    assert made["messages"] == 401
    copy = Branch.open(history, made["branch_id"])
    same(copy, branch)
    again = cli("import", path)
    assert again.out == f"imported branch {made['branch_id']} (imported before), 401 records\n"
    copy.delete()
    anew = cli("import", path)
    assert "imported before" not in anew.out
    assert made["branch_id"] not in anew.out
    keyed = cli("import", path, "--key", "another", "--json")
    assert Branch.open(history, external_key="another").branch_id.hex == json.loads(keyed.out)[
        "branch_id"
    ].replace("-", "")


def test_command_line_refuses_what_is_wrong(cli: Cli, branch: Branch, tmp_path: Path) -> None:
    path = tmp_path / "branch.jsonl"
    branch.export(path)
    path.write_bytes(path.read_bytes()[:-1])
    outcome = cli("import", str(path))
    assert outcome.code == 1
    assert "line 404" in outcome.err
    talk = tmp_path / "talk.json"
    talk.write_text('[{"role": "user", "content": "hi"}]')
    assert cli("import", str(talk), "--key", "x").code == 2
    openai = tmp_path / "out.json"
    assert cli("export", str(branch.branch_id), "-o", str(openai)).code == 0
    assert json.loads(openai.read_text())[0]["content"] == "Be brief"


def test_taken_key_is_refused(cli: Cli, history: HistoryClient, branch: Branch, tmp_path: Path) -> None:
    path = tmp_path / "branch.jsonl"
    branch.export(path)
    Branch.create(history, external_key="taken")
    with pytest.raises(BranchExistsError):
        history.import_branch(path, external_key="taken")
    assert cli("import", str(path), "--key", "taken").code == 1


def test_command_line_watches(cli: Cli, branch: Branch) -> None:
    name = str(branch.branch_id)
    lines = cli("watch", name, "--no-follow").out.splitlines()
    assert [line.split()[:2] for line in (lines[0], lines[-1])] == [["1", "created"], ["4", "view"]]
    assert lines[-1].endswith("view selected of 3")
    assert lines[1].split()[2].startswith("+")
    assert lines[1].endswith(" at 0")
    told = [json.loads(line) for line in cli("watch", name, "--no-follow", "--json").out.splitlines()]
    assert [change["revision"] for change in told] == [1, 2, 3, 4]
    assert told[1]["operations"][0]["index"] == 0
    rest = cli("watch", name, "--no-follow", "--json", "--after", told[2]["token"]).out
    assert json.loads(rest) == told[3]
    assert cli("watch", name, "--no-follow", "--after", "4").out == ""
    assert cli("watch", name, "--after", "x").code == 2

"""What every release of the contract put on the wire is read today, byte for byte, and was complete."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import descriptor_pb2
from google.protobuf.descriptor import Descriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message as ProtoMessage
from google.protobuf.message_factory import GetMessageClass

from antiphon.compiler.v1.compiler_service_pb2 import CompileResponse, StreamCompileResponse
from antiphon.history.v1.history_service_pb2 import ReadSnapshotResponse
from antiphon.message.v1.message_pb2 import Message
from antiphon_client.edge.unknown_fields import unknown_field_error
from antiphon_client.messages import UnknownMessage, from_proto, to_proto
from antiphon_client.snapshot import SnapshotAssembler
from antiphon_client.stream_compile import CompiledStream
from scripts import protos
from tests.contract import wire_fixtures
from tests.polyglot.digests import check_compiled, check_snapshot, check_stream
from tests.support import wire_files
from tests.support.branch_files import export_file, import_file
from tests.support.descriptors import ROLES, fields_below, fields_set
from tests.support.history import STORES, running
from tests.support.wire_files import RECORDINGS, Recorded, read_lines
from tests.support.wire_samples import message_types

VERSIONS = protos.releases()
TODAY = {type_.full_name: type_ for type_ in wire_fixtures.declared_types()}
ENTIRE_KIB = 1024


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    """Each released version in turn."""
    name: str = request.param
    return name


@pytest.fixture
def folder(version: str) -> Path:
    """Its recordings."""
    return wire_files.FOLDER / version


def types_of(version: str) -> dict[str, Descriptor]:
    """Every message type of a version by its full name, as the version's own image declares it."""
    image = descriptor_pb2.FileDescriptorSet.FromString(protos.image_of(version).read_bytes())
    pool = DescriptorPool()
    for file in image.file:
        pool.Add(file)
    ours = [file.name for file in image.file if file.package.startswith("antiphon.")]
    return {type_.full_name: type_ for type_ in message_types(pool, ours)}


def samples_of(version: str) -> dict[str, list[Any]]:
    """A version's samples by type, read with its own descriptors."""
    types = types_of(version)
    found: dict[str, list[ProtoMessage]] = defaultdict(list)
    for type_, _, data in read_lines(wire_files.FOLDER / version / wire_files.MESSAGES):
        found[type_].append(GetMessageClass(types[type_]).FromString(data))
    return found


def today(record: Recorded) -> ProtoMessage:
    """Read a recorded message with today's code."""
    return GetMessageClass(TODAY[record.type]).FromString(record.data)


def test_every_release_has_an_image_and_recordings() -> None:
    folders = {path.name for path in wire_files.FOLDER.iterdir() if not path.name.startswith(".")}
    assert VERSIONS
    assert folders == set(VERSIONS)


def test_a_release_is_small_enough_to_keep(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == {*RECORDINGS, wire_files.BRANCH_FILE}
    assert sum(path.stat().st_size for path in folder.iterdir()) < ENTIRE_KIB * 1024


@pytest.mark.parametrize("name", RECORDINGS)
def test_recorded_messages_are_read_and_written_again_to_the_same_bytes(folder: Path, name: str) -> None:
    records = read_lines(folder / name)
    assert len({(record.type, record.name) for record in records}) == len(records) > 1
    for record in records:
        message = today(record)
        again = message.SerializeToString(deterministic=True)
        assert unknown_field_error(message) is None, record[:2]
        if name == wire_files.SNAPSHOT:
            # The service splices frames: their fields may stand in another order than the library's.
            assert len(again) == len(record.data), record[:2]
            assert today(record._replace(data=again)) == message, record[:2]
        else:
            assert again == record.data, record[:2]


def test_every_message_type_and_every_field_is_in_a_sample_of_its_own_type(version: str) -> None:
    types, samples = types_of(version), samples_of(version)
    assert samples.keys() == types.keys()
    missing = [
        field.full_name
        for name, type_ in types.items()
        for field in type_.fields
        if all(field.name not in {set_.name for set_, _ in sample.ListFields()} for sample in samples[name])
    ]
    assert missing == []


def test_every_presence_is_in_a_sample_with_the_default(version: str) -> None:
    samples = samples_of(version)
    missing = [
        field.full_name
        for name, type_ in types_of(version).items()
        for field in type_.fields
        if field.has_presence and not any(_says_the_default(sample, field) for sample in samples[name])
    ]
    assert missing == []


def _says_the_default(message: Any, field: Any) -> bool:
    if not message.HasField(field.name):
        return False
    value = getattr(message, field.name)
    return not value.ByteSize() if field.message_type is not None else value == field.default_value


def test_every_enum_value_is_in_a_sample(version: str) -> None:
    samples = samples_of(version)
    seen: dict[str, set[int]] = defaultdict(set)
    declared: dict[str, set[int]] = {}
    for name, type_ in types_of(version).items():
        for field in type_.fields:
            if field.enum_type is None:
                continue
            declared[field.enum_type.full_name] = {value.number for value in field.enum_type.values} - {0}
            for sample in samples[name]:
                value = getattr(sample, field.name)
                seen[field.enum_type.full_name] |= set(value if field.is_repeated else [value])
    assert declared
    assert [name for name, numbers in declared.items() if numbers - seen[name]] == []


def test_stored_messages_of_every_kind_are_read_by_the_sdk_and_written_again(folder: Path) -> None:
    messages = [Message.FromString(record.data) for record in read_lines(folder / wire_files.STORED)]
    assert {message.WhichOneof("content") for message in messages} >= ROLES.keys()
    for message in messages:
        typed = from_proto(message)
        assert not isinstance(typed, UnknownMessage)
        again = to_proto(typed)
        assert again.SerializeToString(deterministic=True) == message.SerializeToString(deterministic=True)


def test_stored_messages_set_every_field_of_their_version(version: str) -> None:
    type_ = types_of(version)["antiphon.message.v1.Message"]
    read = GetMessageClass(type_).FromString
    found = [
        fields_set(read(record.data))
        for record in read_lines(wire_files.FOLDER / version / wire_files.STORED)
    ]
    assert fields_below(type_) - set().union(*found) == set()


def test_a_snapshot_stream_is_whole_and_has_the_stored_messages(folder: Path) -> None:
    frames = [
        ReadSnapshotResponse.FromString(record.data) for record in read_lines(folder / wire_files.SNAPSHOT)
    ]
    assert check_snapshot(frames) == 1
    assembler = SnapshotAssembler()
    for frame in frames:
        assembler.feed(frame)
    snapshot = assembler.result()
    stored = [record.data for record in read_lines(folder / wire_files.STORED)]
    assert list(snapshot.messages) == stored
    assert [message.id for message in snapshot.decode()] == list(snapshot.message_ids)
    assert snapshot.system is not None


def test_compiled_answers_have_the_digests_that_today_gives_them(folder: Path) -> None:
    replies = [CompileResponse.FromString(record.data) for record in read_lines(folder / wire_files.COMPILED)]
    assert sum(map(check_compiled, replies)) > len(replies) > 5


def test_a_compile_stream_is_whole_and_has_its_digests(folder: Path) -> None:
    frames = [
        StreamCompileResponse.FromString(record.data)
        for record in read_lines(folder / wire_files.COMPILE_STREAM)
    ]
    assert check_stream(frames) == 2
    stream = CompiledStream()
    assert [stream.feed(frame) for frame in frames].index(True) == len(frames) - 1
    assert check_compiled(stream.result()) == 2


@pytest.mark.anyio
@pytest.mark.parametrize("store", STORES)
async def test_a_branch_file_gives_the_stored_messages(folder: Path, store: str, tmp_path: Path) -> None:
    file = (folder / wire_files.BRANCH_FILE).read_bytes()
    async with running(store, tmp_path) as history:
        branch = (await import_file(history, file)).branch
        snapshot = await history.snapshot(branch.branch_id)
        again = await export_file(history, branch.branch_id)
    stored = [record.data for record in read_lines(folder / wire_files.STORED)]
    assert snapshot.bodies == stored
    # The first line and the last say where the file comes from; between them it is the same.
    assert again.splitlines()[1:-1] == file.splitlines()[1:-1]


class TestRecording:
    """The command, on folders of its own."""

    @pytest.fixture(autouse=True)
    def elsewhere(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Record below a test's own folder."""
        monkeypatch.setattr(wire_files, "FOLDER", tmp_path / "wire")
        monkeypatch.setattr(protos, "image_of", lambda version: tmp_path / "images" / f"{version}.binpb")
        monkeypatch.setattr(protos, "releases", lambda: sorted(p.stem for p in tmp_path.glob("images/*")))

    def test_it_records_all_of_the_contract_as_it_stands_and_alike_each_time(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert wire_fixtures.record("1.2.0") == 0, capsys.readouterr().err
        assert wire_fixtures.record("1.3.0") == 0, capsys.readouterr().err
        first, second = (wire_files.FOLDER / version for version in ("1.2.0", "1.3.0"))
        assert protos.image_of("1.2.0").read_bytes() == protos.image_of("1.3.0").read_bytes()
        for name in (*RECORDINGS, wire_files.BRANCH_FILE):
            assert (first / name).read_bytes() == (second / name).read_bytes(), name
        assert sorted(path.name for path in wire_files.FOLDER.iterdir()) == ["1.2.0", "1.3.0"]
        test_every_message_type_and_every_field_is_in_a_sample_of_its_own_type("1.2.0")
        test_every_presence_is_in_a_sample_with_the_default("1.2.0")
        test_every_enum_value_is_in_a_sample("1.2.0")
        test_stored_messages_set_every_field_of_their_version("1.2.0")

    @pytest.mark.parametrize("version", ["1.2", "v1.2.0", "1.2.0-rc1", "01.2.0", "", "../1.2.0"])
    def test_it_refuses_what_is_no_version(self, version: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert wire_fixtures.record(version) == 1
        assert "is no version" in capsys.readouterr().err
        assert not wire_files.FOLDER.exists()

    @pytest.mark.parametrize("kept", ["image", "recordings"])
    def test_it_never_overwrites(self, kept: str, capsys: pytest.CaptureFixture[str]) -> None:
        place = protos.image_of("1.2.0") if kept == "image" else wire_files.FOLDER / "1.2.0" / "kept"
        place.parent.mkdir(parents=True)
        place.write_text("kept")
        assert wire_fixtures.record("1.2.0") == 1
        assert "recorded already" in capsys.readouterr().err
        assert place.read_text() == "kept"

    def test_it_refuses_a_version_before_the_last(self, capsys: pytest.CaptureFixture[str]) -> None:
        image = protos.image_of("1.10.0")
        image.parent.mkdir()
        image.touch()
        assert wire_fixtures.record("1.9.0") == 1
        assert "older than 1.10.0" in capsys.readouterr().err

    def test_it_refuses_stubs_of_other_protos(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(protos, "check", lambda: 1)
        assert wire_fixtures.record("1.2.0") == 1
        assert "stubs" in capsys.readouterr().err
        assert not wire_files.FOLDER.exists()

"""Every field of every record of a branch file: what is not of its type, its range or its place is refused.

The cases are made from the contract's descriptors, so that a field added to it
is tried as well.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.json_format import MessageToDict
from google.protobuf.timestamp_pb2 import Timestamp

from antiphon.history.v1 import branch_pb2 as branch_pb
from antiphon.message.v1 import message_pb2 as message_pb
from antiphon_client.errors import AntiphonError, BranchNotFoundError, FieldInvalidError
from tests.support.branch_files import import_file, line_with, sealed
from tests.support.descriptors import ROLES, fields_below, messages
from tests.support.history import running, uuid_of

pytestmark = pytest.mark.anyio

PYTHON_TEXT = re.compile(
    r"\b(True|False|None|NoneType|dict|list|str|int|float|bool|tuple)\b|\w(Error|Exception)\b"
    r"|Traceback|has no attribute|strptime|time data|literal|codec|Failed to parse|out of range|day is"
)
TIMES: tuple[Any, ...] = (
    "yesterday",
    "2024-01-01",
    "2024-01-01T00:00:00",
    "2024-01-01 00:00:00Z",
    "2024-01-01t00:00:00z",
    "2024-13-01T00:00:00Z",
    "2023-02-29T00:00:00Z",
    "2024-01-01T24:00:00Z",
    "2024-01-01T00:60:00Z",
    "2024-01-01T00:00:60Z",
    "2024-01-01T00:00:00.Z",
    "2024-01-01T00:00:00.1234567890Z",
    "2024-01-01T00:00:00+99:99",
    "2024-01-01T00:00:00+24:00",
    "2024-01-01T00:00:00+23:60",
    "2024-01-01T00:00:00+1:00",
    "2024-01-01T00:00:00+0100",
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00+00:01",
    "9999-12-31T23:59:59-00:01",
    "٢٠٢٤-01-01T00:00:00Z",
    "2024-01-01T00:00:00Z\n",
    7,
    1.5,
    True,
    [],
    {},
    {"seconds": 1},
)
WRONG: dict[int, tuple[Any, ...]] = {
    FieldDescriptor.TYPE_STRING: (1, 1.5, True, False, [], ["x"], {}),
    FieldDescriptor.TYPE_BYTES: (
        1,
        True,
        [],
        {},
        "*",
        "é",
        "Q",
        "QQ=",
        "QQ===",
        "QR==",
        "Q=Q=",
        "QQ==QQ==",
        "Q Q=",
    ),
    FieldDescriptor.TYPE_ENUM: ("NOPE", "", "1", "01", 1.0, True, 99, -1, 2**40, [], {}),
    FieldDescriptor.TYPE_INT64: (
        1.0,
        1.5,
        True,
        False,
        2**63,
        -(2**63) - 1,
        str(2**63),
        "1.0",
        "1e2",
        "+1",
        "01",
        " 1",
        "1 ",
        "1_0",
        "٣",
        "x",
        "",
        [],
        {},
    ),
    FieldDescriptor.TYPE_MESSAGE: (1, 1.5, True, "x", [], [{}]),
}


class Place(NamedTuple):
    """A field within a record: the keys that lead to it."""

    record: dict[str, Any]
    keys: tuple[str | int, ...]
    field: FieldDescriptor

    @property
    def path(self) -> str:
        return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in self.keys)

    def changed(self, value: Any, *, beside: str = "") -> dict[str, Any]:
        """Return the record with another value here, or under another name beside."""
        record = copy.deepcopy(self.record)
        holder: Any = record
        for key in self.keys[:-1]:
            holder = holder[key]
        holder[beside or self.keys[-1]] = value
        return record

    @property
    def value(self) -> Any:
        value: Any = self.record
        for key in self.keys:
            value = value[key]
        return value


def _places(record: dict[str, Any], descriptor: Descriptor) -> Iterator[Place]:
    def below(value: dict[str, Any], keys: tuple[str | int, ...], descriptor: Descriptor) -> Iterator[Place]:
        for name, item in value.items():
            field = descriptor.fields_by_name[name]
            here = (*keys, name)
            yield Place(record, here, field)
            if field.message_type is not None and field.message_type.full_name.startswith("antiphon."):
                for index, each in enumerate(item if field.is_repeated else [item]):
                    yield from below(each, (*here, index) if field.is_repeated else here, field.message_type)

    return below(record, (), descriptor)


@cache
def message_places() -> dict[str, Place]:
    """Return a place for every field of every kind of message, by kind and path."""
    found: dict[str, Place] = {}
    for kind in ROLES:
        for message in messages(kind, 10, 90):
            if kind == "action_request":
                # Its other side is not in the file.
                message.action_request.ClearField("action_response_id")
            record = MessageToDict(message, preserving_proto_field_name=True)
            for place in _places(record, message_pb.Message.DESCRIPTOR):
                found.setdefault(f"{kind} {re.sub(r'[0-9]', '', place.path)}", place)
    return found


@cache
def branch_places() -> dict[str, Place]:
    """Return a place for every field of the first line's branch, by path."""
    branch = branch_pb.Branch(
        branch_id=uuid_of(1),
        external_key="k",
        parent_branch_id=uuid_of(2),
        lineage_id=uuid_of(3),
        incarnation=uuid_of(4),
        metadata_json="{}",
        revision=5,
        message_count=6,
        created_at=Timestamp(seconds=7),
        system_message_id=uuid_of(8),
        view_count=9,
        oldest_revision=1,
        forked_from=branch_pb.ForkPoint(branch_id=uuid_of(10), revision=11, up_to_message_id=uuid_of(12)),
    )
    record = MessageToDict(branch, preserving_proto_field_name=True)
    return {place.path: place for place in _places(record, branch_pb.Branch.DESCRIPTOR)}


def wrong_values(field: FieldDescriptor) -> Iterator[tuple[Any, str]]:
    """Yield values that are not of a field's type, each with where in it the fault is."""
    is_time = field.message_type is not None and field.message_type.full_name == "google.protobuf.Timestamp"
    wrong = TIMES if is_time else WRONG[field.type]
    if not field.is_repeated:
        yield from ((value, "") for value in wrong)
        return
    yield from ((value, "") for value in each(1, True, "x", {}))
    yield from (([value], "[0]") for value in each(None, *wrong))


def each(*values: Any) -> tuple[Any, ...]:
    """Return values of any types."""
    return values


def header(branch: Any, **more: Any) -> bytes:
    return json.dumps({"format": "antiphon.branch", "version": 1, "branch": branch} | more).encode()


async def refused(file: bytes, line: int, field: str, folder: Path) -> AntiphonError:
    """Import what must be refused; check what the error tells, and that nothing was made."""
    async with running("memory", folder) as history:
        with pytest.raises(AntiphonError) as caught:
            await import_file(history, file, branch_id=uuid_of(500))
        with pytest.raises(BranchNotFoundError):
            await history.branch(uuid_of(500))
    error = caught.value
    told = (error.message, error.metadata.get("line"), [violation.field for violation in error.violations])
    assert error.code == "INVALID_ARGUMENT", told
    assert error.message.startswith(f"line {line}: {field}"), told
    assert error.metadata["line"] == str(line), told
    assert field in [violation.field for violation in error.violations], told
    for text in (error.message, *(violation.description for violation in error.violations)):
        assert not PYTHON_TEXT.search(text), text
    return error


async def test_every_field_is_tried(tmp_path: Path) -> None:
    tried = {place.field.full_name for place in (*message_places().values(), *branch_places().values())}
    left = {"antiphon.message.v1.ActionRequestContent.action_response_id"}
    every = fields_below(message_pb.Message.DESCRIPTOR) | fields_below(branch_pb.Branch.DESCRIPTOR)
    assert every - tried == left
    # The records are good before anything is changed in them.
    async with running("memory", tmp_path) as history:
        for place in message_places().values():
            await import_file(history, sealed([header({}), line_with(place.record)]))
        for place in branch_places().values():
            await import_file(history, sealed([header(place.record)]))


@pytest.mark.parametrize("name", message_places())
async def test_values_that_no_message_can_have(name: str, tmp_path: Path) -> None:
    place = message_places()[name]
    for value, where in wrong_values(place.field):
        file = sealed([header({}), line_with(place.changed(value))])
        await refused(file, 2, f"message{place.path}{where}", tmp_path)


@pytest.mark.parametrize("name", branch_places())
async def test_values_that_no_branch_can_have(name: str, tmp_path: Path) -> None:
    place = branch_places()[name]
    for value, where in wrong_values(place.field):
        await refused(sealed([header(place.changed(value))]), 1, f"branch{place.path}{where}", tmp_path)
    below: dict[Any, tuple[Any, ...]] = {FieldDescriptor.TYPE_INT64: (-1, -5, "-1", -(2**63))}
    ids = ("X", uuid_of(0xA).upper(), uuid_of(1)[:-1])
    ranges = ids if name.endswith(("_id", "incarnation")) else below.get(place.field.type, ())
    for value in ranges:
        await refused(sealed([header(place.changed(value))]), 1, f"branch{place.path}", tmp_path)


@pytest.mark.parametrize("name", [*message_places(), *branch_places()])
async def test_a_field_comes_once_in_one_spelling(name: str, tmp_path: Path) -> None:
    of_message = name in message_places()
    place = message_places()[name] if of_message else branch_places()[name]
    spelling = place.field.json_name
    root, line = ("message", 2) if of_message else ("branch", 1)

    def file(record: dict[str, Any]) -> bytes:
        return sealed([header({}), line_with(record)]) if of_message else sealed([header(record)])

    if spelling != place.field.name:
        for value in (place.value, None):
            await refused(file(place.changed(value, beside=spelling)), line, f"{root}{place.path}", tmp_path)
    whole = file(place.record)
    key = json.dumps(place.field.name).encode() + b": "
    assert key in whole
    await refused(whole.replace(key, key + b"0, " + key, 1), line, "data", tmp_path)


@pytest.mark.parametrize("name", message_places())
async def test_unknown_fields_of_a_message_are_refused(name: str, tmp_path: Path) -> None:
    place = message_places()[name]
    for unknown in ("nope", "@type", "Id"):
        record = place.changed(1, beside=unknown)
        path = f"message{place.path}".rpartition(".")[0]
        await refused(sealed([header({}), line_with(record)]), 2, f"{path}.{unknown}", tmp_path)
    record = place.changed(1, beside="a b" * 100)
    await refused(sealed([header({}), line_with(record)]), 2, path, tmp_path)


async def test_unknown_fields_of_a_branch_are_skipped(tmp_path: Path) -> None:
    async with running("memory", tmp_path) as history:
        for place in branch_places().values():
            await import_file(history, sealed([header(place.changed([{"x": None}], beside="nope"))]))


async def test_one_of_several_alternatives(tmp_path: Path) -> None:
    record = message_places()["generic .id"].record
    for name, path in (("instruction", "instruction"), ("system", "system")):
        both = record | {name: {}}
        await refused(sealed([header({}), line_with(both)]), 2, f"message.{path}", tmp_path)
    both = record | {"sender": {"name": "n", "role": "ROLE_USER"}}
    await refused(sealed([header({}), line_with(both)]), 2, "message.sender.role", tmp_path)
    either = record | {"sender": {"name": "n", "role": None}, "instruction": None}
    async with running("memory", tmp_path) as history:
        await import_file(history, sealed([header({}), line_with(either)]))


async def test_what_a_message_must_have_and_its_rules(tmp_path: Path) -> None:
    record = message_places()["generic .id"].record
    cases: list[tuple[dict[str, Any], str]] = [
        ({"id": None}, "message.id"),
        ({"id": ""}, "message.id"),
        ({"id": "X"}, "message.id"),
        ({"id": uuid_of(0xA).upper()}, "message.id"),
        ({"created_at": None}, "message.created_at"),
        ({"generic": None}, "message.content"),
        ({"metadata_json": "[]"}, "message.metadata_json"),
        ({"metadata_json": '{"a":1,"a":2}'}, "message.metadata_json"),
        ({"sender": {}}, "message.sender.state"),
        ({"sender": {"role": "ROLE_TOOL"}}, "message.sender.role"),
        ({"generic": {"value_json": "NaN"}}, "message.generic.value_json"),
    ]
    for change, path in cases:
        await refused(sealed([header({}), line_with(record | change)]), 2, path, tmp_path)
        if None in change.values():
            absent = {key: value for key, value in record.items() if key not in change}
            await refused(sealed([header({}), line_with(absent)]), 2, path, tmp_path)
    for value in each(None, 1, 1.5, True, "x", [], [record]):
        file = sealed([header({}), json.dumps({"message": value}).encode()], messages=1)
        await refused(file, 2, "message", tmp_path)


async def test_first_lines_that_are_none(tmp_path: Path) -> None:
    right = {"format": "antiphon.branch", "version": 1, "branch": {}}
    cases: list[tuple[dict[str, Any], str]] = [
        *((right | {"format": value}, "format") for value in each(None, 1, True, [], "", "antiphon.other")),
        ({"version": 1, "format": "antiphon.branch", "branch": {}}, "format"),
        ({"message": {}}, "format"),
        *(
            (right | {"version": value}, "version")
            for value in each(None, 0, 2, -1, 1.0, True, "1", [], 2**70)
        ),
        ({"format": "antiphon.branch", "branch": {}}, "version"),
        *((right | {"branch": value}, "branch") for value in each(None, 1, True, "x", [])),
        ({"format": "antiphon.branch", "version": 1}, "branch"),
        (right | {"more": 1}, "more"),
        (right | {"message": {}}, "message"),
        (right | {"branch": {"metadata_json": "[]"}}, "branch.metadata_json"),
        (right | {"branch": {"metadata_json": "{"}}, "branch.metadata_json"),
        (right | {"branch": {"metadata_json": '{"current_progression":1}'}}, "branch.metadata_json"),
    ]
    for record, field in cases:
        await refused(sealed([json.dumps(record).encode()]), 1, field, tmp_path)


async def test_views_that_are_none(tmp_path: Path) -> None:
    message = message_places()["generic .id"].record
    lines = [header({"view_count": 1}), line_with(message)]
    known = message["id"]
    cases: list[tuple[Any, str]] = [
        *((value, "view") for value in each(None, 1, True, "x", {}, [])),
        *(
            ([value], "view[0]")
            for value in each(None, 1, 1.5, True, "", "X", [], {}, uuid_of(99), known.upper() + "0")
        ),
        ([known, known], "view[1]"),
        ([known, uuid_of(99)], "view[1]"),
    ]
    for value, field in cases:
        body = b"".join(line + b"\n" for line in (*lines, json.dumps({"view": value}).encode()))
        await refused(body, 3, field, tmp_path)
    more = json.dumps({"view": [known], "more": 1}).encode()
    await refused(b"\n".join((*lines, more, b"")), 3, "more", tmp_path)
    await refused(sealed([header({}), lines[1], json.dumps({"view": [known]}).encode()]), 3, "view", tmp_path)
    after = [*lines, json.dumps({"view": [known]}).encode(), line_with(message | {"id": uuid_of(77)})]
    await refused(sealed(after), 4, "message", tmp_path)


@pytest.mark.parametrize("with_view", [False, True])
async def test_footers_that_are_none(with_view: bool, tmp_path: Path) -> None:
    lines = [
        header({"view_count": 0} if with_view else {}),
        line_with(message_places()["generic .id"].record),
    ]
    counts: tuple[Any, ...] = (None, 0, 2, -1, 1.0, True, "1", [], {}, 2**70)
    cases: list[tuple[str, tuple[Any, ...]]] = [
        ("messages", counts),
        ("sha256", (None, 0, True, "", "0" * 64, [])),
        ("more", (None, 1)),
        ("view", (None, 1, -1, 0.0, False, "0", []) if with_view else (None, 0, 1, False)),
    ]
    for name, values in cases:
        for value in values:
            await refused(sealed(lines, **{name: value}), 3, f"end.{name}", tmp_path)
    good = json.loads(sealed(lines).splitlines()[-1])["end"]
    for name in good:
        body = b"".join(line + b"\n" for line in lines)
        less = {key: value for key, value in good.items() if key != name}
        await refused(body + json.dumps({"end": less}).encode() + b"\n", 3, f"end.{name}", tmp_path)
    upper = good | {"sha256": good["sha256"].upper()}
    for record, field in (({"end": upper}, "end.sha256"), ({"end": good, "more": 1}, "more")):
        await refused(body + json.dumps(record).encode() + b"\n", 3, field, tmp_path)
    for value in each(None, 1, True, "x", []):
        await refused(body + json.dumps({"end": value}).encode() + b"\n", 3, "end", tmp_path)


async def test_lines_that_are_no_record(tmp_path: Path) -> None:
    for line in (
        b"",
        b"null",
        b"1",
        b'"x"',
        b"[]",
        b"{}",
        b"{",
        b"{]}",
        b'{"x":NaN}',
        b'{"x":1}',
        b"{\xff}",
        b"{} {}",
    ):
        await refused(header({}) + b"\n" + line + b"\n", 2, "data", tmp_path)
    error = await refused(header({}) + b"\n" + b'{"message":{"id":1,"id":2}}\n', 2, "data", tmp_path)
    assert isinstance(error, FieldInvalidError)
    assert "duplicate key" in error.message


async def test_what_proto_json_leaves_open_is_read(tmp_path: Path) -> None:
    """Both spellings, numbers of enums, other offsets, and both alphabets of base64, padded or not."""
    record = {
        "id": uuid_of(1),
        "createdAt": "2024-01-01T01:00:00.5+01:00",
        "status": 1,
        "assistantResponse": {
            "blocks": [
                {"image": {"mimeType": "image/png", "data": text}}
                for text in ("-_-_-w==", "+/+/+w==", "-_-_-w")
            ]
        },
    }
    async with running("memory", tmp_path) as history:
        branch = (
            await import_file(history, sealed([header({"viewCount": "1"}), line_with(record)], view=0))
        ).branch
        stored = await history.get(branch.branch_id, uuid_of(1))
    assert branch.view_count == 0
    assert stored.created_at.ToJsonString() == "2024-01-01T00:00:00.500Z"
    assert stored.status == message_pb.MESSAGE_STATUS_INTERRUPTED
    assert [block.image.data for block in stored.assistant_response.blocks] == [b"\xfb\xff\xbf\xfb"] * 3

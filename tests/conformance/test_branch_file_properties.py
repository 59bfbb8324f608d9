"""Random branches: what is exported and imported exports the same again, to the byte."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.message.v1 import content_block_pb2 as block_pb
from antiphon.message.v1 import message_pb2 as message_pb
from antiphon_client.errors import AntiphonError
from antiphon_client.json_text import dump_json_text
from tests.support.branch_files import export_file, import_file, lines_of, sealed
from tests.support.history import History, action_result, call_action, running, summary, uuid_of

TEXTS = st.text(max_size=30) | st.sampled_from(
    ["\x00", "\u2028", "\u2029", "\u0085", "\r\n", "\ufeff", '"\\']
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
).map(dump_json_text)
OBJECTS = st.dictionaries(TEXTS, st.integers(), max_size=3).map(dump_json_text) | st.just("")
NUMBERS = st.integers(0, 9)
Block: Any = block_pb.ContentBlock


def optional(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


BLOCKS = st.one_of(
    TEXTS.map(lambda text: Block(text={"text": text})),
    VALUES.map(lambda value: Block(json={"value_json": value})),
    st.tuples(TEXTS, TEXTS).map(lambda texts: Block(thinking={"thinking": texts[0], "signature": texts[1]})),
    st.binary(min_size=1, max_size=20).map(
        lambda data: Block(image={"mime_type": "image/png", "data": data})
    ),
)


@st.composite
def messages(draw: st.DrawFn) -> message_pb.Message:
    """Draw a message of any kind, with any envelope."""
    message = message_pb.Message(
        id=uuid_of(draw(NUMBERS)), metadata_json=draw(OBJECTS), channel=draw(optional(TEXTS))
    )
    if draw(st.booleans()):
        message.created_at.seconds = draw(st.integers(-62135596800, 253402300799))
        message.created_at.nanos = draw(st.integers(0, 999_999_999))
    message.status = draw(st.sampled_from(message_pb.MessageStatus.values()))
    recipient = draw(st.sampled_from(["", "unset", "broadcast", "name", "role"]))
    if recipient == "name":
        message.recipient.name = draw(TEXTS.filter(bool))
    elif recipient == "role":
        message.recipient.role = message_pb.ROLE_USER
    elif recipient:
        getattr(message.recipient, recipient).SetInParent()
    kinds = ["system", "instruction", "assistant", "request", "response", "summary", "generic"]
    kind = draw(st.sampled_from(kinds))
    if kind == "system":
        message.system.CopyFrom(
            message_pb.SystemContent(system_message=draw(TEXTS), system_datetime=draw(optional(TEXTS)))
        )
    elif kind == "instruction":
        message.instruction.CopyFrom(
            message_pb.InstructionContent(
                instruction=draw(optional(TEXTS)),
                guidance_json=draw(optional(VALUES)),
                plain_content=draw(optional(TEXTS)),
                prompt_context_json=draw(st.lists(VALUES, max_size=2)),
                blocks=draw(st.lists(BLOCKS, max_size=2)),
            )
        )
    elif kind == "assistant":
        message.assistant_response.CopyFrom(
            message_pb.AssistantResponseContent(
                assistant_response=draw(TEXTS), blocks=draw(st.lists(BLOCKS, max_size=2))
            )
        )
    elif kind == "summary":
        first, last = draw(NUMBERS), draw(NUMBERS)
        message.MergeFrom(summary(0, first, last, draw(TEXTS.filter(lambda text: text.strip() != ""))))
        message.id = uuid_of(draw(NUMBERS))
    elif kind == "generic":
        message.generic.value_json = draw(VALUES)
        message.generic.SetInParent()
    elif kind == "request":
        message.MergeFrom(call_action(0))
        message.id = uuid_of(draw(NUMBERS))
        message.action_request.function = draw(TEXTS.filter(bool))
    else:
        message.MergeFrom(
            action_result(0, draw(optional(NUMBERS)), interim=draw(st.booleans()), output=draw(VALUES))
        )
        message.id = uuid_of(draw(NUMBERS))
    return message


@st.composite
def writes(draw: st.DrawFn) -> Any:
    """Draw a write; many are refused, which leaves the branch as it was."""
    branch = uuid_of(1000)
    match draw(st.integers(0, 9)):
        case 0:
            return pb.RemoveMessagesRequest(branch_id=branch, message_ids=[uuid_of(draw(NUMBERS))])
        case 1:
            return pb.MoveMessageRequest(
                branch_id=branch, message_id=uuid_of(draw(NUMBERS)), index=draw(NUMBERS)
            )
        case 2:
            ids = [uuid_of(number) for number in draw(st.lists(NUMBERS, max_size=3, unique=True))]
            return pb.SelectViewRequest(branch_id=branch, message_ids=ids)
        case 3:
            return pb.UpdateBranchRequest(branch_id=branch, metadata_json=draw(OBJECTS))
        case 4:
            stretch = summary(0, draw(NUMBERS), draw(NUMBERS)).summary
            ids = [uuid_of(number) for number in draw(st.lists(NUMBERS, max_size=2, unique=True))]
            return pb.CommitCompactionRequest(branch_id=branch, summary=stretch, view_message_ids=ids)
        case _:
            batch = draw(st.lists(messages(), min_size=1, max_size=4))
            return pb.AddMessagesRequest(branch_id=branch, messages=batch, allow_unresolved=True)


async def _round_trip(program: list[Any], folder: Path) -> None:
    async with running("memory", folder) as history:
        branch = await history.create(1000)
        for request in program:
            try:
                await history.call(request)
            except AntiphonError:
                continue
        file = await export_file(history, branch)
        copy = (await import_file(history, file, size=97)).branch.branch_id
        assert await _held(history, copy) == await _held(history, branch)
        assert lines_of(await export_file(history, copy))[1:-1] == lines_of(file)[1:-1]


async def _held(history: History, branch: str) -> tuple[Any, ...]:
    record = await history.branch(branch)
    order = await history.ids(branch)
    bodies = (await history.snapshot(branch, ids=order)).bodies
    return bodies, await history.view(branch), record.metadata_json, record.system_message_id


@settings(max_examples=150)
@given(program=st.lists(writes(), min_size=1, max_size=12))
def test_export_import_export_is_the_same(program: list[Any]) -> None:
    with TemporaryDirectory() as folder:
        asyncio.run(_round_trip(program, Path(folder)))


HEADER = b'{"format":"antiphon.branch","version":1,"branch":{"view_count":"0"}}'
NAMES = st.sampled_from(
    [
        "id",
        "created_at",
        "message",
        "view",
        "end",
        "instruction",
        "blocks",
        "sha256",
        "generic",
        "image",
        "@type",
    ]
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
    | st.just(uuid_of(1)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=10,
)
LINES = st.binary(max_size=60) | JSON.map(lambda value: dump_json_text(value).encode())


async def _fault(file: bytes, folder: Path) -> AntiphonError | None:
    """Import a file; return the error that refused it."""
    async with running("memory", folder) as history:
        try:
            await import_file(history, file, size=31)
        except AntiphonError as error:
            return error
    return None


def fault(file: bytes) -> AntiphonError | None:
    with TemporaryDirectory() as folder:
        return asyncio.run(_fault(file, Path(folder)))


def _is_counted(line: bytes) -> bool:
    return not line.startswith((b'{"message"', b'{"view"'))


@settings(max_examples=200)
@given(lines=st.lists(LINES.filter(_is_counted), max_size=4))
def test_no_line_brings_the_reader_down(lines: list[bytes]) -> None:
    for file in (b"\n".join(lines), sealed([HEADER, *(line.replace(b"\n", b"") for line in lines)])):
        error = fault(file)
        if error is not None:
            assert error.code == "INVALID_ARGUMENT"
            assert 1 <= int(error.metadata["line"]) <= file.count(b"\n") + 1


@settings(max_examples=200)
@given(value=JSON, name=st.sampled_from(["message", "view", "end"]))
def test_no_record_brings_the_reader_down(value: Any, name: str) -> None:
    line = dump_json_text({name: value}).encode()
    error = fault(HEADER + b"\n" + line + b"\n")
    assert error is not None
    assert error.code == "INVALID_ARGUMENT"
    assert error.metadata["line"] in ("2", "3")

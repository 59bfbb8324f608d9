"""ExportBranch and ImportBranch: a branch as a file, and back, with nothing lost and nothing half done."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.message.v1 import content_block_pb2 as block_pb
from antiphon.message.v1 import message_pb2 as message_pb
from antiphon_client.errors import (
    AntiphonError,
    BranchDeletedError,
    BranchExistsError,
    BranchNotFoundError,
    FieldInvalidError,
    RequestIdReusedError,
    RevisionInFutureError,
    SizeLimitExceededError,
)
from antiphon_client.limits import DEFAULT_LIMITS, Limits
from history_service.branch_file.reading import BranchFileReader
from history_service.branch_file.spool import MessageSpool
from tests.support.branch_files import (
    export_chunks,
    export_file,
    import_file,
    import_parts,
    line_with,
    lines_of,
    records_of,
    sealed,
)
from tests.support.history import (
    History,
    action_result,
    assistant,
    call_action,
    instruction,
    running,
    system,
    uuid_of,
)
from tests.support.watching import watching

pytestmark = pytest.mark.anyio

Block: Any = block_pb.ContentBlock
Message: Any = message_pb.Message
AWKWARD = 'a\x00b\u2028c\u0085d\u2029e\x0bf\x0cg\x1ch\ri\nj\U0001f600k\ufeff"\\/'


async def furnished(history: History, number: int = 1) -> str:
    """Make a branch with something of everything; return its id."""
    branch = await history.create(number, external_key=f"key {number}", metadata_json='{"n":1.0, "n2":1e2}')
    await history.system(branch, "policy", uuid_of(1))
    await history.add(
        branch, instruction(2, AWKWARD), call_action(3), call_action(4), assistant(5, AWKWARD), call_action(8)
    )
    await history.add(branch, action_result(6, request=3), action_result(7, request=4, interim=True))
    await history.add(branch, action_result(9, request=99), allow_unresolved=True)
    await history.call(pb.MoveMessageRequest(branch_id=branch, message_id=uuid_of(5), index=1))
    view = [uuid_of(n) for n in (6, 2)]
    await history.call(pb.SelectViewRequest(branch_id=branch, message_ids=view))
    return branch


async def state(history: History, branch: str, at: int | None = None) -> tuple[Any, ...]:
    """Return what must survive: the messages' bytes in order, the view, the metadata, the system record."""
    record = await history.branch(branch, at)
    order = await history.ids(branch, at)
    snapshot = await history.snapshot(branch, ids=order, at=at)
    return (
        snapshot.bodies,
        await history.view(branch, at),
        record.metadata_json,
        record.system_message_id,
        snapshot.header.system,
    )


async def test_branch_comes_back_whole(history: History) -> None:
    branch = await furnished(history)
    file = await export_file(history, branch)
    response = await import_file(history, file, branch_id=uuid_of(2), external_key="copy")
    copy, origin = response.branch, await history.branch(branch)
    assert not response.replayed
    assert await history.branch(copy.branch_id) == copy
    assert await state(history, copy.branch_id) == await state(history, branch)
    assert (copy.branch_id, copy.external_key, copy.revision) == (uuid_of(2), "copy", 1)
    assert copy.incarnation != origin.incarnation
    assert copy.lineage_id == copy.branch_id
    assert not copy.HasField("parent_branch_id")
    again = await export_file(history, copy.branch_id)
    assert lines_of(again)[1:-1] == lines_of(file)[1:-1]
    async with watching(history, copy.branch_id) as watcher:
        (created,) = await watcher.changes()
    assert (created.kind, created.revision) == (pb.BRANCH_CHANGE_KIND_CREATED, 1)


async def test_imported_branch_is_a_branch_like_any_other(history: History) -> None:
    file = await export_file(history, await furnished(history))
    branch = (await import_file(history, file)).branch.branch_id
    # Links: an interim answer does not answer, a final one does, an awaited request completes its link.
    await history.add(branch, action_result(20, request=4))
    assert (await history.get(branch, uuid_of(4))).action_request.action_response_id == uuid_of(20)
    await history.add(branch, call_action(99))
    assert (await history.get(branch, uuid_of(99))).action_request.action_response_id == uuid_of(9)
    await history.call(pb.RemoveMessagesRequest(branch_id=branch, message_ids=[uuid_of(6)]))
    assert not (await history.get(branch, uuid_of(3))).action_request.HasField("action_response_id")
    # Order and view: the next ones come last, the system record heads.
    assert await history.view(branch) == [uuid_of(n) for n in (2, 20, 99)]
    assert (await history.ids(branch))[-2:] == [uuid_of(20), uuid_of(99)]
    await history.system(branch, "another", uuid_of(21))
    assert (await history.ids(branch))[0] == uuid_of(21)
    await history.call(pb.MoveMessageRequest(branch_id=branch, message_id=uuid_of(99), index=1))
    assert (await history.ids(branch))[1] == uuid_of(99)


async def test_file_is_text_that_a_person_can_read(history: History) -> None:
    branch = await furnished(history)
    file = await export_file(history, branch)
    text = file.decode()
    assert text.splitlines() == text.split("\n")[:-1]
    header, *messages, view, end = records_of(file)
    assert list(header) == ["format", "version", "branch"]
    assert (header["format"], header["version"]) == ("antiphon.branch", 1)
    assert header["branch"]["metadata_json"] == '{"n":1.0, "n2":1e2}'
    assert header["branch"]["external_key"] == "key 1"
    assert messages[0]["message"]["system"] == {"system_message": "policy"}
    assert messages[2]["message"]["instruction"]["instruction"] == AWKWARD
    assert [record["message"]["id"] for record in messages] == await history.ids(branch)
    assert view == {"view": [uuid_of(6), uuid_of(2)]}
    assert end["end"] == {"messages": 9, "view": 2, "sha256": end["end"]["sha256"]}


async def test_any_retained_revision_can_be_exported(history: History) -> None:
    branch = await furnished(history)
    last = (await history.branch(branch)).revision
    for at in range(1, last + 1):
        copy = (await import_file(history, await export_file(history, branch, at))).branch.branch_id
        assert await state(history, copy) == await state(history, branch, at)
    with pytest.raises(RevisionInFutureError):
        await export_file(history, branch, last + 1)
    with pytest.raises(FieldInvalidError):
        await export_file(history, branch, 0)
    with pytest.raises(BranchNotFoundError):
        await export_file(history, uuid_of(77))


async def test_empty_branch_and_empty_view(history: History) -> None:
    branch = await history.create()
    assert len(records_of(await export_file(history, branch))) == 2
    await history.call(pb.SelectViewRequest(branch_id=branch))
    copy = (await import_file(history, await export_file(history, branch))).branch
    assert (copy.message_count, copy.HasField("view_count"), copy.view_count) == (0, True, 0)


async def test_every_field_of_a_message_survives(history: History) -> None:
    thinking = Block(thinking={"thinking": "", "signature": "s", "provider": "", "model": "m"})
    image = Block(image={"mime_type": "image/png", "data": bytes(range(256)), "detail": 1})
    cached = Block(text={"text": "t", "cache_control": {"type": "ephemeral", "ttl": ""}})
    message = Message(
        id=uuid_of(1),
        created_at={"seconds": -62135596800, "nanos": 1},
        sender={"name": "n"},
        recipient={"broadcast": {}},
        channel="",
        metadata_json='{"a": 1e400 }'.replace("1e400", "12345678901234567890.0"),
        status=message_pb.MESSAGE_STATUS_INTERRUPTED,
        assistant_response={"assistant_response": "", "blocks": [thinking, image, cached]},
    )
    other = Message(
        id=uuid_of(2),
        created_at={"seconds": 253402300799, "nanos": 999999999},
        recipient={"unset": {}},
        instruction={"instruction": "", "guidance": "", "plain_content": "", "prompt_context_json": ["1.0"]},
    )
    branch = await history.create()
    await history.add(branch, message, other)
    copy = (await import_file(history, await export_file(history, branch))).branch.branch_id
    assert await state(history, copy) == await state(history, branch)
    assert (await history.get(copy, uuid_of(1))).channel == ""


async def test_chunks_stay_within_a_frame(tmp_path: Path) -> None:
    async with running("memory", tmp_path, Limits(frame_bytes=1000)) as history:
        branch = await furnished(history)
        await history.add(branch, instruction(50, "x" * 5000))
        chunks = await export_chunks(history, branch)
        assert max(map(len, chunks)) < 1000
        assert await import_file(history, b"".join(chunks))


async def test_request_id_makes_an_import_happen_once_whatever_the_chunks(history: History) -> None:
    file = await export_file(history, await furnished(history))
    request_id = uuid_of(1000)
    first = await import_file(history, file, request_id=request_id, branch_id=uuid_of(2))
    for size in (1, 17, len(file) - 1, len(file)):
        again = await import_file(history, file, size=size, request_id=request_id, branch_id=uuid_of(2))
        assert again.replayed
        assert again.branch == first.branch
    with pytest.raises(RequestIdReusedError):
        await import_file(history, file, request_id=request_id, branch_id=uuid_of(3))
    other = await export_file(history, await history.create(9))
    with pytest.raises(RequestIdReusedError):
        await import_file(history, other, request_id=request_id, branch_id=uuid_of(2))


def test_a_line_in_tiny_chunks_costs_little_more_than_its_bytes() -> None:
    size = 200_000
    spool = MessageSpool()
    reader = BranchFileReader(spool, DEFAULT_LIMITS)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for start in range(0, size, 2):
            reader.feed(start.to_bytes(4)[2:].replace(b"\n", b" "))
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        spool.close()
    assert after - before < 3 * size


async def test_taken_ids_and_keys_are_refused(history: History) -> None:
    branch = await furnished(history)
    file = await export_file(history, branch)
    with pytest.raises(BranchExistsError):
        await import_file(history, file, branch_id=branch)
    with pytest.raises(BranchExistsError):
        await import_file(history, file, external_key="key 1")
    await history.call(pb.DeleteBranchRequest(branch_id=branch))
    with pytest.raises(BranchDeletedError):
        await import_file(history, file, branch_id=branch)
    await import_file(history, file, external_key="key 1")


async def refusal(history: History, file: bytes) -> AntiphonError:
    """Import what must be refused; return the error, after a look that nothing was made."""
    with pytest.raises(AntiphonError) as caught:
        await import_file(history, file, size=1000, branch_id=uuid_of(500))
    assert caught.value.code == "INVALID_ARGUMENT"
    with pytest.raises(BranchNotFoundError):
        await history.branch(uuid_of(500))
    return caught.value


async def test_file_cut_anywhere_is_refused_with_its_last_line(history: History) -> None:
    file = await export_file(history, await furnished(history))
    for end in range(len(file)):
        error = await refusal(history, file[:end])
        assert int(error.metadata["line"]) == file[:end].count(b"\n") + 1


async def test_one_byte_changed_anywhere_is_refused(history: History) -> None:
    file = await export_file(history, await furnished(history))
    for position in range(0, len(file), 7):
        changed = bytes([file[position] ^ 0x01])
        await refusal(history, file[:position] + changed + file[position + 1 :])


async def test_hostile_lines_are_refused_with_their_number(history: History) -> None:
    head, *lines = lines_of(await export_file(history, await furnished(history)))[:-1]
    view = lines.pop()
    good = records_of(b"\n".join(lines) + b"\n")[2]["message"]

    def with_message(**changes: Any) -> list[bytes]:
        return [head, line_with(good | {"id": uuid_of(70)} | changes)]

    deep = b'{"message":' + b"[" * 200 + b"]" * 200 + b"}"
    cases: list[tuple[list[bytes], int]] = [
        ([b""], 1),
        ([b"[]"], 1),
        ([b"{}"], 1),
        ([b"\xff\xfe"], 1),
        ([b"\xef\xbb\xbf" + head], 1),
        ([b" " + head], 1),
        ([head + b"\r"], 1),
        ([lines[0]], 1),
        ([head.replace(b'"version":1', b'"version":2')], 1),
        ([head.replace(b'"version":1', b'"version":true')], 1),
        ([head.replace(b'"version":1', b'"version":"1"')], 1),
        ([head.replace(b"antiphon.branch", b"antiphon.other")], 1),
        ([b'{"format":"antiphon.branch","version":1}'], 1),
        ([b'{"format":"antiphon.branch","version":1,"branch":[]}'], 1),
        ([b'{"format":"antiphon.branch","version":1,"branch":{"metadata_json":"[]"}}'], 1),
        ([b'{"format":"antiphon.branch","version":1,"branch":{"metadata_json":7}}'], 1),
        (
            [
                b'{"format":"antiphon.branch","version":1,"branch":{"metadata_json":'
                b'"{\\"current_progression\\":1}"}}'
            ],
            1,
        ),
        ([head, head], 2),
        ([head, b""], 2),
        ([head, b"null"], 2),
        ([head, b'{"other":{}}'], 2),
        ([head, b'{"message":{},"message":{}}'], 2),
        ([head, lines[0][:-1] + b',"more":1}'], 2),
        ([head, lines[0] + b" "], 2),
        ([head, b'{"message":null}'], 2),
        ([head, b'{"message":[]}'], 2),
        ([head, b'{"message":{}}'], 2),
        ([head, deep], 2),
        ([head, b'{"message":{"id":"\\ud800"}}'], 2),
        ([head, b'{"message":{"id":NaN}}'], 2),
        (with_message(id="X"), 2),
        (with_message(id=None), 2),
        (with_message(created_at=None), 2),
        (with_message(created_at="yesterday"), 2),
        (with_message(created_at=7), 2),
        (with_message(unknown=1), 2),
        (with_message(instruction=None), 2),
        (with_message(instruction=[1]), 2),
        (with_message(instruction={"images": "x"}), 2),
        (with_message(instruction={"images": ["ftp://x"]}), 2),
        (with_message(generic={"value_json": "1"}), 2),
        (with_message(metadata_json="nothing"), 2),
        (with_message(status="MESSAGE_STATUS_NONE"), 2),
        ([head, lines[0], lines[1], lines[1]], 4),
        ([head, lines[1], lines[0]], 3),
        ([head, *lines, view, lines[1]], len(lines) + 3),
        ([head, *lines, view, view], len(lines) + 3),
        ([head, *lines, b'{"view":["' + uuid_of(77).encode() + b'"]}'], len(lines) + 2),
        ([head, *lines, b'{"view":[]}'], len(lines) + 2),
        ([head, *lines, b'{"view":[1]}'], len(lines) + 2),
        ([head, *lines, b'{"view":[[]]}'], len(lines) + 2),
        ([head, *lines, b'{"view":"x"}'], len(lines) + 2),
        ([head, b'{"end":[]}'], 2),
        ([head, b'{"end":{}}'], 2),
    ]
    for start, line in cases:
        error = await refusal(history, b"".join(part + b"\n" for part in start))
        assert error.metadata["line"] == str(line), (start[-1], error.message)


async def test_wrong_footers_are_refused(history: History) -> None:
    lines = lines_of(await export_file(history, await furnished(history)))[:-1]
    number = str(len(lines) + 1)
    for wrong in ({"messages": 8}, {"view": 3}, {"view": None}, {"sha256": "0" * 64}, {"sha256": None}):
        assert (await refusal(history, sealed(lines, **wrong))).metadata["line"] == number
    assert (await refusal(history, sealed(lines) + b"\n")).metadata["line"] == str(len(lines) + 2)
    assert (await refusal(history, sealed(lines) + sealed(lines))).metadata["line"] == str(len(lines) + 2)
    no_view = json.loads(lines[0])
    del no_view["branch"]["view_count"]
    without = [json.dumps(no_view, separators=(",", ":")).encode(), *lines[1:]]
    assert (await refusal(history, sealed(without))).metadata["line"] == str(len(lines))
    await import_file(history, sealed(lines))


async def test_links_that_no_branch_can_have_are_refused(history: History) -> None:
    branch = await history.create()
    await history.add(branch, call_action(1), call_action(2), action_result(3, request=1), action_result(4))
    head, *lines = lines_of(await export_file(history, branch))[:-1]
    asked, other, answer, loose = (json.loads(line)["message"] for line in lines)

    def changed(message: dict[str, Any], content: str, **fields: Any) -> dict[str, Any]:
        return message | {content: message[content] | fields}

    request, response, interim = "action_request", "action_response", "ACTION_RESPONSE_STATE_INTERIM"

    def circle(length: int, **fields: Any) -> list[dict[str, Any]]:
        """Make responses that name each other all round."""
        return [
            changed(loose, response, action_request_id=uuid_of(30 + (number + 1) % length), **fields)
            | {"id": uuid_of(30 + number)}
            for number in range(length)
        ]

    cases = [
        ([other, asked], 3),
        ([changed(asked, request, action_response_id=None), answer], 3),
        ([changed(asked, request, action_response_id=uuid_of(4)), answer, loose], 2),
        ([asked, answer, changed(loose, response, action_request_id=uuid_of(1))], 4),
        ([asked, changed(answer, response, state=interim)], 2),
        ([asked, changed(other, request, action_response_id=uuid_of(3)), answer], 3),
        ([changed(other, request, action_response_id=uuid_of(3)), asked, answer], 2),
        ([changed(asked, request, action_response_id="X"), answer], 2),
        ([changed(asked, request, action_response_id=uuid_of(77)), answer], 2),
        ([changed(asked, request, action_response_id=asked["id"]), answer], 2),
        ([changed(loose, response, action_request_id=loose["id"])], 2),
        ([changed(loose, response, action_request_id=loose["id"], state=interim)], 2),
        ([changed(loose, response, action_request_id=other["id"]), other], 2),
        ([asked, answer, *circle(2)], 4),
        ([asked, answer, *circle(3, state=interim)], 4),
        ([other, asked, changed(answer, response, action_request_id=other["id"])], 3),
    ]
    for messages, line in cases:
        error = await refusal(history, sealed([head, *map(line_with, messages)]))
        assert error.metadata["line"] == str(line), messages
        (violation,) = error.violations
        at_fault = messages[line - 2]
        field = "action_response_id" if request in at_fault else "action_request_id"
        content = request if request in at_fault else response
        assert violation.field == f"message.{content}.{field}"
    # Two answers to a request that is not there cannot both complete its link.
    twice = [answer, changed(loose, response, action_request_id=uuid_of(1))]
    assert (await refusal(history, sealed([head, *map(line_with, twice)]))).metadata["line"] == "3"
    await import_file(history, sealed([head, *map(line_with, [asked, other, answer, loose])]))


async def test_links_that_a_branch_can_have_come_back(history: History) -> None:
    """Responses await a request that is not there, also where another record has its id by now."""
    branch = await history.create()
    await history.add(branch, action_result(1, request=99), allow_unresolved=True)
    for waiting, other in (
        (2, instruction(12)),
        (3, action_result(13)),
        (4, action_result(14, interim=True)),
    ):
        await history.add(branch, action_result(waiting, request=waiting + 10), allow_unresolved=True)
        await history.add(branch, other)
    for number in (20, 21, 22):
        await history.add(branch, action_result(number, request=number + 1), allow_unresolved=True)
    await history.add(branch, call_action(7), action_result(8, request=7, interim=True))
    await history.add(branch, action_result(10, request=7, interim=True), action_result(9, request=7))
    copy = (await import_file(history, await export_file(history, branch))).branch.branch_id
    assert await state(history, copy) == await state(history, branch)


async def test_hand_written_message_is_completed_as_any_other(history: History) -> None:
    head = lines_of(await export_file(history, await history.create()))[0]
    message = {
        "id": uuid_of(1),
        "createdAt": "2024-01-01T00:00:00Z",
        "role": "ROLE_SYSTEM",
        "instruction": {"instruction": "hi"},
    }
    branch = (await import_file(history, sealed([head, line_with(message)]))).branch.branch_id
    stored = await history.get(branch, uuid_of(1))
    assert stored.role == message_pb.ROLE_USER
    assert stored.instruction.image_detail == block_pb.IMAGE_DETAIL_AUTO


async def test_parts_come_in_their_order(history: History) -> None:
    file = await export_file(history, await history.create())
    head, data = pb.ImportBranchRequest(head=pb.ImportHead()), pb.ImportBranchRequest(data=file)
    for parts in ([], [data], [head, head, data], [head, pb.ImportBranchRequest()], [head]):
        with pytest.raises(FieldInvalidError):
            await import_parts(history, parts)
    heads: list[dict[str, Any]] = [
        {"branch_id": "X"},
        {"external_key": ""},
        {"external_key": "k" * 513},
        {"request_id": "X"},
    ]
    for wrong in heads:
        with pytest.raises(FieldInvalidError):
            await import_file(history, file, **wrong)


async def test_sizes_are_bounded(tmp_path: Path) -> None:
    async with running("memory", tmp_path) as history:
        branch = await history.create()
        await history.add(branch, instruction(1, "x" * 3000))
        file = await export_file(history, branch)
    for limits, name in (
        (Limits(import_bytes=len(file) - 1), "import_bytes"),
        (Limits(message_bytes=1000), "message_bytes"),
        (Limits(message_bytes=100), "message_bytes"),
    ):
        async with running("memory", tmp_path, limits) as history:
            with pytest.raises(SizeLimitExceededError) as caught:
                await import_file(history, file, size=1000)
            assert caught.value.metadata["limit_name"] == name
            assert name == "import_bytes" or caught.value.metadata["line"] == "2"


async def test_an_open_request_leaves_room_for_its_answer(tmp_path: Path) -> None:
    async with running("memory", tmp_path, Limits(message_bytes=1000)) as history:
        head = lines_of(await export_file(history, await history.create()))[0]

        def file(size: int) -> bytes:
            request = {"function": "f" * size}
            message = {"id": uuid_of(1), "created_at": "2024-01-01T00:00:00Z", "action_request": request}
            return sealed([head, line_with(message)])

        error = await refusal(history, file(930))
        assert (error.metadata["limit_name"], error.metadata["line"]) == ("message_bytes", "2")
        most = 930
        while not await taken(history, file(most), most):
            most -= 1
        assert 890 < most < 930
        # Answered, it is as large as a message may be, and goes out and in again.
        branch = uuid_of(1000 + most)
        await history.add(branch, action_result(2, request=1))
        copy = (await import_file(history, await export_file(history, branch))).branch.branch_id
        assert await state(history, copy) == await state(history, branch)


async def taken(history: History, file: bytes, number: int) -> bool:
    """Import a file as a branch with a number; tell whether it was taken."""
    try:
        await import_file(history, file, branch_id=uuid_of(1000 + number))
    except SizeLimitExceededError:
        return False
    return True


async def test_system_record_of_a_long_branch(history: History) -> None:
    branch = await history.create()
    await history.add(branch, system(1), *(instruction(number) for number in range(2, 700)))
    copy = (await import_file(history, await export_file(history, branch))).branch.branch_id
    assert await state(history, copy) == await state(history, branch)

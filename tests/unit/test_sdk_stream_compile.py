"""Putting streamed compilations together, and refusing broken ones."""

from __future__ import annotations

import pytest

from antiphon.compiler.v1 import compiled_message_pb2, target_pb2
from antiphon.compiler.v1 import compiler_service_pb2 as pb
from antiphon.message.v1 import content_block_pb2, message_pb2
from antiphon_client.compiled_codec import compile_notes
from antiphon_client.errors import AntiphonError, StreamIncompleteError
from antiphon_client.stream_compile import CompiledStream

USER = message_pb2.ROLE_USER


def start(index: int) -> pb.StreamCompileResponse:
    return pb.StreamCompileResponse(message_start=pb.MessageStart(index=index, role=USER))


def end(index: int) -> pb.StreamCompileResponse:
    return pb.StreamCompileResponse(message_end=pb.MessageEnd(index=index))


def text(value: str) -> pb.StreamCompileResponse:
    return pb.StreamCompileResponse(text_chunk=pb.TextChunk(text=value))


def part(index: int, value: str) -> pb.StreamCompileResponse:
    return pb.StreamCompileResponse(part_chunk=pb.PartChunk(part_index=index, text=value))


def image(index: int, url: str) -> pb.StreamCompileResponse:
    piece = compiled_message_pb2.ImageUrl(url=url, detail=content_block_pb2.IMAGE_DETAIL_HIGH)
    return pb.StreamCompileResponse(part_chunk=pb.PartChunk(part_index=index, image_url=piece))


def result(count: int, *, last: bool = True, notes: int = 0) -> pb.StreamCompileResponse:
    report = [compiled_message_pb2.CompileNote(reason=str(n)) for n in range(notes)]
    return pb.StreamCompileResponse(
        result=pb.Result(message_count=count, last=last, report=report, messages_digest="d" if last else "")
    )


def whole(index: int) -> pb.StreamCompileResponse:
    call = compiled_message_pb2.Part(tool_call=compiled_message_pb2.CompiledCall(id="c", name="f"))
    return pb.StreamCompileResponse(part_chunk=pb.PartChunk(part_index=index, whole=call))


def request(value: str) -> pb.StreamCompileResponse:
    return pb.StreamCompileResponse(request_chunk=pb.RequestChunk(text=value))


def assembled(*frames: pb.StreamCompileResponse) -> pb.CompileResponse:
    stream = CompiledStream()
    for frame in frames:
        stream.feed(frame)
    return stream.result()


def test_chunks_join_into_messages_and_reports_into_one() -> None:
    response = assembled(
        start(0), text("a"), text("b"), end(0),
        start(1), part(0, "x"), part(0, "y"), image(1, "http://"), image(1, "h/i"), end(1),
        start(2), end(2),
        result(0, last=False, notes=2), result(3, notes=1),
    )  # fmt: skip
    assert [m.WhichOneof("content") for m in response.messages] == ["text", "parts", "text"]
    assert response.messages[0].text == "ab"
    first, second = response.messages[1].parts.parts
    assert (first.text.text, second.image_url.url) == ("xy", "http://h/i")
    assert second.image_url.detail == content_block_pb2.IMAGE_DETAIL_HIGH
    assert (len(response.report), response.messages_digest) == (3, "d")


def test_whole_parts_requests_and_system_text() -> None:
    alone = pb.StreamCompileResponse(result=pb.Result(system_text="policy"))
    last = pb.Result(
        message_count=1,
        last=True,
        request_digest="r",
        capability_version="1",
        tokens=compiled_message_pb2.TokenCount(counter="estimate", total=5),
        action_names=[target_pb2.ActionName(name="a.b", provider_name="a_b")],
    )
    response = assembled(
        start(0), part(0, "x"), whole(1), part(2, "y"), end(0),
        request('{"a"'), request(":1}"), alone, pb.StreamCompileResponse(result=last),
    )  # fmt: skip
    parts = response.messages[0].parts.parts
    assert [each.WhichOneof("part") for each in parts] == ["text", "tool_call", "text"]
    assert (response.provider_request_json, response.request_digest) == ('{"a":1}', "r")
    assert (response.system_text, response.capability_version) == ("policy", "1")
    assert (response.tokens.total, response.action_names[0].provider_name) == (5, "a_b")
    assert not response.HasField("instruction")


def test_what_did_not_come_is_absent() -> None:
    response = assembled(result(0))
    for name in ("provider_request_json", "request_digest", "capability_version", "system_text", "tokens"):
        assert not response.HasField(name)


def test_only_the_last_result_ends_the_stream() -> None:
    stream = CompiledStream()
    assert stream.feed(result(0, last=False)) is False
    assert stream.feed(result(0)) is True


@pytest.mark.parametrize(
    "frames",
    [
        [],
        [start(0), text("a")],
        [start(0), text("a"), end(0)],
        [start(0), end(0), result(1, last=False)],
        [start(0), end(0), result(2)],
        [start(0), result(0)],
        [start(1)],
        [start(0), start(1)],
        [text("a")],
        [end(0)],
        [start(0), end(1)],
        [start(0), part(1, "x")],
        [start(0), part(0, "x"), part(1, "y"), part(0, "z")],
        [start(0), whole(0), whole(0), end(0)],
        [pb.StreamCompileResponse()],
    ],
)
def test_broken_streams_are_errors(frames: list[pb.StreamCompileResponse]) -> None:
    with pytest.raises(StreamIncompleteError) as caught:
        assembled(*frames)
    assert isinstance(caught.value, AntiphonError)


def test_a_note_of_a_newer_kind_is_read_by_its_number() -> None:
    newer = compiled_message_pb2.CompileNote.FromString(b"\x08\xe7\x07\x1a\x03why")
    known = compiled_message_pb2.CompileNote(kind=compiled_message_pb2.COMPILE_NOTE_KIND_RESULTS_MOVED)
    assert [note.kind for note in compile_notes([newer, known])] == ["999", "RESULTS_MOVED"]

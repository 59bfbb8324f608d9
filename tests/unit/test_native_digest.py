"""NATIVE's digest and encoding against the proto, the digest written out a second time."""

from __future__ import annotations

from hypothesis import given, settings

from antiphon.message.v1.message_pb2 import Message
from tests.support.compiler import compile_inline, reassemble, stream_inline
from tests.support.digests import digest_of
from tests.support.native import (
    assistant,
    block,
    call,
    compile_native,
    mark,
    native_request,
    result,
    text_block,
    unsigned,
    user,
)
from tests.support.native_strategies import CACHED, IMAGE, JSON, LINK, OPAQUE, broken_histories

EVERYTHING = [
    user(1, "naïve"),
    user(2, None, blocks=[CACHED, IMAGE, LINK, JSON, OPAQUE], guidance="g"),
    assistant(3, "東京", unsigned("hm"), OPAQUE, mark("c")),
    call(4, "c", arguments='{"a":1.0}', arguments_text="{a", thought_signature=""),
    result(5, 4, '"ok"', blocks=[IMAGE, LINK, JSON], error="e"),
    call(6, "d"),
]


def test_a_known_digest() -> None:
    """A value that no release may change."""
    response = compile_native(EVERYTHING, "go", system="policy")
    assert response.messages_digest == digest_of(response)
    assert response.messages_digest == "17e9d4e615af7203887d911dccadbd138cd1b84ee03d88ee0189b1a9d15a0836"


def test_the_system_text_and_every_flag_enter() -> None:
    digests = {
        compile_native(EVERYTHING, "go", system=system).messages_digest for system in (None, "", "policy")
    }
    assert len(digests) == 3
    answers: list[list[Message]] = [
        [],
        [result(2, 1, '"x"')],
        [result(2, 1, '"x"', error="x")],
        [result(2, 1, error="x")],
        [result(2, 1, '{"x":1}')],
        [result(2, 1, '{"x": 1}')],
    ]
    assert len({compile_native([call(1, "c"), *each], "go").messages_digest for each in answers}) == 6


def test_ids_of_records_and_cache_marks_do_not_enter() -> None:
    first = compile_native([user(1, None, blocks=[CACHED]), assistant(2, "a")], "go")
    other = compile_native([user(8, "cached"), assistant(9, "a")], "go")
    assert first.messages != other.messages
    marked, plain = (
        compile_native([user(1, None, blocks=[each, IMAGE])], "go") for each in (CACHED, text_block("cached"))
    )
    assert marked.messages != plain.messages
    assert marked.messages_digest == plain.messages_digest


def test_an_image_at_an_address_travels_with_its_media_type_where_it_has_one() -> None:
    typed = block(image={"url": "https://example.com/a.png", "mime_type": "image/png"})
    request = native_request([user(1, None, blocks=[LINK, typed])], "go")
    response = compile_inline(request)
    parts = response.messages[0].parts.parts
    assert [part.WhichOneof("part") for part in parts] == ["image_url", "image"]
    assert (parts[1].image.url, parts[1].image.mime_type) == ("https://example.com/a.png", "image/png")
    assert response.messages_digest == digest_of(response)
    assert reassemble(stream_inline(request)) == response


@settings(max_examples=150)
@given(broken_histories())
def test_a_reply_carries_the_digest_of_its_messages(history: list[Message]) -> None:
    response = compile_native(history, "go", system="s")
    assert response.messages_digest == digest_of(response)


@settings(max_examples=150)
@given(broken_histories())
def test_a_stream_is_the_reply_in_frames(history: list[Message]) -> None:
    request = native_request(history, "go", system="s")
    assert reassemble(stream_inline(request)) == compile_inline(request)

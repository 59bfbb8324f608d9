"""The digest against its definition in the proto, written out a second time."""

from __future__ import annotations

import hashlib
import struct

from hypothesis import given
from hypothesis import strategies as st

from antiphon.compiler.v1.compiler_service_pb2 import CompileResponse
from antiphon.message.v1 import content_block_pb2, message_pb2
from compiler_service.digest import messages_digest
from compiler_service.state import CompiledTurn, TurnImage
from tests.support.compiler import compile_inline, request_of

TEXTS = st.text(max_size=20)
IMAGES = st.builds(TurnImage, TEXTS, st.sampled_from(list(content_block_pb2.ImageDetail.values())))
ROLES = st.sampled_from([message_pb2.ROLE_USER, message_pb2.ROLE_ASSISTANT])
TURNS = st.lists(st.builds(CompiledTurn, ROLES, TEXTS, st.lists(IMAGES, max_size=3).map(tuple)), max_size=4)


def by_the_proto(turns: list[CompiledTurn]) -> str:
    def string(text: str) -> bytes:
        return struct.pack(">Q", len(text.encode("utf-8"))) + text.encode("utf-8")

    form = b"antiphon.compiled.v1" + b"\0"
    for role, text, images, _ in turns:
        form += struct.pack("B", role)
        if not images:
            form += b"\1" + string(text)
            continue
        form += b"\2" + struct.pack(">I", 1 + len(images)) + b"\1" + string(text)
        for url, detail in images:
            form += b"\2" + string(url) + struct.pack("B", detail)
    return hashlib.sha256(form).hexdigest()


@given(TURNS)
def test_the_digest_is_that_of_the_canonical_form(turns: list[CompiledTurn]) -> None:
    assert messages_digest(turns) == by_the_proto(turns)


def test_known_digests() -> None:
    """Values that no release may change."""
    assert messages_digest([]) == "88db66c0c51449edb00b712884ac6ff55d539a5f606031ea6b0562a1627e3be4"
    assert (
        messages_digest(
            [
                CompiledTurn(message_pb2.ROLE_USER, "Instruction: naïve"),
                CompiledTurn(message_pb2.ROLE_ASSISTANT, "東京"),
                CompiledTurn(
                    message_pb2.ROLE_USER,
                    "",
                    (TurnImage("https://example.com/a.png", content_block_pb2.IMAGE_DETAIL_LOW),),
                ),
            ]
        )
        == "19385c7974c1a4b4cfc08cc0bfeb1fd8da0cf3e5d417b05fcf7d92d2f8c52021"
    )


def turns_of(response: CompileResponse) -> list[CompiledTurn]:
    turns = []
    for compiled in response.messages:
        if compiled.WhichOneof("content") == "text":
            turns.append(CompiledTurn(compiled.role, compiled.text))
        else:
            text, *images = compiled.parts.parts
            urls = tuple(TurnImage(part.image_url.url, part.image_url.detail) for part in images)
            turns.append(CompiledTurn(compiled.role, text.text.text, urls))
    return turns


def test_a_reply_carries_the_digest_of_its_messages() -> None:
    response = compile_inline(
        request_of(
            {
                "history": [
                    {"type": "instruction", "content": {"images": ["https://example.com/a.png"]}},
                    {"type": "assistant_response", "content": {"assistant_response": "b"}},
                ],
                "instruction": {"instruction": "c"},
            }
        )
    )
    assert len(response.messages) == 3
    assert response.messages_digest == by_the_proto(turns_of(response))

"""FOLDED and a response's blocks: what the display text does not say is noted."""

from __future__ import annotations

import pytest

from antiphon.compiler.v1.compiler_service_pb2 import PROFILE_FOLDED
from antiphon.message.v1.content_block_pb2 import ContentBlock
from tests.support.compiler import compile_inline, mid, notes_of
from tests.support.native import assistant, block, mark, native_request, text_block, unsigned, user

IMAGE = block(image={"url": "https://example.com/a"})
NOTED = ("BLOCKS_NOT_RENDERED", [mid(2)])


def notes(text: str, *blocks: ContentBlock) -> list[tuple[str, list[str]]]:
    request = native_request([user(1, "a"), assistant(2, text, *blocks)], "go")
    request.profile = PROFILE_FOLDED
    return [note for note in notes_of(compile_inline(request)) if note[0] == NOTED[0]]


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("shown", [text_block("another")]),
        ("shown", [text_block("shown"), text_block("more")]),
        ("shown", [text_block("\n"), mark("c"), text_block("more")]),
        (" ", [text_block("said")]),
        ("", [text_block("said")]),
        ("shown", [text_block("shown"), IMAGE]),
        ("shown", [unsigned("hm")]),
    ],
)
def test_blocks_that_say_something_else_than_the_text_are_noted(
    text: str, blocks: list[ContentBlock]
) -> None:
    assert notes(text, *blocks) == [NOTED]


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("shown", [text_block("shown")]),
        ("ab", [text_block("a"), mark("c"), text_block("b")]),
        ("a\n\nb", [text_block("a"), text_block("b")]),
        ("shown", [text_block(" ")]),
        ("shown", [text_block(" "), text_block("shown")]),
        ("shown", [mark("c")]),
        ("", [mark("c")]),
    ],
)
def test_blocks_that_say_what_the_text_says_are_not(text: str, blocks: list[ContentBlock]) -> None:
    assert notes(text, *blocks) == []

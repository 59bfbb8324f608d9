"""Hypothesis strategies of NATIVE histories, broken ones above all."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from antiphon.message.v1.content_block_pb2 import ContentBlock
from antiphon.message.v1.message_pb2 import Message
from tests.support.compiler import mid
from tests.support.native import (
    EXCLUDED,
    INTERIM,
    INTERRUPTED,
    assistant,
    block,
    call,
    generic,
    mark,
    result,
    signed,
    summary,
    text_block,
    unsigned,
    user,
)

CALL_IDS = st.sampled_from(["c0", "c1", "call_0", "", None])
"""Few, so that they are used again."""
TEXTS = st.sampled_from(["", " ", "a", "b\nc", "naïve 東京", "\u2003"])
OUTPUTS = st.sampled_from(['""', '" "', '"text"', '{"b":1.0,"a":[]}', "null", "0", None])
STATUSES = st.sampled_from([0] * 8 + [INTERRUPTED, EXCLUDED])
IMAGE = block(image={"mime_type": "image/png", "data": b"\x00\x89"})
LINK = block(image={"url": "https://example.com/a.png", "detail": 1})
OPAQUE = block(opaque={"provider": "p", "model": "m", "kind": "k", "data_json": "[1.0]"})
JSON = block(json={"value_json": "{ }"})
CACHED = block(text={"text": "cached", "cache_control": {"type": "ephemeral"}})
MARKS = st.sampled_from(["c0", "c1", "call_0", ""]).map(mark)
TEXT_BLOCKS = [text_block("t"), text_block(" "), text_block(""), CACHED]
THINKING = [signed("s"), signed("", "other"), unsigned("u"), unsigned("")]
OTHER_BLOCKS = [IMAGE, LINK, OPAQUE, JSON]
BLOCKS = st.lists(st.sampled_from([*TEXT_BLOCKS, *THINKING, *OTHER_BLOCKS]) | MARKS, max_size=4)
NO_BLOCKS: st.SearchStrategy[list[ContentBlock]] = st.just([])


@st.composite
def _record(draw: st.DrawFn, number: int, size: int) -> Message:
    kind = draw(st.sampled_from(["user", "assistant", "call", "call", "result", "result", "result", "other"]))
    status = draw(STATUSES)
    if kind == "user":
        fields: dict[str, Any] = {"blocks": draw(NO_BLOCKS | BLOCKS)}
        if draw(st.integers(0, 4)) == 0:
            fields |= {"guidance": draw(TEXTS), "images": ["https://example.com/b.png"]}
        if draw(st.integers(0, 6)) == 0:
            fields["sender"] = {"role": 2}
        return user(number, draw(TEXTS), status=status, **fields)
    if kind == "assistant":
        return assistant(number, draw(TEXTS), *draw(NO_BLOCKS | BLOCKS), status=status)
    if kind == "call":
        return call(number, draw(CALL_IDS), draw(st.sampled_from("fg")), status=status)
    if kind == "result":
        content: dict[str, Any] = {"blocks": draw(NO_BLOCKS | BLOCKS)}
        if draw(st.integers(0, 4)) == 0:
            content["error"] = draw(TEXTS)
        if draw(st.integers(0, 4)) == 0:
            content["state"] = INTERIM
        of = draw(st.none() | st.integers(1, size + 2))
        return result(number, of, draw(OUTPUTS), call_id=draw(CALL_IDS), status=status, **content)
    if draw(st.integers(0, 3)) == 0:
        return summary(number, "sum", draw(st.integers(1, size + 9)), size + 9)
    return generic(number)


@st.composite
def broken_histories(draw: st.DrawFn, max_size: int = 14) -> list[Message]:
    """Draw a history of any records in any order, with one summary at most."""
    size = draw(st.integers(0, max_size))
    records = [draw(_record(number, size)) for number in range(1, size + 1)]
    summaries = [record.id for record in records if record.HasField("summary")]
    return [record for record in records if record.id not in summaries[1:]]


def number_of(message_id: str) -> int:
    """Return the number that a test record's id was made of."""
    number = int(message_id[:8], 16)
    assert mid(number) == message_id
    return number

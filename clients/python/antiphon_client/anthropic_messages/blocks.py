"""Blocks of Anthropic's messages as content blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from antiphon.message.v1 import content_block_pb2 as block_pb
from antiphon_client.importing.fields import required_text
from antiphon_client.importing.forms import IMAGE, TEXT, THINKING
from antiphon_client.importing.pictures import base64_of, image_of_base64, image_of_url
from antiphon_client.importing.reading import ImportState, ReadBlock, cache_control_of, cache_control_value
from antiphon_client.importing.residue import difference

PROVIDER: Final = "anthropic"


def read_block(block: dict[str, Any], path: str, state: ImportState) -> ReadBlock:
    """Return a block that is no call and no result.

    Text, images and thinking become blocks of their kinds; redacted thinking
    and whatever else, known or not, is kept whole for Anthropic.

    Raises:
        ValueError: It lacks what blocks of its type have.
    """
    kind = required_text(block, path, "type")
    reader = _READERS.get(kind)
    if reader is not None:
        return reader(block, path, state)
    return state.kept_whole(kind, block, f"a block of type {kind!r} is kept for its own provider only")


def written_text(text: block_pb.Text) -> dict[str, Any]:
    """Return a text block as the projection writes it."""
    mark = (
        {"cache_control": cache_control_value(text.cache_control)} if text.HasField("cache_control") else {}
    )
    return {"type": "text", "text": text.text, **mark}


def _text(block: dict[str, Any], path: str, state: ImportState) -> ReadBlock:
    value = required_text(block, path, "text")
    text = block_pb.Text(text=value, cache_control=cache_control_of(block.get("cache_control")))
    return ReadBlock(
        block_pb.ContentBlock(text=text), TEXT, value, difference(written_text(text), block), None
    )


def _thinking(block: dict[str, Any], path: str, state: ImportState) -> ReadBlock:
    signature = block.get("signature")
    if not isinstance(signature, str | None):
        raise ValueError(f"{path}.signature: must be text")
    value = required_text(block, path, "thinking")
    thinking = block_pb.Thinking(thinking=value, signature=signature, provider=PROVIDER)
    written = {"type": "thinking", "thinking": value, "signature": signature or ""}
    loss = None if signature else "thinking without a signature is kept but not shown to a model"
    return ReadBlock(
        block_pb.ContentBlock(thinking=thinking), THINKING, signature or "", difference(written, block), loss
    )


def _image(block: dict[str, Any], path: str, state: ImportState) -> ReadBlock:
    source = block.get("source")
    if not isinstance(source, dict):
        raise ValueError(f"{path}.source: must be an object")
    kind = required_text(source, f"{path}.source", "type")
    if kind == "base64":
        image = image_of_base64(source.get("media_type"), source.get("data"))
    elif kind == "url":
        image = image_of_url(source.get("url"))
    else:
        image = f"an image from a {kind!r} source is kept for its own provider only"
    if isinstance(image, str):
        return state.kept_whole("image", block, image)
    if kind == "url":
        value, written = image.url, {"type": "url", "url": image.url}
    else:
        value = base64_of(image)
        written = {"type": "base64", "media_type": image.mime_type, "data": value}
    change = difference({"type": "image", "source": written}, block)
    return ReadBlock(block_pb.ContentBlock(image=image), IMAGE, value, change, None)


_READERS: dict[str, Callable[[dict[str, Any], str, ImportState], ReadBlock]] = {
    "text": _text,
    "thinking": _thinking,
    "image": _image,
}

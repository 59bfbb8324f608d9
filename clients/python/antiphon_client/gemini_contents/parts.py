"""Parts of Gemini's contents as content blocks."""

from __future__ import annotations

from typing import Any, Final

from antiphon.message.v1 import content_block_pb2 as block_pb
from antiphon_client.gemini_contents.spelling import PART_ATTRIBUTES
from antiphon_client.importing.forms import IMAGE, JOINED, TEXT, THINKING
from antiphon_client.importing.pictures import base64_of, image_of_base64, image_of_url
from antiphon_client.importing.reading import ImportState, ReadBlock
from antiphon_client.importing.residue import difference

PROVIDER: Final = "gemini"

_SIGNATURE: Final = "thoughtSignature"
_IMAGES: Final = "image/"


def kind_of_part(part: dict[str, Any], path: str) -> str:
    """Return the member that says what a part holds; ``thoughtSignature`` of one with nothing else.

    Raises:
        ValueError: It holds nothing, or two things.
    """
    kinds = [key for key, value in part.items() if value is not None and key not in PART_ATTRIBUTES]
    if len(kinds) > 1:
        raise ValueError(f"{path}: holds {' and '.join(kinds)}")
    if kinds:
        return kinds[0]
    if part.get(_SIGNATURE) is None:
        raise ValueError(f"{path}: holds nothing")
    return _SIGNATURE


def signature_of(part: dict[str, Any], path: str) -> str | None:
    """Return the signature beside what a part holds.

    Raises:
        ValueError: It is no text.
    """
    signature = part.get(_SIGNATURE)
    if not isinstance(signature, str | None):
        raise ValueError(f"{path}.{_SIGNATURE}: must be text")
    return signature or None


def read_part(
    part: dict[str, Any], kind: str, path: str, state: ImportState, *, is_user: bool
) -> list[ReadBlock]:
    """Return the blocks of a part that is no call and no result: two of a text with a signature.

    A thought becomes thinking, and so does a signature, which has no words of
    its own. A user's images become images; all else is kept whole for Gemini.

    Raises:
        ValueError: It lacks what parts of its kind have.
    """
    if kind in (TEXT, _SIGNATURE):
        return _read_text(part, path)
    if is_user:
        image = _image_of(part[kind], kind)
        if isinstance(image, block_pb.Image):
            return [_read_image(image, part)]
        if image is not None:
            return [state.kept_whole(kind, part, image)]
    return [state.kept_whole(kind, part, f"a part with {kind} is kept for its own provider only")]


def _read_text(part: dict[str, Any], path: str) -> list[ReadBlock]:
    text = part.get("text")
    if not isinstance(text, str | None):
        raise ValueError(f"{path}.text: must be text")
    signature = signature_of(part, path)
    if part.get("thought") is True or (signature is not None and not text):
        return [_read_thinking(part, text or "", signature)]
    beside = {key: value for key, value in part.items() if signature is None or key != _SIGNATURE}
    change = difference({"text": text}, beside)
    read = [
        ReadBlock(block_pb.ContentBlock(text=block_pb.Text(text=text or "")), TEXT, text or "", change, None)
    ]
    if signature is not None:
        thinking = block_pb.Thinking(signature=signature, provider=PROVIDER)
        joined = {JOINED: True}
        read.append(ReadBlock(block_pb.ContentBlock(thinking=thinking), THINKING, signature, joined, None))
    return read


def _read_thinking(part: dict[str, Any], text: str, signature: str | None) -> ReadBlock:
    thinking = block_pb.Thinking(thinking=text, signature=signature, provider=PROVIDER)
    written: dict[str, Any] = {"text": text, _SIGNATURE: signature or ""}
    if text:
        written["thought"] = True
    loss = None if signature else "a thought without a signature is kept but not shown to a model"
    change = difference(written, part)
    return ReadBlock(block_pb.ContentBlock(thinking=thinking), THINKING, signature or "", change, loss)


def _image_of(data: Any, kind: str) -> block_pb.Image | str | None:
    """Return a part's image; why there is none, in words; None for what is no image at all."""
    if kind not in ("inlineData", "fileData") or not isinstance(data, dict):
        return None
    media_type = data.get("mimeType")
    if not isinstance(media_type, str) or not media_type.startswith(_IMAGES):
        return None
    if kind == "inlineData":
        return image_of_base64(media_type, data.get("data"))
    return image_of_url(data.get("fileUri"), media_type)


def _read_image(image: block_pb.Image, part: dict[str, Any]) -> ReadBlock:
    written: dict[str, Any]
    if image.WhichOneof("source") == "url":
        value = image.url
        written = {"fileData": {"mimeType": image.mime_type, "fileUri": value}}
    else:
        value = base64_of(image)
        written = {"inlineData": {"mimeType": image.mime_type, "data": value}}
    return ReadBlock(block_pb.ContentBlock(image=image), IMAGE, value, difference(written, part), None)

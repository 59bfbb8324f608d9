"""Images of foreign messages as image blocks."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from antiphon.message.v1 import content_block_pb2 as block_pb
from antiphon_client.messages.validation import check_image

_SHOWN_BY = "an image is kept for its own provider only: "


def image_of_base64(media_type: Any, data: Any) -> block_pb.Image | str:
    """Return an image of its base64, or why it can be none, in words."""
    if not isinstance(media_type, str) or not media_type:
        return f"{_SHOWN_BY}it has no media type"
    if not isinstance(data, str) or not data:
        return f"{_SHOWN_BY}it has no data"
    try:
        decoded = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return f"{_SHOWN_BY}its data is not base64"
    return block_pb.Image(mime_type=media_type, data=decoded)


def image_of_url(url: Any, media_type: str = "") -> block_pb.Image | str:
    """Return an image at an http(s) address, or why it can be none, in words."""
    if not isinstance(url, str):
        return f"{_SHOWN_BY}it has no address"
    if not url.lower().startswith(("http://", "https://")):
        return f"{_SHOWN_BY}the scheme must be http or https"
    reason = check_image(url)
    if reason is not None:
        return f"{_SHOWN_BY}{reason}"
    return block_pb.Image(mime_type=media_type, url=url)


def base64_of(image: block_pb.Image) -> str:
    """Return an image's data in base64."""
    return base64.b64encode(image.data).decode("ascii")

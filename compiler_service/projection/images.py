"""Images in the forms that providers take them in."""

from __future__ import annotations

import base64
from typing import NamedTuple

from antiphon.message.v1 import content_block_pb2
from antiphon.message.v1.content_block_pb2 import ImageDetail
from compiler_service.native.turns import ImagePart
from compiler_service.texts import BASE64_SEPARATOR, DATA_SCHEME, data_url

_DETAILS: dict[ImageDetail.ValueType, str] = {
    content_block_pb2.IMAGE_DETAIL_LOW: "low",
    content_block_pb2.IMAGE_DETAIL_HIGH: "high",
    content_block_pb2.IMAGE_DETAIL_AUTO: "auto",
}


class ImageSource(NamedTuple):
    """Where a picture is.

    Attributes:
        media_type: Its media type; "" for unknown.
        base64_text: The picture itself in base64; None where it is at an address.
        url: An http(s) address; None where the picture itself is here.
    """

    media_type: str
    base64_text: str | None
    url: str | None


def source_of(image: ImagePart) -> ImageSource:
    """Return where an image's picture is; a data URL is taken apart."""
    if image.data is not None:
        return ImageSource(image.mime_type, base64.b64encode(image.data).decode("ascii"), None)
    url = image.url or ""
    if not url.startswith(DATA_SCHEME):
        return ImageSource(image.mime_type, None, url)
    media_type, _, payload = url[len(DATA_SCHEME) :].partition(BASE64_SEPARATOR)
    return ImageSource(media_type, payload, None)


def url_of(image: ImagePart) -> str:
    """Return an image's address; of a picture in the record, a data URL."""
    if image.data is None:
        return image.url or ""
    return data_url(image.mime_type, image.data)


def detail_of(image: ImagePart) -> str | None:
    """Return the name of the detail asked of the model; None where none is."""
    return _DETAILS.get(image.detail)


def asks_detail(image: ImagePart) -> bool:
    """Tell whether a detail is asked that is not the provider's own choice."""
    return image.detail in (content_block_pb2.IMAGE_DETAIL_LOW, content_block_pb2.IMAGE_DETAIL_HIGH)

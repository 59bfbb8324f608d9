"""What several parts of the compiler ask of texts and make of pictures, in one place."""

from __future__ import annotations

import base64

from antiphon.message.v1.message_pb2 import SystemContent
from antiphon_client.messages.rendering import render_system

DATA_SCHEME = "data:"
"""How an address begins that holds the picture itself."""

BASE64_SEPARATOR = ";base64,"
"""What stands in such an address between the media type and the picture."""


def is_blank(text: str) -> bool:
    """Tell whether a text says nothing: empty, or white space only."""
    return not text or text.isspace()


def system_text(content: SystemContent) -> str:
    """Return the text of a system record, its date in front where it has one."""
    return render_system(content.system_message, content.system_datetime or None)


def data_url(media_type: str, data: bytes) -> str:
    """Return the address that holds a picture. Cost: linear in it."""
    return f"{DATA_SCHEME}{media_type}{BASE64_SEPARATOR}{base64.b64encode(data).decode('ascii')}"

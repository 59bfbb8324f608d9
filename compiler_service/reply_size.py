"""The limit of a unary reply."""

from __future__ import annotations

from antiphon_client.errors import SizeLimitExceededError
from antiphon_client.limits import Limits


def check_reply_size(size: int, limits: Limits, advice: str = "") -> None:
    """Check that a reply may be sent.

    Args:
        size: Its bytes.
        limits: Gives ``reply_bytes``.
        advice: What the caller can do where it may not.

    Raises:
        SizeLimitExceededError: It is larger than a unary reply may be.
    """
    if size > limits.reply_bytes:
        raise SizeLimitExceededError.of(
            "the reply", limit_name="reply_bytes", limit=limits.reply_bytes, actual=size, advice=advice
        )

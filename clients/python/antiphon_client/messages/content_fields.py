"""Normalization and checks of single fields of contents."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from antiphon_client.messages.validation import check_image


def context_list(value: Any) -> list[Any]:
    """Return context items as a new list: None is none, anything but a list is one item."""
    if value is None:
        return []
    return list(value) if isinstance(value, list) else [value]


def checked_images(value: Any) -> list[str]:
    """Return images as a new list.

    Raises:
        ValueError: An image is not legal; names its index.
        TypeError: An image is not text.
    """
    images = context_list(value)
    for index, image in enumerate(images):
        reason = check_image(checked_text(f"images[{index}]", image))
        if reason is not None:
            raise ValueError(f"images[{index}]: {reason}")
    return images


def checked_text(name: str, value: Any) -> str:
    """Return a field's text.

    Raises:
        TypeError: It is not text.
    """
    if not isinstance(value, str):
        raise TypeError(f"{name} must be text, not {type(value).__name__}")
    return value


def check_optional_text(name: str, value: Any) -> None:
    """Check a field that is text or None.

    Raises:
        TypeError: It is neither.
    """
    if value is not None:
        checked_text(name, value)


def id_text(value: Any) -> str | None:
    """Return an id as text; a message is taken for its id."""
    if value is None:
        return None
    return str(getattr(value, "id", value))


def datetime_text(value: Any) -> str | None:
    """Return the text of a system time: True is now, UTC, at minute precision; False and None are none.

    Raises:
        TypeError: The value is neither of these, a time nor text.
    """
    if value is None or value is False:
        return None
    if value is True:
        value = datetime.now(UTC)
    if isinstance(value, datetime):
        return value.isoformat(timespec="minutes")
    return checked_text("system_datetime", value)

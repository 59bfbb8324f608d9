"""Checks of single fields, shared by every kind of content."""

from __future__ import annotations

from antiphon_client.errors import Violation
from antiphon_client.ids import is_canonical_uuid
from antiphon_client.json_text import JsonTextError, check_json_text

REQUIRED = "is required"
EMPTY = "must not be empty"


def join(field: str, name: str) -> str:
    """Return the path of a field within the field ``field``; "" is the root."""
    return f"{field}.{name}" if field else name


def validate_json_field(
    text: str, field: str, violations: list[Violation], require_object: bool = False
) -> None:
    """Append a violation unless the text follows the JSON text rule.

    Whether an empty text has a meaning is the field's own rule: callers skip
    the check where it has one.

    Args:
        text: The field's text.
        field: Its path.
        violations: Where to append.
        require_object: Also refuse a value that is not an object.
    """
    try:
        check_json_text(text, require_object=require_object)
    except JsonTextError as error:
        violations.append(Violation(field, str(error)))


def validate_uuid(text: str, field: str, violations: list[Violation]) -> None:
    """Append a violation unless the text is a UUID in canonical spelling."""
    if not is_canonical_uuid(text):
        violations.append(Violation(field, "must be a UUID in canonical lower-case text"))

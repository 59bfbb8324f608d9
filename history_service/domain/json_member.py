"""Setting one member of a JSON object's text and leaving the rest as it is written."""

from __future__ import annotations

from antiphon_client.json_spans import spans_of


def set_member(text: str, key: str, value: str) -> str:
    """Return a JSON object's text with a member set to a text value.

    Args:
        text: The text of an object, valid by the JSON text rule.
        key: The member's key. A member of that key is replaced in its place; a
            new one comes last.
        value: Its new value; of characters that JSON need not escape.
    """
    comma = ""
    for member in spans_of(text):
        if member.key == key:
            return f'{text[: member.start]}"{value}"{text[member.end :]}'
        comma = ","
    end = text.rindex("}")
    return f'{text[:end]}{comma}"{key}":"{value}"{text[end:]}'

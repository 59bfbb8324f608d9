"""JSON text put together from JSON text.

Users' JSON enters a provider's request as it was written, so that the spelling
of numbers and the order of keys survive; only what this package writes itself
is encoded here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

import orjson

from antiphon_client.json_spans import spans_of

_SPACE = " \t\n\r"


as_written = orjson.Fragment
"""JSON text as a value for `write`, which puts it in as it is."""

Object: TypeAlias = dict[str, Any] | orjson.Fragment
"""An object for `write`, made of texts, objects and lists; or its text."""


def write(value: str | Object | list[Any]) -> str:
    """Return a value, whose texts have no lone surrogates, as compact JSON text; non-ASCII stays as it is."""
    return orjson.dumps(value).decode()


quote: Callable[[str], str] = write
"""Return a text as a JSON string."""


class Member(NamedTuple):
    """One member of an object: its key, and the texts of key and value as written."""

    key: str
    key_text: str
    value_text: str


def members_of(object_text: str) -> list[Member]:
    """Return the members of an object in order, as written.

    Args:
        object_text: JSON text of an object, checked before.
    """
    return [
        # An object's keys are texts.
        Member(str(span.key), object_text[span.key_start : span.key_end], object_text[span.start : span.end])
        for span in spans_of(object_text)
    ]


def member_values(object_text: str) -> dict[str, str]:
    """Return the texts of an object's values by key."""
    return {member.key: member.value_text for member in members_of(object_text)}


def inside(object_text: str) -> str:
    """Return what stands between an object's braces, "" for an empty one."""
    return object_text.strip(_SPACE)[1:-1].strip(_SPACE)


def write_object(members: Mapping[str, str], *more: str) -> str:
    """Return an object's text.

    Args:
        members: Texts of values by key.
        more: Texts of further members, put behind as they are; "" for none.
    """
    # Joined once: the turns' text is copied with every step in between.
    pieces: list[str] = []
    for key, value in members.items():
        pieces += (",", quote(key), ":", value)
    for text in filter(None, more):
        pieces += (",", text)
    return "".join(("{", *pieces[1:], "}"))


def write_array(values: Iterable[str]) -> str:
    """Return the text of an array of the values of these texts."""
    return f"[{','.join(values)}]"

"""Members and items of JSON text, found where they stand."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon_client.json_spans import spans_of

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
SPACES = st.sampled_from(["", " ", "\n", "\t\r\n "])


def cut(text: str) -> list[tuple[str | int, str, str]]:
    """Return keys, their texts, and the texts of values."""
    return [
        (each.key, text[each.key_start : each.key_end], text[each.start : each.end])
        for each in spans_of(text)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", []),
        (" [ ] ", []),
        ('{"a":1}', [("a", '"a"', "1")]),
        (' { "a" : 1.0e1 , "b":{"c":[1,2]} } ', [("a", '"a"', "1.0e1"), ("b", '"b"', '{"c":[1,2]}')]),
        (r'{"\u0061":"}","b":"\""}', [("a", r'"\u0061"', '"}"'), ("b", '"b"', r'"\""')]),
        ('[1, "]" ,\n[]]', [(0, "", "1"), (1, "", '"]"'), (2, "", "[]")]),
    ],
)
def test_texts_are_as_they_are_written(text: str, expected: list[tuple[str | int, str, str]]) -> None:
    assert cut(text) == expected


def test_numbers_of_any_size_are_cut_out() -> None:
    digits = "9" * 5000
    assert cut(f'{{"n":{digits}}}') == [("n", '"n"', digits)]


@given(st.dictionaries(st.text(), VALUES, max_size=4), SPACES)
def test_every_member_is_found(given: dict[str, Any], space: str) -> None:
    members = [f"{space}{json.dumps(key)}{space}:{space}{json.dumps(value)}" for key, value in given.items()]
    text = f"{space}{{{f'{space},'.join(members)}{space}}}{space}"
    assert [(key, value) for key, _, value in cut(text)] == [
        (key, json.dumps(value)) for key, value in given.items()
    ]


@given(st.lists(VALUES, max_size=4), SPACES)
def test_every_item_is_found(given: list[Any], space: str) -> None:
    text = f"{space}[{space}{f'{space},{space}'.join(map(json.dumps, given))}{space}]{space}"
    assert [value for _, _, value in cut(text)] == list(map(json.dumps, given))

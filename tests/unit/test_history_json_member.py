"""Setting a member of an object's text changes nothing else of it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from history_service.domain.json_member import set_member

TEXTS = st.text(max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
KEYS = TEXTS | st.just("clone_from")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{"k":"v"}'),
        (" {\n} ", ' {\n"k":"v"} '),
        ('{"a":1.0e1}', '{"a":1.0e1,"k":"v"}'),
        ('{ "k" : [1, {"k": "}"}] , "b": "}" }', '{ "k" : "v" , "b": "}" }'),
        ('{"\\u006b":"\\"}"}', '{"\\u006b":"v"}'),
        ('{"a":{"k":1}}', '{"a":{"k":1},"k":"v"}'),
        ('{"k":' + "9" * 4000 + "}", '{"k":"v"}'),
    ],
)
def test_examples(before: str, after: str) -> None:
    assert set_member(before, "k", "v") == after


@given(st.dictionaries(KEYS, VALUES, max_size=4), st.sampled_from([None, 2]), st.booleans())
def test_the_value_is_the_dictionary_s(
    value: dict[str, object], indent: int | None, ascii_only: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    changed = set_member(text, "clone_from", "new")
    assert json.loads(changed) == value | {"clone_from": "new"}
    assert list(json.loads(changed)) == list(value | {"clone_from": "new"})

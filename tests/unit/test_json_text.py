"""The JSON text rule: what is legal, what is refused and how it is told."""

from __future__ import annotations

import json
import math
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon_client.json_text import JsonTextError, check_json_text, dump_json_text, parse_json_text

LEGAL = {
    "{}": {},
    "[]": [],
    " \t\r\n null \n": None,
    '""': "",
    '"\\ud83d\\ude42"': "🙂",
    '"\\uD83D\\uDE42 \\\\ud800"': "🙂 \\ud800",
    '"a\\u0000b\\/"': "a\0b/",
    '"\ufeff"': "\ufeff",
    "9007199254740993": 2**53 + 1,
    "-0": 0,
    "1.50": 1.5,
    "1e308": 1e308,
    "1E-999": 0.0,
    "1" + "0" * 3999: 10**3999,
    "-1" + "0" * 3999: -(10**3999),
    "0." + "1" * 3999: 1 / 9,
    "[" * 100 + "]" * 100: None,
    '{"a":1,"A":2,"\\u0061 ":3}': {"a": 1, "A": 2, "a ": 3},
    '["[[[[", "]", "\\"[", {"{": "}"}]': ["[[[[", "]", '"[', {"{": "}"}],
}

REFUSED = {
    "": "not JSON: expecting value at character 0",
    "  ": "not JSON: expecting value at character 2",
    "{} x": "not JSON: extra data at character 3",
    "[1,]": "not JSON",
    '{"a":1,}': "not JSON",
    "{'a':1}": "not JSON",
    "01": "not JSON",
    "+1": "not JSON",
    "1.": "not JSON",
    ".5": "not JSON",
    "0x1": "not JSON",
    "1_000": "not JSON",
    "\u0661": "not JSON",
    "nul": "not JSON",
    "True": "not JSON",
    "[1] // no": "not JSON",
    "\xa0[]": "not JSON",
    "\x0b[]": "not JSON",
    '"a\nb"': "not JSON",
    '"a\x00b"': "not JSON",
    '"\\x41"': "not JSON",
    '"\\u12"': "not JSON",
    '"\\u 123"': "not JSON",
    '"open': "not JSON",
    "[" * 50: "not JSON",
    "NaN": "NaN is not JSON",
    "[Infinity]": "Infinity is not JSON",
    '{"a":-Infinity}': "-Infinity is not JSON",
    "\ufeff{}": "byte order mark",
    '{"a":1,"b":2,"a":1}': "duplicate key 'a'",
    '[{"x":{"a":1,"\\u0061":2}}]': "duplicate key 'a'",
    '"\\ud800"': "lone surrogate at character 1",
    '"x\\uDC00"': "lone surrogate at character 2",
    '"\\ud800\\ud800\\udc00"': "lone surrogate at character 1",
    '"\\ud800\\\\udc00"': "lone surrogate at character 1",
    '"\\ud83d\\ude42\\ude42"': "lone surrogate at character 13",
    '{"\\udfff":1}': "lone surrogate at character 2",
    '"\ud800"': "lone surrogate at character 1",
    "1e309": "overflows a double",
    "[-1.0E+400]": "overflows a double",
    "9" * 309 + ".0": "overflows a double",
    "1" * 4001: "a number has 4001 digits, more than 4000",
    "-" + "1" * 4001: "4001 digits",
    "0." + "1" * 4000: "4001 digits",
    "1e-" + "1" * 4000: "4001 digits",
    "[" * 101 + "]" * 101: "nested deeper than 100 at character 100",
    "[" * 100_000: "nested deeper than 100 at character 100",
    '{"a":' * 100_000: "nested deeper than 100",
    '[{"a":' * 51 + "1" + "}]" * 51: "nested deeper than 100",
}


@pytest.mark.parametrize("text", LEGAL, ids=lambda text: ascii(text[:20]))
def test_legal(text: str) -> None:
    check_json_text(text)
    value = parse_json_text(text)
    if LEGAL[text] is not None:
        assert value == pytest.approx(LEGAL[text]) if isinstance(value, float) else value == LEGAL[text]


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: ascii(text[:20]))
def test_refused(text: str) -> None:
    with pytest.raises(JsonTextError) as caught:
        check_json_text(text)
    assert REFUSED[text] in str(caught.value)
    with pytest.raises(JsonTextError):
        parse_json_text(text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [("[]", "an array"), ("null", "null"), ('"{}"', "text"), ("1", "a number"), ("true", "a boolean")],
)
def test_where_an_object_is_required(text: str, kind: str) -> None:
    check_json_text(text)
    with pytest.raises(JsonTextError, match=f"^expected a JSON object, not {kind}$"):
        check_json_text(text, require_object=True)


def test_an_object_where_an_object_is_required() -> None:
    check_json_text("{}", require_object=True)
    check_json_text(' {"a":[]} ', require_object=True)


def test_integers_and_floats_stay_apart() -> None:
    value = parse_json_text("[1, 1.0, true]")
    assert [type(item) for item in value] == [int, float, bool]


def test_a_long_error_stays_short() -> None:
    for text in ('{"%s":1,"%s":2}' % (("k" * 9000,) * 2), "1" * 3000 + "e999"):
        with pytest.raises(JsonTextError) as caught:
            check_json_text(text)
        assert len(str(caught.value)) < 120


@pytest.mark.parametrize(
    "text",
    [
        '"' + '\\"' * 500_000 + "[" * 200 + "\\",
        '"' * 1_000_000 + "[" * 200,
        "[" * 100 + '"' + "\\\\" * 500_000,
        '"' + "\\ud83d\\ude42" * 80_000 + "\\ud800",
        "[" + "1" * 1_000_000,
        "[" + ",".join(["1" * 4000] * 250),
    ],
    ids=["escapes", "quotes", "backslashes", "pairs", "digits", "numbers"],
)
def test_hostile_texts_are_refused_in_linear_time(text: str) -> None:
    start = time.process_time()
    with pytest.raises(JsonTextError):
        check_json_text(text)
    # Milliseconds when linear; a quadratic scan of a million characters takes minutes.
    assert time.process_time() - start < 5


JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(JSON_VALUES)
def test_written_values_come_back_exactly(value: Any) -> None:
    text = dump_json_text(value)
    check_json_text(text)
    assert repr(parse_json_text(text)) == repr(value)


@given(JSON_VALUES, st.integers(0, 2), st.booleans())
def test_every_writer_of_json_is_read(value: Any, indent: int, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent or None, ensure_ascii=ascii_only)
    assert repr(parse_json_text(text)) == repr(value)


@settings(max_examples=500)
@given(st.text(alphabet='[]{},:"\\u0d8c1e.-+ntf aNI\n', max_size=40))
def test_agrees_with_the_parser_below_the_extra_rules(text: str) -> None:
    try:
        json.loads(text)
        legal = True
    except ValueError:
        legal = False
    reason = refusal_of(text)
    extra_rules = ("duplicate key", "surrogate", "overflows", "is not JSON")
    if reason is None:
        assert legal
    elif not any(rule in reason for rule in extra_rules):
        assert not legal


def refusal_of(text: str) -> str | None:
    try:
        check_json_text(text)
    except JsonTextError as error:
        return str(error)
    return None


@given(st.integers(1, 110), st.integers(1, 110), st.integers(0, 60))
def test_depth_is_the_deepest_part(first: int, second: int, brackets_in_text: int) -> None:
    text = json.dumps([nested(first), "[{" * brackets_in_text + '"\\', {"k": nested(second)}])
    deepest = 1 + max(first, second + 1)
    reason = refusal_of(text)
    assert (reason is None) == (deepest <= 100)
    assert reason is None or reason.startswith("nested deeper than 100 at character ")


def test_dump_is_compact_ordered_and_unescaped() -> None:
    assert dump_json_text({"b": [1, 2.0], "a": ("é🙂", None, True)}) == '{"b":[1,2.0],"a":["é🙂",null,true]}'
    assert dump_json_text({"n": 2**70, "f": 1e16}) == '{"n":1180591620717411303424,"f":1e+16}'


def nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


CYCLE: list[Any] = []
CYCLE.append(CYCLE)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (math.nan, "nan is not JSON"),
        ([math.inf], "inf is not JSON"),
        ({1: 2}, "a key must be text, not int"),
        ({None: 2}, "a key must be text, not NoneType"),
        ("\ud800", "lone surrogate"),
        ({"\udc00": 1}, "lone surrogate"),
        ({"a": {1, 2}}, "a set is not a JSON value"),
        (b"x", "a bytes is not a JSON value"),
        (10**4000, "more than 4000 digits"),
        (-(10**4000), "more than 4000 digits"),
        (nested(101), "nested deeper than 100"),
        (CYCLE, "nested deeper than 100"),
    ],
    ids=repr,
)
def test_what_dump_refuses(value: Any, words: str) -> None:
    with pytest.raises(JsonTextError, match=words):
        dump_json_text(value)


def test_dump_at_the_limits() -> None:
    for value in (10**4000 - 1, -(10**4000 - 1), nested(100)):
        check_json_text(dump_json_text(value))

"""Entries written from JSON texts are those of the values, whatever was learned of others before."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon_client.messages.rendering import response_projection
from antiphon_client.minimal_yaml import JsonEntries, WrittenItem, emit, json_entries, write_entries
from antiphon_client.minimal_yaml.json_entries import COMPILED_WRITER
from compiler_service.folded.results import write_result
from compiler_service.state import ActionOutcome

KEY, PAD = "output", "  "
FEW = 4
"""Texts after which shapes are learned here."""

WORDS = [
    "economy",
    "HAT001",
    "yes",
    "null",
    "true",
    "No",
    "120",
    "1.5",
    "2026-05-20",
    "06:00:00",
    "10:30",
    "~",
]
WORDS += [
    "",
    " ",
    "\u00a0",
    "a: b",
    "a #b",
    "#",
    "- x",
    "x ",
    " x",
    "it's",
    "100%",
    "%s",
    "%%",
    "{}",
    "?",
    "*",
]
WORDS += [
    "é",
    "日本",
    "\ue0007\ue001",
    "a\u2028b",
    "a\nb",
    "tab\t",
    'say "x"',
    "back\\slash",
    "---",
    "=",
    "x:",
]
TOKENS = ["0", "-0", "1", "-12", "120", "1.50", "-0.0", "1E5", "1e-7", "1.0e+17", "true", "false"]
TOKENS += ["9" * 18, "9" * 19, "1" + "0" * 30, "1e16", "123456789.123456789"]
FRAMES = [
    '{{"a": {0}}}',
    '{{"a": [{0}, "x"], "b": {0}}}',
    "[[{0}]]",
    "{0}",
    '{{"a": {{"b": {0}}}, "k\\"": 1}}',
]
NUMBERS = [0, -1, 7, 120, 10**17, 10**18, -(10**30), 0.5, -0.0, 1e17, 1e-7, 96.0, True, False]

texts = st.sampled_from(WORDS) | st.text(max_size=6)
scalars = st.none() | texts | st.sampled_from(NUMBERS) | st.integers() | st.floats(allow_nan=False)
keys = st.sampled_from(["a", "b", "price", "yes", "", "a b", "1", "k" * 130, "é", "%s"]) | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=8,
)
separators = st.sampled_from([(", ", ": "), (",", ":"), (" ,\n", " : ")])


@pytest.fixture(autouse=True)
def _learns_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_entries, "_LEARNED_AFTER", FEW)


def by_shapes() -> JsonEntries:
    """Return entries that do without the compiled writer."""
    return JsonEntries(KEY, PAD, json.loads, compiled_writer=None)


def expected(text: str) -> str:
    return write_entries({KEY: json.loads(text)}, PAD)


def another(value: Any, choose: Callable[[Any], Any]) -> Any:
    """Return a value of the same keys and lengths, mostly of the same shape."""
    if isinstance(value, dict):
        return {key: another(item, choose) for key, item in value.items()}
    if isinstance(value, list):
        return [another(item, choose) for item in value]
    return choose(value)


@st.composite
def alike(draw: st.DrawFn) -> list[str]:
    """JSON texts of values that differ in texts and numbers, in one style."""
    value, style, ascii_only = draw(values), draw(separators), draw(st.booleans())

    def choose(old: Any) -> Any:
        if isinstance(old, str):
            return draw(texts)
        if isinstance(old, (bool, int, float)):
            return draw(st.sampled_from(NUMBERS) | st.integers() | st.floats(allow_nan=False))
        return old

    found = [value] + [another(value, choose) for _ in range(3 * FEW)]
    return [json.dumps(each, separators=style, ensure_ascii=ascii_only) for each in found]


@settings(max_examples=400, deadline=None)
@given(st.lists(alike(), min_size=1, max_size=3))
def test_whatever_was_learned_the_entry_is_that_of_the_value(groups: list[list[str]]) -> None:
    entries = by_shapes()
    for text in [*groups[0], *[text for group in groups for text in group]]:
        assert entries.write("f", text) == expected(text)
        assert JsonEntries(KEY, PAD, json.loads).write("f", text) == expected(text)


def texts_of(word: str) -> list[str]:
    return sorted({json.dumps(word), json.dumps(word, ensure_ascii=False)})


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("values", [TOKENS, [each for word in WORDS for each in texts_of(word)]])
def test_a_place_learned_from_one_takes_every_other(frame: str, values: list[str]) -> None:
    for learned in values:
        entries = by_shapes()
        for value in [*[learned] * 2 * FEW, *values]:
            text = frame.format(value)
            assert entries.write("f", text) == expected(text), (learned, value)


def flight(number: int, **changes: Any) -> dict[str, Any]:
    return {"id": f"R{number:05}", "legs": [{"no": f"HAT{number}", "price": number}], "ok": True, **changes}


class Counted(JsonEntries):
    """Counts the texts that are parsed."""

    def __init__(self) -> None:
        super().__init__(KEY, PAD, json.loads, compiled_writer=None)
        self.parsed = 0

    def _parsed(self, text: str) -> str:
        self.parsed += 1
        return super()._parsed(text)


def counted(given: Iterator[dict[str, Any]], entries: Counted, name: str = "f") -> int:
    before = entries.parsed
    for value in given:
        text = json.dumps(value)
        assert entries.write(name, text) == expected(text)
    return entries.parsed - before


def test_texts_of_a_known_shape_are_not_parsed() -> None:
    entries = Counted()
    assert counted((flight(n) for n in range(100)), entries) == FEW
    assert counted((flight(n) for n in range(100)), entries) == 0


def test_a_place_takes_what_needs_quotes_once_it_was_seen_there() -> None:
    entries = Counted()
    counted((flight(n) for n in range(20)), entries)
    dates = [flight(n, id=f"2026-05-{10 + n}") for n in range(20)]
    assert 0 < counted(iter(dates), entries) < 20
    assert counted(iter([*dates, *[flight(n) for n in range(20)]]), entries) == 0


def test_a_place_takes_any_number_once_one_was_seen_there() -> None:
    entries = Counted()
    counted((flight(n, ok=n / 7) for n in range(20)), entries)
    assert counted((flight(n, ok=value) for n, value in enumerate(NUMBERS)), entries) == 0


def test_places_that_need_a_look_in_turn_are_known_together() -> None:
    entries = Counted()
    turns = [flight(n, id=f"2026-05-{n}") if n % 2 else flight(n, ok=n / 7) for n in range(10, 90)]
    counted(iter(turns), entries)
    assert counted(iter(turns), entries) == 0


def test_an_empty_text_is_of_the_shape() -> None:
    assert counted((flight(n, note="") for n in range(20)), Counted()) == FEW


def test_a_place_takes_words_that_are_read_as_values_once_one_was_seen_there() -> None:
    entries = Counted()
    counted((flight(n, id="yes") for n in range(20)), entries)
    assert counted((flight(n, id="no") for n in range(20)), entries) == 0


def test_a_word_that_is_read_as_a_value_is_quoted() -> None:
    entries = Counted()
    counted((flight(n) for n in range(20)), entries)
    assert entries.write("f", json.dumps(flight(1, id="yes"))).startswith("  output:\n    id: 'yes'\n")


def test_a_function_has_shapes_of_its_own() -> None:
    entries = Counted()
    counted((flight(n) for n in range(20)), entries)
    assert counted((flight(n) for n in range(20)), entries, name="g") == FEW


def test_a_text_without_a_shape_is_seldom_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []
    learn = json_entries._learned_shape

    def counting(text: str, write: Callable[[Any], str]) -> Any:
        tried.append(text)
        return learn(text, write)

    monkeypatch.setattr(json_entries, "_learned_shape", counting)
    entries = by_shapes()
    text = '{"a": 1, "a": 2}'
    assert {entries.write("f", text) for _ in range(1000)} == {"  output:\n    a: 2\n"}
    assert len(tried) <= 10


def test_what_is_learned_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_entries, "_MOST_CHARACTERS", 100_000)
    entries = by_shapes()
    most = 0
    for number in range(3_000):
        entries.write(f"f{number}", "1")
        most = max(most, len(entries._seen))
    assert 100 < most < 500


def test_shapes_of_one_name_are_bounded() -> None:
    entries = by_shapes()
    for number in range(3_000):
        text = json.dumps({f"k{number % 40}": 1})
        assert entries.write("f", text) == expected(text)
    (seen,) = entries._seen.values()
    assert len(seen.shapes) == json_entries._VARIANTS


def test_a_large_text_is_not_learned() -> None:
    entries = Counted()
    many = [{f"k{n}": n for n in range(json_entries._PLACES + 1)}] * 50
    long = [{"k": "x" * json_entries._CHARACTERS}] * 50
    assert counted(iter(many), entries) == 50
    assert counted(iter(long), entries, "g") == 50


@pytest.mark.parametrize("writer", [COMPILED_WRITER, None])
def test_no_json_is_refused(writer: Any) -> None:
    entries = JsonEntries(KEY, PAD, json.loads, compiled_writer=writer)
    for _ in range(10):
        entries.write("f", '{"a": 1}')
        with pytest.raises(json.JSONDecodeError):
            entries.write("f", '{"a": 01}')
        with pytest.raises(json.JSONDecodeError):
            entries.write("f", '{"a": }')


def test_a_written_item_stands_where_its_value_would() -> None:
    item = {"function": "f", "output": {"a": [1, {"b": "x\n"}]}}
    written = WrittenItem(write_entries(item, "  "))
    for context in ([written], [written, written], ["before", written], [written, "after"]):
        plain = [item if each is written else each for each in context]
        assert emit({"Context": context}) == emit({"Context": plain})
    assert emit({"Context": [WrittenItem(""), "x"]}) == emit({"Context": [{}, "x"]})


RESULTS = st.builds(
    ActionOutcome,
    message_id=st.just("m"),
    request_id=st.just(""),
    function=texts,
    arguments_json=st.sampled_from(["", "{}", '{"a": "b"}', '{"a": [], "b": 1.50}']),
    output_json=st.none() | values.map(json.dumps),
    error=st.none() | texts,
)


@given(st.lists(RESULTS, max_size=3))
def test_a_result_is_written_as_its_projection(results: list[ActionOutcome]) -> None:
    projections = [
        response_projection(
            result.function,
            json.loads(result.arguments_json or "{}"),
            None if result.output_json is None else json.loads(result.output_json),
            result.error,
        )
        for result in results
    ]
    assert emit({"Context": [*map(write_result, results)]}) == emit({"Context": projections})

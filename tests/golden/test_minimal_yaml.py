"""Minimal YAML against the measured vectors, and the shapes no vector has."""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
import yaml

from antiphon_client.minimal_yaml import emit, emit_pyyaml, prune
from antiphon_client.minimal_yaml.fast import NotCoveredError, emit_fast

VECTORS = [
    json.loads(line)
    for line in (Path(__file__).parent / "vectors" / "minimal_yaml.jsonl").read_text("utf-8").splitlines()
]


def test_the_vectors_are_all_there() -> None:
    assert len(VECTORS) == 1320


def test_emitter_gives_every_vector() -> None:
    wrong = [v["id"] for v in VECTORS if emit(v["input"]["value"]) != v["expected"]["ok"]]
    assert wrong == []


def test_reference_gives_every_vector() -> None:
    wrong = [v["id"] for v in VECTORS if emit_pyyaml(v["input"]["value"]) != v["expected"]["ok"]]
    assert wrong == []


def test_fast_path_covers_every_vector() -> None:
    # emit_fast raises for what it leaves to the reference.
    covered = [emit_fast(v["input"]["value"]) for v in VECTORS]
    assert len(covered) == len(VECTORS)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({}, "{}\n"),
        ([], "[]\n"),
        ({"a": None, "b": " ", "c": [[], {"d": ""}]}, "{}\n"),
        ([None, "\n\t"], "[]\n"),
        ({"a": 0, "b": False, "c": 0.0}, "a: 0\nb: false\nc: 0.0\n"),
        ({"a": ["x\n\n"]}, "a:\n- |+\n  x\n\n...\n"),
        ({"a": "x\n\n", "b": 1}, "a: |+\n  x\n\nb: 1\n"),
        ({"a\nb": [1, {"c": 2}]}, "? |-\n  a\n  b\n: - 1\n  - c: 2\n"),
        ({"": {"x": 1}}, "? ''\n: x: 1\n"),
        ({"\n": 1}, "? |2+\n\n: 1\n"),
        ({"k" * 122: 1}, "k" * 122 + ": 1\n"),
        ({"k" * 123: 1}, "? " + "k" * 123 + "\n: 1\n"),
        ([[[1, 2]], "x"], "- - - 1\n    - 2\n- x\n"),
        (("a", ("b",)), "- a\n- - b\n"),
        ({"f": float("inf"), "g": float("-inf"), "h": float("nan")}, "f: .inf\ng: -.inf\nh: .nan\n"),
        ({"f": 1e17, "g": 1e-7, "h": -0.0}, "f: 1.0e+17\ng: 1.0e-07\nh: -0.0\n"),
        ({"n": 10**3999}, f"n: 1{'0' * 3999}\n"),
        ({"s": "word " * 500 + "end"}, "s: " + "word " * 500 + "end\n"),
    ],
)
def test_shapes(value: Any, text: str) -> None:
    assert emit_fast(value) == text
    assert emit_pyyaml(value) == text


@pytest.mark.parametrize("value", ["x", "", None, 5, True, {1: "x"}, {"a": {None: 1}}, [{1.5: [2]}]])
def test_what_the_fast_path_leaves_is_written_by_the_reference(value: Any) -> None:
    with pytest.raises(NotCoveredError):
        emit_fast(value)
    assert emit(value) == emit_pyyaml(value)


@pytest.mark.parametrize("value", [{"a": object()}, OrderedDict(a=1), [{1, 2}, object()]])
def test_types_that_json_does_not_have(value: Any) -> None:
    try:
        expected = emit_pyyaml(value)
    except yaml.YAMLError:
        with pytest.raises(yaml.YAMLError):
            emit(value)
    else:
        assert emit(value) == expected


def test_equal_objects_are_written_out_each_time() -> None:
    shared = {"k": ["v"]}
    assert emit({"a": shared, "b": shared}) == "a:\n  k:\n  - v\nb:\n  k:\n  - v\n"


def test_pruning_changes_nothing_it_was_given() -> None:
    value = {"a": [None, "", {"b": " "}], "c": ("", 1)}
    assert prune(value) == {"c": [1]}
    assert value == {"a": [None, "", {"b": " "}], "c": ("", 1)}


def test_the_hundredth_level() -> None:
    value: Any = "x\ny"
    for level in range(100):
        value = [value] if level % 2 else {"k": value}
    assert emit_fast(value) == emit_pyyaml(value)


@pytest.mark.parametrize(
    "value",
    [
        {"k" * 500_000: [*[{"a": None}] * 100_000, "x"]},
        {"k" * 100: [[]] * 200_000},
        {"s": "\n" * 500_000 + "x" + " \n" * 200_000},
        {"s": "'" * 500_000 + " #"},
        ["x: " * 500_000],
    ],
    ids=["long key over empties", "empties", "breaks", "quotes", "colons"],
)
def test_hostile_documents_take_linear_time(value: Any) -> None:
    start = time.process_time()
    emit_fast(value)
    # Tenths of a second when linear; copying the long key for each item takes minutes.
    assert time.process_time() - start < 5

"""The fast emitter writes the reference's bytes, whatever the document.

Each family looks for trouble in one place. Together they make 20,000 documents
and more a run; ANTIPHON_YAML_DOCUMENTS sets another total.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from antiphon_client.minimal_yaml import emit, emit_pyyaml, fast, prune, scalars
from antiphon_client.minimal_yaml.fast import emit_fast

# What YAML gives a meaning to, and what PyYAML treats specially.
CHARACTERS = (
    "ab1.-:#?'\"\\ \n\t,[]{}&*!|>%@`~=<+_0eE/$^();\r\x00\x07\x1b\x7f\x80\x85\xa0\xad\u2028\u2029\ufeff"
    "\ud7ff\ud800\udfff\ue000\ufffd\ufffe\uffff\U00010000\U0001f642\U0010fffe\U0010ffffé漢م"
)
TOKENS = [
    *("", "", "", "\n", "\n\n", " ", "  ", ": ", ":", " #", "- ", "-", "? ", "\r\n", "\x85", "\u2028", "🙂"),
    *(
        "---",
        "...",
        "true",
        "No",
        "null",
        "~",
        "<<",
        "=",
        "0x1F",
        "1_000",
        "1:30",
        "2026-07-09",
        "1e3",
        ".inf",
    ),
]
WORDS = [
    "the",
    "order",
    "refund",
    "W123:",
    "policy.",
    "#4",
    "-",
    "ok?",
    "naïve",
    "東京",
    "🙂",
    '"quoted"',
    "it's",
]


def texts(size: int = 6) -> st.SearchStrategy[str]:
    """Texts of troublesome characters between two troublesome tokens."""
    token = st.sampled_from(TOKENS)
    return st.tuples(token, st.text(CHARACTERS, max_size=size), token).map("".join)


def prose() -> st.SearchStrategy[str]:
    """Texts as people and models write them, in lines and paragraphs."""
    line = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
    return st.lists(line | st.just(""), min_size=1, max_size=4).map("\n".join)


def numbers() -> st.SearchStrategy[Any]:
    """Integers of any size, every float, both booleans."""
    return st.integers() | st.integers(-(10**60), 10**60) | st.floats() | st.booleans()


def keys() -> st.SearchStrategy[str]:
    """Troublesome keys, and keys about the length where the simple form ends."""
    long = st.integers(scalars.SIMPLE_KEY_LENGTH - 2, scalars.SIMPLE_KEY_LENGTH + 6).map("k".__mul__)
    return (
        texts(3)
        | st.sampled_from(["id", "user id", "multi\nline", "", " ", "yes", "1", "? q", "\n", "a\n\n"])
        | long
    )


def nested(depth: int, leaf: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A leaf under as many mappings and sequences, some of them complex keys."""
    kinds = st.lists(st.sampled_from(["list", "pair", "key", "complex"]), min_size=depth, max_size=depth + 8)

    def build(arguments: tuple[list[str], Any]) -> Any:
        value = arguments[1]
        for kind in arguments[0]:
            if kind == "list":
                value = [value]
            elif kind == "pair":
                value = [value, "x"]
            else:
                value = {"k" if kind == "key" else "a\nb": value, "z": None}
        return [value]

    return st.tuples(kinds, leaf).map(build)


LEAF = texts(4) | prose() | numbers() | st.none()
ANYTHING = st.recursive(
    LEAF,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys(), inner, max_size=3),
    max_leaves=6,
)
FINAL_LITERAL = st.tuples(
    prose() | texts(3), st.sampled_from(["\n", "\n\n", "\n\x85", "\u2028", "\x85\n", "\n \n"])
).map("".join)
FAMILIES: dict[str, st.SearchStrategy[Any]] = {
    "texts under a key": st.builds(lambda text: {"s": text}, texts(8)),
    "texts as items": st.builds(lambda one, two: [one, [two]], texts(6), texts(6)),
    "keys": st.dictionaries(
        keys(), st.sampled_from(["v", 0, [], ["x"], {"a": 1}, "x\ny", None]), min_size=1, max_size=3
    ),
    "numbers": st.lists(numbers(), min_size=1, max_size=4),
    "deep": nested(6, LEAF),
    "empties": st.recursive(
        st.sampled_from([None, "", " ", "\n", "\u2003", [], {}, 0, False, 0.0, "x"]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["a", "", "b\n"]), inner, max_size=2)
        ),
        max_leaves=6,
    ).map(lambda value: [value]),
    "final literals": st.builds(
        lambda text, shape: shape(text),
        FINAL_LITERAL,
        st.sampled_from(
            [lambda t: [t], lambda t: {"k": t}, lambda t: [{"k": [t]}], lambda t: {"a": t, "b": t}]
        ),
    ),
    "instructions": st.builds(
        lambda guidance, instruction, context: {
            "Guidance": guidance,
            "Instruction": instruction,
            "Context": context,
        },
        prose(),
        prose() | texts(6),
        st.lists(ANYTHING, max_size=2),
    ),
    "anything": st.lists(ANYTHING, min_size=1, max_size=2)
    | st.dictionaries(keys(), ANYTHING, min_size=1, max_size=2),
    "roots": ANYTHING,
}


# The keys of one test must not be answered from another's cache.
@pytest.fixture(autouse=True)
def fresh_key_cache() -> Iterator[None]:
    scalars.write_simple_key.cache_clear()
    yield
    scalars.write_simple_key.cache_clear()


DOCUMENTS = int(os.environ.get("ANTIPHON_YAML_DOCUMENTS", "20000"))
PER_FAMILY = math.ceil(DOCUMENTS / len(FAMILIES))


def documents_checked(
    family: str, write: Callable[[Any], str], count: int, phases: Sequence[Phase] = tuple(Phase)
) -> int:
    """Compare so many documents of a family with the reference; return how many there were."""
    checked = 0

    @settings(max_examples=count, phases=phases, suppress_health_check=list(HealthCheck), database=None)
    @given(document=FAMILIES[family])
    def check(document: Any) -> None:
        nonlocal checked
        checked += 1
        assert write(document) == emit_pyyaml(document)

    check()
    return checked


@pytest.mark.parametrize("family", FAMILIES)
def test_same_bytes_as_the_reference(family: str) -> None:
    assert documents_checked(family, emit, PER_FAMILY) >= PER_FAMILY


def without_final_mark(document: Any) -> str:
    return emit(document).removesuffix("...\n")


def without_indent_hint(document: Any) -> str:
    return emit(document).replace("|2", "|")


@pytest.mark.parametrize(
    ("family", "write"),
    [("final literals", without_final_mark), ("final literals", without_indent_hint)],
)
def test_catches_a_wrong_result(family: str, write: Callable[[Any], str]) -> None:
    with pytest.raises(AssertionError):
        documents_checked(family, write, PER_FAMILY, [Phase.generate])


@pytest.mark.parametrize(
    ("family", "module", "name", "wrong"),
    [
        ("keys", fast, "SIMPLE_KEY_LENGTH", scalars.SIMPLE_KEY_LENGTH + 1),
        ("numbers", fast, "write_float", repr),
        ("texts under a key", scalars, "_RESOLVERS", {}),
        ("texts under a key", scalars, "_may_be_literal", bool),
        ("texts under a key", scalars, "_ESCAPED", re.compile(r"[^ !#-\[\]-~\xa0-\U0010ffff]")),
        ("texts as items", scalars, "_INDICATORS_BEFORE_SPACE", frozenset("?:")),
    ],
)
def test_catches_a_wrong_rule(
    monkeypatch: pytest.MonkeyPatch, family: str, module: ModuleType, name: str, wrong: Any
) -> None:
    monkeypatch.setattr(module, name, wrong)
    with pytest.raises(AssertionError):
        documents_checked(family, emit_fast, PER_FAMILY, [Phase.generate])


@settings(max_examples=300)
@given(ANYTHING)
def test_pruning_leaves_nothing_empty_and_repeats_itself(value: Any) -> None:
    pruned = prune(value)
    assert repr(prune(pruned)) == repr(pruned)
    for part in parts_of(pruned):
        assert part is not None
        assert not isinstance(part, str) or part.strip()
        assert not isinstance(part, (list, dict)) or part


def parts_of(value: Any) -> Iterator[Any]:
    """Every value inside a container, at any depth."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in inside:
        yield part
        yield from parts_of(part)

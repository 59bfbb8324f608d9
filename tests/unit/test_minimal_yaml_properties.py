"""The fast emitter writes the reference's bytes, whatever the document."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
from hypothesis import Phase, given, settings

from antiphon_client.minimal_yaml import emit, emit_entry, emit_pyyaml, fast, prune, scalars
from antiphon_client.minimal_yaml.fast import emit_fast
from tests.support.yaml_documents import (
    DOCUMENTS,
    FAMILIES,
    PER_FAMILY,
    documents,
    documents_compared,
)


@pytest.fixture(autouse=True)
def _fresh_key_cache() -> Iterator[None]:
    # The keys of one test must not be answered from another's rules.
    scalars.SIMPLE_KEYS.clear()
    yield
    scalars.SIMPLE_KEYS.clear()


@pytest.mark.parametrize("family", FAMILIES)
def test_same_bytes_as_the_reference(family: str) -> None:
    assert documents_compared(family, emit) >= PER_FAMILY


def test_the_families_make_up_the_total() -> None:
    assert PER_FAMILY * len(FAMILIES) >= DOCUMENTS


def without_final_mark(document: Any) -> str:
    return emit(document).removesuffix("...\n")


def without_indent_hint(document: Any) -> str:
    return emit(document).replace("|2", "|")


def without_complex_keys(document: Any) -> str:
    return emit(document).replace("? ", "")


@pytest.mark.parametrize(
    ("family", "write"),
    [
        ("final literal under a key", without_final_mark),
        ("final literal in an item", without_indent_hint),
        ("deep", without_complex_keys),
    ],
)
def test_a_wrong_result_is_caught(family: str, write: Callable[[Any], str]) -> None:
    with pytest.raises(AssertionError):
        documents_compared(family, write, [Phase.generate])


@pytest.mark.parametrize(
    ("family", "module", "name", "wrong"),
    [
        ("keys", scalars, "SIMPLE_KEY_LENGTH", scalars.SIMPLE_KEY_LENGTH + 1),
        ("keys", scalars, "SIMPLE_KEY_LENGTH", scalars.SIMPLE_KEY_LENGTH - 1),
        ("text under a key", fast, "READ_AS_VALUES", frozenset()),
        ("numbers", fast, "write_float", repr),
        ("text under a key", scalars, "_RESOLVERS", {}),
        ("text under a key", scalars, "_may_be_literal", bool),
        ("text under a key", scalars, "_ESCAPED", re.compile(r"[^ !#-\[\]-~\xa0-\U0010ffff]")),
        ("text under a key", scalars, "_is_plain_within", str.isprintable),
        ("texts as items", scalars, "_INDICATORS_BEFORE_SPACE", frozenset("?:")),
        ("texts as items", scalars, "_DOCUMENT_MARKS", ("---",)),
        ("final literal under a key", scalars, "BREAKS", "\n"),
    ],
)
def test_a_wrong_rule_is_caught(
    monkeypatch: pytest.MonkeyPatch, family: str, module: ModuleType, name: str, wrong: Any
) -> None:
    monkeypatch.setattr(module, name, wrong)
    with pytest.raises(AssertionError):
        documents_compared(family, emit_fast, [Phase.generate])


@settings(max_examples=300)
@given(documents("text under a key"), documents("keys"))
def test_one_entry_is_a_mapping_with_one(first: Any, second: Any) -> None:
    for document in (first, second):
        for key, value in document.items():
            assert emit_entry(key, value) == emit({key: value})


def test_a_name_is_written_as_it_stands() -> None:
    """Every character that a name may have, first and later, as the rules for any text have it."""
    characters = list(map(chr, range(sys.maxunicode + 1)))
    names = [name for name in (*characters, *[f"a{each}" for each in characters]) if name.isidentifier()]
    assert len(names) > 200_000
    assert [name for name in names if scalars.write_text(name, "") != f"{name}\n"] == []


def test_the_names_that_are_values_are_those_that_the_reference_quotes() -> None:
    words = ["yes", "no", "true", "false", "on", "off", "null", "y", "n", "none", "nan", "inf", "yesno", "_"]
    spelled = [spell(word) for word in words for spell in (str, str.title, str.upper, str.swapcase)]
    quoted = {word for word in spelled if emit_pyyaml([word]) != f"- {word}\n"}
    assert quoted == scalars.READ_AS_VALUES


def test_keys_are_kept_within_a_bound() -> None:
    most = scalars.SIMPLE_KEYS._MOST
    emit_fast({f"k{number}": number for number in range(most + 10)})
    assert len(scalars.SIMPLE_KEYS) == 10
    emit_fast({"k" * 1000: 1})
    assert len(scalars.SIMPLE_KEYS) == 10


@settings(max_examples=500)
@given(documents("hollow") | documents("anything"))
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

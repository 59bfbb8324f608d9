"""Documents that look for trouble in the YAML emitter, each family in one place.

A document is read off random bytes, each byte a choice, so that hypothesis
draws once a document: 20,000 of them take seconds, not minutes. Together the
families make that many a run; ANTIPHON_YAML_DOCUMENTS sets another total.
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from antiphon_client.minimal_yaml import emit_pyyaml
from antiphon_client.minimal_yaml.scalars import SIMPLE_KEY_LENGTH

T = TypeVar("T")

# What YAML gives a meaning to, and what PyYAML treats specially.
CHARACTERS = (
    "ab1.-:#?'\"\\ \n\t,[]{}&*!|>%@`~=<+_0eE/$^();\r\x00\x07\x1b\x7f\x80\x85\xa0\xad\u2028\u2029\ufeff"
    "\ud7ff\ud800\udfff\ue000\ufffd\ufffe\uffff\U00010000\U0001f642\U0010fffe\U0010ffffé漢م"
)
TOKENS = [
    *("", "\n", "\n\n", " ", "  ", ": ", " #", "- ", "? ", "\r\n", "x", "word ", "\n  ", "---", "..."),
    *("true", "No", "null", "<<", "0x1F", "0o7", "1_000", "1:30", "2026-07-09", "1e3", "1.5", ".inf"),
]
PIECES = [*CHARACTERS, *TOKENS, *TOKENS]
WORDS = [
    "the",
    "order",
    "W123:",
    "policy.",
    "#4",
    "-",
    "ok?",
    "naïve",
    "東京",
    "🙂",
    '"so"',
    "it's",
    "\n",
    "\n\n",
]
ENDS = ["\n", "\n\n", "\n\x85", "\u2028", "\x85\n", "\n \n", ""]
NUMBERS = [0, -1, 7, True, False, 2**53 + 1, -(10**30), 0.0, -0.0, 0.1, 1e16, 1e17, 1e-7, -2.5e300, 5e-324]
EMPTIES: list[Any] = [None, "", " ", "\n", "\u2003", [], {}]
KEYS = ["id", "user id", "k.1", "multi\nline", "", " ", "yes", "1", "? q", "\n", "a\n\n", "\x85", "a: b", "é"]


class Choices:
    """Choices read off bytes; when they run out, always the first."""

    def __init__(self, data: bytes) -> None:
        self._bytes = iter(data)

    def of(self, options: Sequence[T]) -> T:
        return options[next(self._bytes, 0) % len(options)]


def text(choices: Choices, most: int = 7) -> str:
    """A text of troublesome pieces."""
    return "".join([choices.of(PIECES) for _ in range(choices.of(range(1, most + 1)))])


def prose(choices: Choices) -> str:
    """A text as people and models write it, in lines and paragraphs."""
    return " ".join([choices.of(WORDS) for _ in range(choices.of(range(1, 8)))])


def final_literal(choices: Choices) -> str:
    """A text that ends in line breaks of some kind."""
    return choices.of([prose, text])(choices) + choices.of(ENDS) + choices.of(ENDS)


def key(choices: Choices) -> str:
    """A troublesome key, or one about as long as where the simple form ends."""
    return choices.of([long_key, text, text, known_key, known_key])(choices)


def known_key(choices: Choices) -> str:
    return choices.of(KEYS)


def long_key(choices: Choices) -> str:
    return "k" * choices.of(range(SIMPLE_KEY_LENGTH - 3, SIMPLE_KEY_LENGTH + 8))


def number(choices: Choices) -> float:
    return choices.of(NUMBERS)


def any_float(choices: Choices) -> float:
    """Any of the 2**64 floats, infinities and NaN among them."""
    unpacked: tuple[float] = struct.unpack("<d", bytes(choices.of(range(256)) for _ in range(8)))
    return unpacked[0]


def empty(choices: Choices) -> Any:
    return choices.of(EMPTIES)


def value(choices: Choices, depth: int = 0) -> Any:
    """Any value, containers a few levels deep."""
    leaves: list[Callable[[Choices], Any]] = [text, text, prose, final_literal, number, empty]
    kind = choices.of(range(10))
    if depth > 4 or kind < 6:
        return choices.of(leaves)(choices)
    if kind < 8:
        return [value(choices, depth + 1) for _ in range(choices.of(range(1, 4)))]
    return {key(choices): value(choices, depth + 1) for _ in range(choices.of(range(1, 4)))}


def deep(choices: Choices) -> Any:
    """A leaf under many mappings and sequences, some of them behind complex keys."""
    result = choices.of([text, final_literal, number])(choices)
    for _ in range(choices.of(range(4, 20))):
        shape = choices.of(range(5))
        if shape == 0:
            result = [result]
        elif shape == 1:
            result = [result, "x"]
        elif shape == 2:
            result = {"a": None, "k": result}
        else:
            result = {choices.of(["a\nb", "", "k"]): result, "z": 1}
    return [result]


def hollow(choices: Choices, depth: int = 0) -> Any:
    """Containers that are mostly empty, with now and then a zero that stays."""
    kind = choices.of(range(6))
    if depth > 3 or kind < 2:
        return choices.of([empty, empty, number])(choices)
    items = [hollow(choices, depth + 1) for _ in range(choices.of(range(4)))]
    return items if kind < 4 else dict(zip(["a", "", "b\n"], items, strict=False))


def instruction(choices: Choices) -> Any:
    """The sections of an instruction."""
    context = [value(choices, 2) for _ in range(choices.of(range(3)))]
    return {"Guidance": prose(choices), "Instruction": choices.of([prose, text])(choices), "Context": context}


FAMILIES: dict[str, Callable[[Choices], Any]] = {
    "text under a key": lambda choices: {"s": text(choices)},
    "texts as items": lambda choices: [text(choices), [text(choices)]],
    "keys": lambda choices: {key(choices): value(choices, 3), key(choices): text(choices)},
    "numbers": lambda choices: [number(choices), any_float(choices), {"n": any_float(choices)}],
    "final literal under a key": lambda choices: {"a": final_literal(choices), "b": final_literal(choices)},
    "final literal in an item": lambda choices: [{"k": [final_literal(choices)]}],
    "deep": deep,
    "hollow": lambda choices: [hollow(choices), hollow(choices)],
    "instruction": instruction,
    "anything": value,
}

DOCUMENTS = int(os.environ.get("ANTIPHON_YAML_DOCUMENTS", "20000"))
PER_FAMILY = math.ceil(DOCUMENTS / len(FAMILIES))


def documents(family: str) -> st.SearchStrategy[Any]:
    """The strategy of a family."""
    build = FAMILIES[family]
    return st.binary(min_size=8, max_size=64).map(lambda data: build(Choices(data)))


def documents_compared(
    family: str, write: Callable[[Any], str], phases: Sequence[Phase] = tuple(Phase)
) -> int:
    """Compare a family's share of documents with the reference; return how many there were.

    Raises AssertionError at a difference.
    """
    compared = 0

    @settings(max_examples=PER_FAMILY, phases=phases, suppress_health_check=list(HealthCheck), database=None)
    @given(document=documents(family))
    def compare(document: Any) -> None:
        nonlocal compared
        compared += 1
        assert write(document) == emit_pyyaml(document)

    compare()
    return compared

"""Minimal YAML of JSON texts, written without making values of them.

The compiled part, ``_compiled.c``, writes while it reads. Without it a text is
parsed, unless its shape is known. An action gives results of the same few shapes:
the same keys in the same order, other texts and numbers. What is written around these
is the same as well, so one search finds them in the text and they are put into what
was written once. That takes a third of the time of parsing and writing the value.

A JSON text without a backslash is cut at its quotes: what stands at odd places is
a key or a text, the rest is structure and numbers. Two texts of which all keys,
all structure and all empty texts are the same have values that differ in texts
and numbers only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

from antiphon_client.minimal_yaml.fast import write_entries, write_number
from antiphon_client.minimal_yaml.scalars import (
    COMMON_TEXTS,
    COMPILED,
    PLAIN_IN_JSON,
    READ_AS_VALUES,
    SIMPLE_KEYS,
    is_common_text,
    write_text,
)

_LEARNED_AFTER = 32
"""Texts that are parsed until a shape is learned, which takes as long as parsing some 100 of them."""
_CHARACTERS, _PLACES = 4 * 1024, 32
"""Characters, and texts and numbers, of a text whose shape is learned, at most: some 5 ms of work."""
_VARIANTS = 4
"""Shapes with one name and one number of quotes, at most."""
_MOST_CHARACTERS = 4 * 1024 * 1024
"""Characters of all that is learned, about, before it is forgotten."""

_NUMBER = re.compile(r"(-?[0-9]++(?:\.[0-9]++)?+(?:[eE][-+]?[0-9]++)?+|true|false)")
"""Find numbers and truth values between texts: in JSON, nothing else there has their characters."""
_ANY_TEXT = r'[^"\\\x00-\x1f]++'
_WHOLE_NUMBER = r"(?:-?[1-9][0-9]{0,17}|0|true|false)"
"""A number or truth value that is written as it stands."""

_FIRST, _LAST = "\ue000", "\ue001"
_PLACE = re.compile(f"{_FIRST}([0-9]+){_LAST}")
"""Find what stands for a text or number while a shape is learned: a text that is written as it stands."""

_decode = json.JSONDecoder().decode

_TEXTS_KEPT = 4096
"""Texts that the compiled part asks for and that are kept as they are written."""
_KEPT_CHARACTERS = 64
"""Characters of such a text, at most."""

_Pick = Callable[[Sequence[str]], tuple[str, ...]]


class _Place(NamedTuple):
    """A text or a number between what all texts of a shape have in common.

    Attributes:
        is_text: Whether it is a text.
        is_plain: Whether it is always written as it stands.
    """

    is_text: bool
    is_plain: bool

    @property
    def pattern(self) -> str:
        """What finds it, as a group."""
        if self.is_text:
            return f'"({PLAIN_IN_JSON if self.is_plain else _ANY_TEXT})"'
        return f"({_WHOLE_NUMBER})" if self.is_plain else _NUMBER.pattern

    def written(self, found: str) -> str | None:
        """Return what was found as it is written; None where it is left out or depends on its indent."""
        if not self.is_text:
            return write_number(_decode(found))[:-1]
        if is_common_text(found):
            return found
        if found.isprintable() and not found.isspace():
            return write_text(found, "")[:-1]
        return None


class _Shape:
    """What some texts have in common.

    Attributes:
        common: What stands before, between and after their places.
        places: The places.
    """

    def __init__(self, common: tuple[str, ...], places: Sequence[_Place], template: str) -> None:
        """Set up.

        Args:
            common: As the attribute.
            places: As the attribute.
            template: What is written, to be formatted with the texts and numbers.
        """
        self.common = common
        self.places = places
        self._template = template
        patterns = [re.escape(common[0])]
        for place, after in zip(places, common[1:], strict=True):
            patterns += (place.pattern, re.escape(after))
        self._find = re.compile("".join(patterns)).fullmatch
        self._words = _picker([i for i, place in enumerate(places) if place.is_text and place.is_plain])
        self._others = [(i, place) for i, place in enumerate(places) if not place.is_plain]

    def written(self, text: str) -> str | None:
        """Return what is written for a text of this shape; None for one of another, or to be parsed."""
        match = self._find(text)
        if match is None:
            return None
        found: Sequence[str] = match.groups()
        if not READ_AS_VALUES.isdisjoint(self._words(found)):
            return None
        if self._others:
            changed = list(found)
            for index, place in self._others:
                written = place.written(found[index])
                if written is None:
                    return None
                changed[index] = written
            found = tuple(changed)
        return self._template % found

    def widened(self, other: _Shape) -> _Shape:
        """Return the shape of the texts of this one and of another that has the same in common."""
        both = zip(self.places, other.places, strict=True)
        places = [_Place(mine.is_text, mine.is_plain and its.is_plain) for mine, its in both]
        return _Shape(self.common, places, self._template)


class _Seen:
    """What was seen of texts with one name and one number of quotes."""

    __slots__ = ("parsed", "shapes")

    def __init__(self) -> None:
        # The first of them, with which this begins.
        self.parsed = 1
        self.shapes: tuple[_Shape, ...] = ()

    @property
    def is_worth_learning(self) -> bool:
        """Whether to learn the shape of the text that is parsed now: ever more rarely where it was no use."""
        return self.parsed >= _LEARNED_AFTER and self.parsed & (self.parsed - 1) == 0

    def learn(self, shape: _Shape) -> None:
        """Keep a shape, together with the one that has the same in common, and drop the oldest."""
        same = [each.widened(shape) for each in self.shapes if each.common == shape.common]
        others = [each for each in self.shapes if each.common != shape.common]
        self.shapes = (*(same or [shape]), *others)[:_VARIANTS]


def _write_any_text(text: str, pad: int) -> str:
    """Return a text as it is written with an indent of so many spaces; "" where it is left out."""
    return write_text(text, " " * pad) if text and not text.isspace() else ""


def _compiled_writer() -> Any:
    """Return the compiled writer with the rules that it asks for; None without the compiled part."""
    if COMPILED is None:
        return None
    return COMPILED.JsonWriter(
        common_texts=COMMON_TEXTS,
        kept_characters=_KEPT_CHARACTERS,
        write_key=SIMPLE_KEYS.__getitem__,
        write_text=_write_any_text,
        write_short_text=lru_cache(_TEXTS_KEPT)(_write_any_text),
        write_number=lambda text: write_number(_decode(text)),
        read_text=_decode,
    )


COMPILED_WRITER = _compiled_writer()
"""Writes what is common in a tenth of the time; None where it was not compiled."""


class JsonEntries:
    """Writes entries of a mapping whose values are JSON texts; from any thread.

    Without the compiled writer it learns their shapes. What it gives depends on neither.
    """

    def __init__(
        self, key: str, pad: str, parse: Callable[[str], Any], *, compiled_writer: Any = COMPILED_WRITER
    ) -> None:
        """Begin with nothing.

        Args:
            key: The entries' key, one that is written as it stands.
            pad: The mapping's indent, which every line begins with.
            parse: Gives the value of a JSON text.
            compiled_writer: ``COMPILED_WRITER``, or None to do without.
        """
        self._compiled_writer = compiled_writer
        self._key = key
        self._pad = pad
        self._parse = parse
        self._seen: dict[tuple[str, int], _Seen] = {}
        self._characters = 0

    def write(self, name: str, text: str) -> str:
        """Return the lines of an entry, each with its line break; none where nothing is left of the value.

        Args:
            name: What gives such texts: an action's.
            text: The JSON text of the value.

        Raises:
            json.JSONDecodeError: It is none; whatever else parsing raises.

        Cost: some 1 µs for an object of a dozen entries where the compiled writer is there and covers it;
        else 4 µs where its shape is known, and three times that elsewhere.
        """
        if self._compiled_writer is not None:
            written: str | None = self._compiled_writer.write(self._key, len(self._pad), text)
            return self._parsed(text) if written is None else written
        return self._by_shape(name, text)

    def _by_shape(self, name: str, text: str) -> str:
        quotes = text.count('"')
        seen = self._seen.get((name, quotes))
        if seen is None:
            self._begin(name, quotes)
            return self._parsed(text)
        for shape in seen.shapes:
            written = shape.written(text)
            if written is not None:
                return written
        seen.parsed += 1
        if seen.is_worth_learning and len(text) <= _CHARACTERS:
            learned = _learned_shape(text, self._written)
            if learned is not None:
                self._characters += 16 * len(text)
                seen.learn(learned)
        return self._parsed(text)

    def _begin(self, name: str, quotes: int) -> None:
        if self._characters > _MOST_CHARACTERS:
            self._seen.clear()
            self._characters = 0
        self._characters += len(name) + 256
        self._seen[name, quotes] = _Seen()

    def _parsed(self, text: str) -> str:
        return self._written(self._parse(text))

    def _written(self, value: Any) -> str:
        return write_entries({self._key: value}, self._pad)


def _learned_shape(text: str, write: Callable[[Any], str]) -> _Shape | None:
    """Return the shape of a JSON text; None where it has none that could be told.

    Args:
        text: The text.
        write: Writes an entry with a value.
    """
    if "\\" in text:
        return None
    common, places = _divided(text.split('"'))
    if len(places) > _PLACES:
        return None
    marks = [f'"{_FIRST}{number}{_LAST}"' for number in range(len(places))]
    yaml = write(_decode("".join([part for pair in zip(common, [*marks, ""], strict=True) for part in pair])))
    # A key that stands twice has one value only.
    if [int(number) for number in _PLACE.findall(yaml)] != [*range(len(places))]:
        return None
    return _Shape(common, places, _PLACE.sub("%s", yaml.replace("%", "%%")))


def _divided(pieces: Sequence[str]) -> tuple[tuple[str, ...], list[_Place]]:
    """Return what is common to a text and those of its shape, and the places between.

    Args:
        pieces: The text, cut at its quotes.
    """
    common = [""]
    places: list[_Place] = []
    for index, piece in enumerate(pieces):
        if index % 2 == 0:
            first, *rest = _NUMBER.split(piece)
            common[-1] += first
            for number, after in zip(rest[::2], rest[1::2], strict=True):
                places.append(_Place(False, re.fullmatch(_WHOLE_NUMBER, number) is not None))
                common.append(after)
        elif not piece or pieces[index + 1].lstrip().startswith(":"):
            # An empty text is left out, and a key is none of the values.
            common[-1] += f'"{piece}"'
        else:
            is_plain = re.fullmatch(PLAIN_IN_JSON, piece) is not None and piece not in READ_AS_VALUES
            places.append(_Place(True, is_plain))
            common.append("")
    return tuple(common), places


def _picker(indexes: Sequence[int]) -> _Pick:
    """Return what picks the items at these indexes, as a tuple."""
    if len(indexes) > 1:
        return itemgetter(*indexes)
    return lambda items: tuple([items[index] for index in indexes])

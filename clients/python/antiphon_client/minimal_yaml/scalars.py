"""How one scalar is written: plain, quoted or literal.

The conditions are those of PyYAML's emitter (``Emitter.analyze_scalar`` and
``choose_scalar_style`` in block context, with Unicode allowed and unlimited
width), put as searches over the whole text instead of a loop over characters.
Which plain texts would be read back as another type is PyYAML's own table.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import yaml

from antiphon_client.compiled_parts import compiled_part

BREAKS = "\n\x85\u2028\u2029"
"""The characters that YAML 1.1 takes for a line break."""

# Characters beyond ASCII that need no escape outside double quotes, without
# the line breaks and the byte order mark. U+10FFFF counts as special: PyYAML's
# upper bound is exclusive.
_PLAIN_UNICODE = "\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010fffe"

_NOT_PLAIN = re.compile(rf"[^ -~{_PLAIN_UNICODE}]|: | #|[: ]\Z")
_NOT_SINGLE = re.compile(rf"[^ -~{_PLAIN_UNICODE}{BREAKS}]|[{BREAKS}] | [{BREAKS}]")
_NOT_LITERAL = re.compile(rf"[^ -~{_PLAIN_UNICODE}{BREAKS}]| (?:[{BREAKS}]|\Z)")
# Double quotes escape astral characters, which the other styles do not.
_ESCAPED = re.compile("[^ !#-\\[\\]-~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]")
_BREAK_RUN = re.compile(f"[{BREAKS}]+")
_LINE = re.compile(f"[^{BREAKS}]+")

_INDICATORS = frozenset("#,[]{}&*!|>'\"%@`")
_INDICATORS_BEFORE_SPACE = frozenset("?:-")
_DOCUMENT_MARKS = ("---", "...")

# For each first character, what reads a plain text back as another type.
_RESOLVERS = {
    first: re.compile("|".join(f"(?:{pattern.pattern})" for _, pattern in resolvers), re.VERBOSE)
    for first, resolvers in yaml.SafeDumper.yaml_implicit_resolvers.items()
    if first
}
# First characters that decide nothing by themselves: a text that begins with
# one is plain if its rest is.
_FREE_FIRST = (
    frozenset(map(chr, range(0x21, 0x7F))) - _INDICATORS - _INDICATORS_BEFORE_SPACE - {".", *_RESOLVERS}
)

# The common text in one pass: a first character that decides nothing, unless the
# whole is a word such as "yes"; then characters that need no care, colons before
# no space and number signs after none; no space at the end. For a word it takes
# three quarters of the time of `write_text`, for a sentence half of it.
_WORD = re.compile("[A-Za-z]+")
_WORD_FIRST = "".join(filter(str.isalpha, _RESOLVERS))
_WORDS = "|".join(sorted({_RESOLVERS[first].pattern for first in _WORD_FIRST}))
_FREE = rf"[ !-\"$-9;-~{_PLAIN_UNICODE}]*+"
match_common_text = re.compile(
    rf"(?:[{re.escape(''.join(sorted(_FREE_FIRST)))}]|(?!(?x:{_WORDS}))[{_WORD_FIRST}])"
    rf"{_FREE}(?:(?::(?=[^ ])|(?<! )\#){_FREE})*+(?<! )"
).fullmatch
"""Match a text that is neither blank nor written in any way but as it stands; most such texts do."""

_BEGIN_COMMON = "".join(sorted({*_FREE_FIRST, *_WORD_FIRST}))
"""The first characters of texts that `match_common_text` matches."""

READ_AS_VALUES = frozenset(word for first in _WORD_FIRST for word in _WORD.findall(_RESOLVERS[first].pattern))
"""The words that are read back as another type than text, such as "yes".

Any other name in the sense of ``str.isidentifier`` is written as it stands: it is
made of letters, digits and underscores, and begins with no digit.
"""

COMPILED = compiled_part("antiphon_client.minimal_yaml._compiled")
"""What of minimal YAML is compiled; None where nothing is."""

COMMON_TEXTS: Any = COMPILED and COMPILED.CommonTexts(
    first_characters=_BEGIN_COMMON, words=READ_AS_VALUES, otherwise=match_common_text
)
"""What matches common texts in a tenth of the time; None where it was not compiled."""

is_common_text: Callable[[str], object] = match_common_text if COMMON_TEXTS is None else COMMON_TEXTS.match
"""Tell whether `match_common_text` matches a text."""

PLAIN_IN_JSON = rf"[{re.escape(_BEGIN_COMMON.replace(chr(92), ''))}][ !$-9;-\[\]-~]*+(?<! )"
"""What finds, between the quotes of a JSON text, a common text, or one that is read as a value.

In ASCII, and without a backslash, a colon and a number sign, which need a look at what follows them.
"""

_ESCAPES = {
    "\0": "\\0",
    "\x07": "\\a",
    "\x08": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\x0b": "\\v",
    "\x0c": "\\f",
    "\r": "\\r",
    "\x1b": "\\e",
    '"': '\\"',
    "\\": "\\\\",
    "\x85": "\\N",
    "\u2028": "\\L",
    "\u2029": "\\P",
}

# A key is written as "key: value" while it is shorter than 128 characters
# together with its tag, "!!str", which PyYAML counts though it writes none.
SIMPLE_KEY_LENGTH = 128 - len("!!str")
"""A key of this many characters or more takes the ``? key`` form."""


def write_text(text: str, pad: str) -> str:
    """Return a text as a block value, with the line break that ends it.

    Args:
        text: The text, not empty.
        pad: The spaces in front of its lines, where it takes several.
    """
    if "\n" in text:
        if _may_be_literal(text):
            return _literal(text, pad)
        return f"{_double_quoted(text)}\n"
    return f"{_flow(text, pad)}\n"


def write_complex_key(key: str, pad: str) -> str:
    """Return a key that follows ``? ``, with the line break that ends it."""
    return write_text(key, pad) if key else "''\n"


class _SimpleKeys(dict[str, str | None]):
    """Keys in the ``key: value`` form, or None for one that has none; made once for each key met.

    A dictionary, since documents repeat their keys, and it looks one up without a
    call. Long keys are not kept: they have no such form.
    """

    _MOST = 4096

    def __missing__(self, key: str) -> str | None:
        """Make a key's form and keep it."""
        if len(key) >= SIMPLE_KEY_LENGTH:
            return None
        if len(self) >= self._MOST:
            self.clear()
        simple = None if not key or _BREAK_RUN.search(key) is not None else _flow(key, "")
        self[key] = simple
        return simple


SIMPLE_KEYS = _SimpleKeys()
"""The ``key: value`` form of every key."""


def write_float(value: float) -> str:
    """Return a float as PyYAML spells it: ``1.0e+17``, ``.inf``, ``.nan``."""
    text = repr(value)
    if "n" in text:
        return {"inf": ".inf", "-inf": "-.inf", "nan": ".nan"}[text]
    if "e" in text and "." not in text:
        return text.replace("e", ".0e", 1)
    return text


def _flow(text: str, pad: str) -> str:
    """Write a text without newline: plain, else in single, else in double quotes."""
    if _is_plain_within(text) and (text[0] in _FREE_FIRST or _begins_plain(text)):
        return text
    if _NOT_SINGLE.search(text) is None:
        return _single_quoted(text, pad)
    return _double_quoted(text)


def _is_plain_within(text: str) -> bool:
    if text.isascii() and text.isprintable():
        return ": " not in text and " #" not in text and text[-1] not in ": "
    return _NOT_PLAIN.search(text) is None


def _begins_plain(text: str) -> bool:
    first = text[0]
    if first in _INDICATORS or first == " " or text.startswith(_DOCUMENT_MARKS):
        return False
    if first in _INDICATORS_BEFORE_SPACE and (len(text) == 1 or text[1] == " "):
        return False
    resolver = _RESOLVERS.get(first)
    return resolver is None or resolver.match(text) is None


def _may_be_literal(text: str) -> bool:
    if text.isascii() and text.replace("\n", "").isprintable():
        return " \n" not in text and text[-1] != " "
    return _NOT_LITERAL.search(text) is None


def _single_quoted(text: str, pad: str) -> str:
    quoted = text.replace("'", "''")
    if not text.isascii():
        quoted = _BREAK_RUN.sub(rf"\g<0>{pad}", quoted)
    return f"'{quoted}'"


def _double_quoted(text: str) -> str:
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    short = _ESCAPES.get(character)
    if short is not None:
        return short
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"


def _literal(text: str, pad: str) -> str:
    # The indentation indicator is PyYAML's indent of two.
    indent = "2" if text[0] in " \n\x85\u2028\u2029" else ""
    if text[-1] not in BREAKS:
        chomp, end = "-", "\n"
    else:
        # A lone break has nothing before it; "" is in every text.
        chomp, end = ("+" if text[-2:-1] in BREAKS else ""), ""
    return f"|{indent}{chomp}\n{_padded(text, pad)}{end}"


def _padded(text: str, pad: str) -> str:
    """Put the pad before every line that is not empty."""
    if not text.isascii():
        return _LINE.sub(rf"{pad}\g<0>", text)
    if text[0] != "\n" and "\n\n" not in text:
        body = text.replace("\n", f"\n{pad}", text.count("\n", 0, len(text) - 1))
        return f"{pad}{body}"
    return "\n".join([pad + line if line else line for line in text.split("\n")])

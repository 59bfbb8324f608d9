"""What a counter is, and the one that needs nothing: the estimate."""

from __future__ import annotations

import re
from typing import Protocol

ESTIMATE = "estimate"
"""Name of the counter that is always there."""


class TokenCounter(Protocol):
    """Counts tokens. Pure: the same text gives the same number in every process."""

    @property
    def name(self) -> str:
        """Its name, as requests give it."""

    def count(self, text: str) -> int:
        """Return how many tokens a text is. Cost: linear in the text."""


# A word with the space before it, eight characters a token; digits by threes,
# other printable ASCII too; white space, but for one plain space.
_ASCII = re.compile(
    r" ?[A-Za-z]{1,8}|[0-9]{1,3}|[!-/:-@\[-`{-~\x00-\x08\x0e-\x1f\x7f]{1,3}|[\t-\r ]{2,}|[\t-\r]"
)
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_BYTES_OF_A_TOKEN = 4


class Estimate:
    """A guess from the look of a text.

    One token for: each eight letters of a word begun, the space before it
    included in the first; each three digits begun; each three other ASCII
    characters begun; each run of white space that is more than one plain space;
    and, of each run of other characters, each four bytes of UTF-8 begun.

    Against o200k_base, over the 1,301 texts of the published airline transcripts
    (804 kB): 3.7 % over in total; of texts with 20 tokens or more, 5 % off in
    the median, 18 % in 95 of 100, 28 % at most. Random data such as base64 comes
    out at less than half.
    """

    name = ESTIMATE

    def count(self, text: str) -> int:
        """Return the estimate. Cost: about 0.1 µs a character."""
        tokens = len(_ASCII.findall(text))
        if not text.isascii():
            for run in _BEYOND_ASCII.findall(text):
                tokens += -(-len(run.encode()) // _BYTES_OF_A_TOKEN)
        return tokens

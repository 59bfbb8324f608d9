"""Counting the tokens of what is compiled, and of what may be selected for it.

A counter turns a text into a number of tokens, the same in every process.
``estimate`` is always there; the exact counters need the ``tokens`` extra and a
folder with their vocabularies, as nothing is ever fetched.
"""

from compiler_service.tokens.compilations import TokenCounts, count_compilation
from compiler_service.tokens.counter import ESTIMATE, TokenCounter
from compiler_service.tokens.counters import ESTIMATE_ONLY, Counters
from compiler_service.tokens.parts import (
    IMAGE_TOKENS,
    LOW_IMAGE_TOKENS,
    TURN_TOKENS,
    part_tokens,
    system_text_tokens,
    turn_tokens,
)

__all__ = [
    "ESTIMATE",
    "ESTIMATE_ONLY",
    "IMAGE_TOKENS",
    "LOW_IMAGE_TOKENS",
    "TURN_TOKENS",
    "Counters",
    "TokenCounter",
    "TokenCounts",
    "count_compilation",
    "part_tokens",
    "system_text_tokens",
    "turn_tokens",
]

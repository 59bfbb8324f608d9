"""Reasoning of several responses in one turn."""

from __future__ import annotations

from collections.abc import Iterable

from compiler_service.native.turns import Part, ThinkingPart

_SEPARATOR = "\n\n"


def with_one_reasoning(parts: Iterable[Part]) -> list[Part]:
    """Return a merged turn's parts with the unsigned reasoning of one issuer made one.

    It stands where the first of it stood. Signed reasoning is kept as it is:
    its signature holds for its very text.
    """
    kept: list[Part] = []
    places: dict[tuple[str | None, str | None], int] = {}
    for part in parts:
        if type(part) is not ThinkingPart or part.signature is not None:
            kept.append(part)
            continue
        issuer = (part.provider, part.model)
        place = places.setdefault(issuer, len(kept))
        if place == len(kept):
            kept.append(part)
            continue
        first = kept[place]
        if type(first) is ThinkingPart:
            kept[place] = first._replace(thinking=f"{first.thinking}{_SEPARATOR}{part.thinking}")
    return kept

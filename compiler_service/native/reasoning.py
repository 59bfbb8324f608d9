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
    found: dict[tuple[str | None, str | None], tuple[int, list[str]]] = {}
    for part in parts:
        if type(part) is not ThinkingPart or part.signature is not None:
            kept.append(part)
            continue
        place, texts = found.setdefault((part.provider, part.model), (len(kept), []))
        if not texts:
            kept.append(part)
        texts.append(part.thinking)
    for place, texts in found.values():
        first = kept[place]
        if len(texts) > 1 and type(first) is ThinkingPart:
            kept[place] = first._replace(thinking=_SEPARATOR.join(texts))
    return kept

"""Keeping the newest whole exchanges."""

from __future__ import annotations

from collections.abc import Iterable

from antiphon_client.errors import BudgetImpossibleError
from compiler_service.windows.selection import Exchange, Selection


def keep_newest(
    selection: Selection, pinned: Iterable[int], *, beside: int, budget: int | None, at_least: int = 0
) -> set[int]:
    """Return the positions to keep: what is pinned, and the newest exchanges without a gap.

    The newest exchange is kept, and more of them until enough messages are; with
    a budget, more as long as they fit.

    Args:
        selection: The selection.
        pinned: Positions kept whatever the budget; they count.
        beside: Tokens of what is counted beside the selection's messages.
        budget: Tokens in all; None: only ``at_least`` decides.
        at_least: Messages to keep at the least, those pinned counted.

    Raises:
        BudgetImpossibleError: What must be kept does not fit.
    """
    kept = set(pinned)
    pinned_tokens = spent = beside + selection.tokens_of(kept)
    waiting = list(selection.exchanges)
    while waiting and (len(waiting) == len(selection.exchanges) or len(kept) < at_least):
        spent += _keep(selection, waiting.pop(), kept)
    if budget is None:
        return kept
    if spent > budget:
        raise BudgetImpossibleError.of(budget=budget, needed=spent, pinned=pinned_tokens)
    while waiting and spent + selection.tokens_of(_missing(waiting[-1], kept)) <= budget:
        spent += _keep(selection, waiting.pop(), kept)
    return kept


def _keep(selection: Selection, exchange: Exchange, kept: set[int]) -> int:
    """Keep an exchange too; return the tokens that it adds."""
    missing = _missing(exchange, kept)
    kept.update(missing)
    return selection.tokens_of(missing)


def _missing(exchange: Exchange, kept: set[int]) -> list[int]:
    """Return the positions of an exchange that are not kept; a user's turn is kept whole or not at all."""
    missing = [position for position in exchange.body if position not in kept]
    opening = exchange.opening
    return missing if not opening or opening[0] in kept else [*opening, *missing]

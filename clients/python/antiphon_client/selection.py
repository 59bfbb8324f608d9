"""The rule of selections: every id is known and comes once (ADR-0007 D2.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable

from antiphon_client.errors import ProgressionInvalidError


def check_selection(message_ids: Iterable[str], known: Container[str]) -> None:
    """Check that each id of a selection is known and comes once.

    Raises:
        ProgressionInvalidError: Ids are unknown or repeated; all are listed, each once.
    """
    times = Counter(message_ids)
    missing = [message_id for message_id in times if message_id not in known]
    duplicate = [message_id for message_id, count in times.items() if count > 1]
    if missing or duplicate:
        raise ProgressionInvalidError.of(missing, duplicate)

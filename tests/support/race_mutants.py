"""Faults of the history service that show when writers race."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.history.v1.branch_pb2 import Placement
from history_service.domain import membership, writes
from history_service.storage.port import BranchRow

_EVERY = 20


def _ignore_expected() -> None:
    """A write does not look at the revision that it expects."""

    def check_expected(branch: BranchRow, expected_revision: int | None) -> None:
        return None

    writes.check_expected = check_expected


def _lose_appends() -> None:
    """Now and then an append is answered and not stored, so that the next one has its revision."""
    add_messages = membership.add_messages
    calls = itertools.count(1)

    def lossy(*arguments: Any, **options: Any) -> pb.AddMessagesResponse:
        if next(calls) % _EVERY:
            return add_messages(*arguments, **options)
        return pb.AddMessagesResponse(placements=[Placement(message_id=options["batch"][0].message_id)])

    membership.add_messages = lossy


def _lose_systems() -> None:
    """Now and then a system is answered and not stored, so that the next one has its revision."""
    set_system = membership.set_system
    calls = itertools.count(1)

    def lossy(*arguments: Any, **options: Any) -> pb.SetSystemResponse:
        if next(calls) % _EVERY:
            return set_system(*arguments, **options)
        return pb.SetSystemResponse(placement=Placement(message_id=options["prepared"].message_id))

    membership.set_system = lossy


RACE_MUTANTS: dict[str, Callable[[], None]] = {
    "careless": _ignore_expected,
    "lossy_appends": _lose_appends,
    "lossy_systems": _lose_systems,
}
"""By the name a harness's ``--mutant`` takes."""

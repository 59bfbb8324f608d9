"""What has changed in a branch's selection between two revisions.

A reader that holds the selection of an earlier revision needs only what has
become of it since. The change log names the messages that a write touched;
where each of them stood then and stands now tells how the one order becomes the
other. Whatever is not worth telling so, or cannot be, is read whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from history_service.domain import changes
from history_service.domain.reads import Snapshot
from history_service.storage.port import Place, ReadTransaction

MOST_TOUCHED = 4096
"""Most revisions and most touched messages that a delta is made of."""


class Run(NamedTuple):
    """A run of the later selection.

    Attributes:
        start: Index of its first message in the earlier selection; None for
            messages that are new, or have a new version.
        length: How many messages.
    """

    start: int | None
    length: int


@dataclass(frozen=True, slots=True)
class Delta:
    """How an earlier selection becomes a later one.

    Attributes:
        runs: The later selection, in order; no two that could be one.
        sent_ids: The messages of the runs without a start, in order.
    """

    runs: list[Run]
    sent_ids: list[str]


@dataclass(frozen=True, slots=True)
class Base:
    """What a reader holds: the selection of a revision of an incarnation of the branch."""

    revision: int
    incarnation: str


def delta_since(tx: ReadTransaction, snapshot: Snapshot, base: Base) -> Delta | None:
    """Tell how the selection at a base's revision becomes that of a snapshot; None to read it whole.

    That is where the base is of another incarnation, of a revision that was
    dropped or has not come yet, of another view, before a clearing, or too long
    ago. ``tx`` is the transaction that the snapshot was opened in.

    Cost: that of the changes since, and, where not all of them are messages that
    were appended, a step along an index for every message after the first one that
    changed; the branch's length does not matter.
    """
    if snapshot.chosen is not None or base.incarnation != snapshot.branch.incarnation:
        return None
    if not snapshot.branch.oldest_revision <= base.revision <= snapshot.at:
        return None
    if snapshot.at - base.revision > MOST_TOUCHED:
        return None
    touched = changes.touched_between(tx, snapshot.key, base.revision, snapshot.at, MOST_TOUCHED)
    if touched is None:
        return None
    if touched.are_appended:
        return _longer(snapshot, touched.message_ids)
    if tx.view_at(snapshot.key, base.revision) != snapshot.view:
        return None
    return _between(tx, snapshot, base.revision, touched.message_ids)


def _longer(snapshot: Snapshot, appended: list[str]) -> Delta:
    """Return the delta of appended messages, in order: they stand at the end of the branch and of a view."""
    runs: list[Run] = []
    _extend(runs, Run(0, snapshot.message_count - len(appended)))
    _extend(runs, Run(None, len(appended)))
    return Delta(runs, appended)


def _between(tx: ReadTransaction, snapshot: Snapshot, since: int, touched: Collection[str]) -> Delta:
    key, view = snapshot.key, snapshot.view
    now = tx.places(key, snapshot.at, view, touched)
    then = tx.places(key, since, view, touched)
    here = {place.order_key: message_id for message_id, place in now.items()}
    order_keys = sorted({*here, *(place.order_key for place in then.values())})
    gaps = _gaps(tx, snapshot, order_keys, len(now))
    gone = {place.order_key: place for place in then.values()}
    return _joined(order_keys, gaps, here, now, gone)


def _gaps(tx: ReadTransaction, snapshot: Snapshot, order_keys: list[int], touched: int) -> list[int]:
    """Count the untouched messages before each order key, and last those after all of them.

    Untouched messages stand in both selections, with nothing between them that
    is not touched. Those before the first key need no counting.
    """
    counted = [
        tx.count_between(snapshot.key, snapshot.at, snapshot.view, low, high)
        for low, high in zip(order_keys, (*order_keys[1:], None), strict=False)
    ]
    return [snapshot.message_count - touched - sum(counted), *counted]


def _joined(
    order_keys: list[int],
    gaps: list[int],
    here: dict[int, str],
    now: dict[str, Place],
    gone: dict[int, Place],
) -> Delta:
    runs: list[Run] = []
    sent_ids: list[str] = []
    # Index in the earlier selection.
    index = 0
    for gap, order_key in zip(gaps, [*order_keys, None], strict=True):
        _extend(runs, Run(index, gap))
        index += gap
        if order_key is None:
            break
        message_id, former = here.get(order_key), gone.get(order_key)
        if message_id is not None and former is not None and now[message_id] == former:
            _extend(runs, Run(index, 1))
        elif message_id is not None:
            _extend(runs, Run(None, 1))
            sent_ids.append(message_id)
        index += former is not None
    return Delta(runs, sent_ids)


def _extend(runs: list[Run], run: Run) -> None:
    if run.length == 0:
        return
    last = runs[-1] if runs else None
    if last is not None and _follows(last, run):
        runs[-1] = Run(last.start, last.length + run.length)
    else:
        runs.append(run)


def _follows(last: Run, run: Run) -> bool:
    if last.start is None or run.start is None:
        return last.start is run.start
    return last.start + last.length == run.start


def sent_snapshot(snapshot: Snapshot, delta: Delta) -> Snapshot:
    """Return the messages that a delta sends as a snapshot of their own."""
    return Snapshot(
        branch=snapshot.branch,
        key=snapshot.key,
        at=snapshot.at,
        view=None,
        chosen=delta.sent_ids,
        message_count=len(delta.sent_ids),
        system=None,
    )


def run_parts(delta: Delta, most: int) -> Iterator[list[Run]]:
    """Yield a delta's runs in parts of at most so many."""
    for start in range(0, len(delta.runs), most):
        yield delta.runs[start : start + most]

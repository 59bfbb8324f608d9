"""The change log's records: one for every accepted write.

A record says what a write did in terms of ids and positions; contents are read
from the member rows of its revision. A reader that meets a kind it does not
know must stop, unless the record says it is ignorable. Payloads are JSON:

* ``MEMBERSHIP``: a list of operations in the order they apply.
  ``["system", id, former id or null]`` puts the system record at index 0,
  ``["append", index, [ids]]`` adds messages from an index on,
  ``["replace", index, id]`` gives a new version at an index,
  ``["relink", [ids]]`` gives new versions that differ in their action links,
  ``["remove", [ids]]``, ``["move", id, index]``, and ``["clear"]``, which
  removes everything but the system record. ``["view", count]`` selects a view,
  whose epoch is the record's revision.
* ``VIEW_SELECTED``: ``{"epoch": revision, "count": messages}``; the view's order
  is in its rows.
* The others: empty.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

import orjson

from history_service.storage.port import BranchKey, BranchRow, ChangeRow, ReadTransaction, WriteTransaction

_PAGE = 512
"""Records read at once."""


class ChangeKind(IntEnum):
    """What a write did. Numbers are stored: never reuse one."""

    BRANCH_CREATED = 1
    METADATA_REPLACED = 2
    BRANCH_DELETED = 3
    MEMBERSHIP = 4
    VIEW_SELECTED = 5
    VIEW_CLEARED = 6


Operation = Sequence[object]
"""One operation of a membership record, as the module's text describes it."""


def record(tx: WriteTransaction, branch: BranchRow, kind: ChangeKind, content: object = None) -> None:
    """Store the record of the write that made ``branch.revision``."""
    payload = b"" if content is None else orjson.dumps(content)
    tx.append_change(branch.key, branch.revision, kind, False, payload)


def added_since(tx: ReadTransaction, key: BranchKey, revision: int) -> set[str]:
    """Return the ids of the messages that came in after a revision, gone again or not.

    Cost: that of the changes since.
    """
    return {message_id for effect in _effects_since(tx, key, revision) for message_id in effect.added}


def written_since(tx: ReadTransaction, key: BranchKey, revision: int) -> set[str]:
    """Return the ids of the messages that came in or got a new version after a revision; moves are neither.

    Cost: that of the changes since.
    """
    return {
        message_id
        for effect in _effects_since(tx, key, revision)
        for message_id in (*effect.added, *effect.renewed)
    }


class Touched(NamedTuple):
    """The messages that writes touched."""

    message_ids: list[str]
    """Each once, in the order in which they were first touched."""
    are_appended: bool
    """Whether all of them came to the end and no other was touched, nor the selected view.

    In the order of the branch then; true where there are none.
    """


def touched_between(
    tx: ReadTransaction, key: BranchKey, after: int, up_to: int, limit: int
) -> Touched | None:
    """Return the messages that came, went, moved or got a new version after one revision up to another.

    None for more than ``limit`` of them, for a clearing, which names none, and
    where a record is missing or of a kind that is not known.

    Cost: that of the changes.
    """
    touched: dict[str, None] = {}
    are_appended = True
    for effect in _effects_between(tx, key, after, up_to):
        if effect.untold:
            return None
        are_appended = are_appended and effect.keeps_places and not effect.renewed
        touched.update(dict.fromkeys((*effect.added, *effect.renewed, *effect.shifting)))
        if len(touched) > limit:
            return None
    return Touched(list(touched), are_appended)


def renewed_between(tx: ReadTransaction, key: BranchKey, after: int, up_to: int) -> set[str] | None:
    """Return which messages got a new version in place, if beside that messages were only appended.

    None where more happened after the one revision up to the other, to the
    order or to the selected view, and where a record is missing or of a kind
    that is not known.

    Cost: that of the changes.
    """
    renewed: set[str] = set()
    for effect in _effects_between(tx, key, after, up_to):
        if not effect.keeps_places:
            return None
        renewed.update(effect.renewed)
    return renewed


class _Effect(NamedTuple):
    """What an operation, or a record without any, did to a branch's messages."""

    added: Sequence[str] = ()
    """Messages that came in."""
    renewed: Sequence[str] = ()
    """Messages that got a new version where they stand."""
    shifting: Sequence[str] = ()
    """Messages that came elsewhere than at the end, left, or moved."""
    selects: bool = False
    """Whether another view, or none, is selected since."""
    untold: bool = False
    """Whether more messages are touched, which the record does not name."""

    @property
    def keeps_places(self) -> bool:
        """Whether what stood in the branch and its view stands where it stood, so far as is told."""
        return not (self.untold or self.selects or self.shifting)


_UNTOLD = _Effect(untold=True)


def _effects_between(tx: ReadTransaction, key: BranchKey, after: int, up_to: int) -> Iterable[_Effect]:
    rows = tx.changes(key, after, up_to - after)
    if [row.revision for row in rows] != list(range(after + 1, up_to + 1)):
        return [_UNTOLD]
    return _effects(rows)


def _effects_since(tx: ReadTransaction, key: BranchKey, revision: int) -> Iterator[_Effect]:
    while rows := tx.changes(key, revision, _PAGE):
        yield from _effects(rows)
        revision = rows[-1].revision


def _effects(rows: Iterable[ChangeRow]) -> Iterator[_Effect]:
    for row in rows:
        if row.kind == ChangeKind.MEMBERSHIP:
            for name, *operands in json.loads(row.payload):
                effect = _OF_OPERATION.get(name)
                yield _UNTOLD if effect is None else effect(*operands)
        else:
            yield _OF_KIND.get(row.kind, _UNTOLD)


def _system(message_id: str, former: str | None) -> _Effect:
    shifting = [message_id] if former is None else [message_id, former]
    return _Effect(added=[message_id], shifting=shifting)


_OF_OPERATION: dict[str, Callable[..., _Effect]] = {
    "system": _system,
    "append": lambda _index, message_ids: _Effect(added=message_ids),
    "replace": lambda _index, message_id: _Effect(renewed=[message_id]),
    "relink": lambda message_ids: _Effect(renewed=message_ids),
    "remove": lambda message_ids: _Effect(shifting=message_ids),
    "move": lambda message_id, _index: _Effect(shifting=[message_id]),
    "view": lambda _count: _Effect(selects=True),
}
"""Those not here leave untold what they touch."""
_OF_KIND: dict[int, _Effect] = {
    ChangeKind.METADATA_REPLACED: _Effect(),
    ChangeKind.VIEW_SELECTED: _Effect(selects=True),
    ChangeKind.VIEW_CLEARED: _Effect(selects=True),
}

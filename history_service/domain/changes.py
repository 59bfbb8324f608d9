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
  removes everything but the system record.
* ``VIEW_SELECTED``: ``{"epoch": revision, "count": messages}``; the view's order
  is in its rows.
* The others: empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import orjson

from history_service.storage.port import BranchRow, WriteTransaction


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

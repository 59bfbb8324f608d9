"""Values as the database keeps them: ids as 16-byte blobs, which sort as their text does."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from history_service.storage.port import BranchKey, BranchRow, ForkOrigin, Member

_TEXT_LENGTH = 36
_DIGIT_PLACES = [place for place in range(_TEXT_LENGTH) if place not in (8, 13, 18, 23)]
"""Where the digits of a UUID stand in its text; hyphens stand elsewhere."""


def id_blob(text: str) -> bytes:
    """Encode a UUID in canonical text."""
    return bytes.fromhex(text.replace("-", ""))


def id_text(blob: bytes) -> str:
    """Decode a UUID into canonical text."""
    digits = blob.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def id_texts(blobs: Sequence[bytes]) -> list[str]:
    """Decode UUIDs into canonical text; less than half the cost of one by one, for many."""
    digits = b"".join(blobs).hex().encode("ascii")
    texts = bytearray(b"-" * (_TEXT_LENGTH * len(blobs)))
    for digit, place in enumerate(_DIGIT_PLACES):
        texts[place::_TEXT_LENGTH] = digits[digit :: len(_DIGIT_PLACES)]
    text = texts.decode("ascii")
    return [text[start : start + _TEXT_LENGTH] for start in range(0, len(text), _TEXT_LENGTH)]


def optional_id_blob(text: str | None) -> bytes | None:
    """Encode a UUID or its absence."""
    return None if text is None else id_blob(text)


def optional_id_text(blob: bytes | None) -> str | None:
    """Decode a UUID or its absence."""
    return None if blob is None else id_text(blob)


KeyColumns = tuple[str, bytes, bytes]
"""tenant_id, lineage_id, branch_id as bound to a statement."""


@lru_cache(maxsize=4096)
def key_columns(key: BranchKey) -> KeyColumns:
    """Encode the leading columns of a branch's rows."""
    return key.tenant_id, id_blob(key.lineage_id), id_blob(key.branch_id)


BRANCH_COLUMNS = (
    "number, tenant_id, lineage_id, branch_id, incarnation, created_at, external_key, parent_branch_id, "
    "revision, message_count, last_key, system_id, view_epoch, view_count, view_last_key, deleted, "
    "forked_from, forked_revision, forked_up_to, oldest_revision, sweep_after, last_change"
)
"""The columns ``branch_row`` takes, in its order."""

BranchColumns = tuple[
    int, str, bytes, bytes, bytes, int, bytes | None, bytes | None,
    int, int, int, bytes | None, int | None, int, int, int,
    bytes | None, int | None, bytes | None, int, int | None, int | None,
]  # fmt: skip


class NumberedBranch(NamedTuple):
    """A row of ``branch``."""

    number: int
    """Its own number."""
    row: BranchRow
    """The branch; not to be changed."""
    last_change: int | None
    """Number of its last change record."""


def branch_row(columns: BranchColumns) -> NumberedBranch:
    """Decode a row of ``branch``."""
    (
        number, tenant_id, lineage_id, branch_id, incarnation, created_at, external_key, parent_branch_id,
        revision, message_count, last_key, system_id, view_epoch, view_count, view_last_key, deleted,
        forked_from, forked_revision, forked_up_to, oldest_revision, sweep_after, last_change,
    ) = columns  # fmt: skip
    row = BranchRow(
        key=BranchKey(tenant_id, id_text(lineage_id), id_text(branch_id)),
        incarnation=id_text(incarnation),
        created_at=created_at,
        external_key=None if external_key is None else external_key.decode(),
        parent_branch_id=optional_id_text(parent_branch_id),
        revision=revision,
        message_count=message_count,
        last_key=last_key,
        system_id=optional_id_text(system_id),
        view_epoch=view_epoch,
        view_count=view_count,
        view_last_key=view_last_key,
        deleted=bool(deleted),
        forked_from=_fork_origin(forked_from, forked_revision, forked_up_to),
        oldest_revision=oldest_revision,
        sweep_after=sweep_after,
    )
    return NumberedBranch(number, row, last_change)


def head_columns(branch: BranchRow) -> tuple[int, int, int, bytes | None, int | None, int, int]:
    """Encode a branch's head: the columns from ``revision`` to ``view_last_key``."""
    return (
        branch.revision,
        branch.message_count,
        branch.last_key,
        optional_id_blob(branch.system_id),
        branch.view_epoch,
        branch.view_count,
        branch.view_last_key,
    )


def _fork_origin(branch_id: bytes | None, revision: int | None, up_to: bytes | None) -> ForkOrigin | None:
    if branch_id is None or revision is None:
        return None
    return ForkOrigin(id_text(branch_id), revision, optional_id_text(up_to))


MEMBER_COLUMNS = "message_id, order_key, kind, added_revision, link_id, interim, body"
"""The columns ``member`` takes, in its order."""


def member(columns: tuple[bytes, int, int, int, bytes | None, int, int]) -> Member:
    """Decode a row of ``member``."""
    message_id, order_key, kind, added_revision, link_id, interim, body = columns
    return Member(
        id_text(message_id), order_key, kind, added_revision, optional_id_text(link_id), bool(interim), body
    )

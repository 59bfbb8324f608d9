"""Values as the databases keep them: ids as 16 bytes, which sort as their text does."""

from __future__ import annotations

from collections.abc import Sequence

from history_service.storage.port import BranchRow, ForkOrigin, Member

_TEXT_LENGTH = 36
_DIGIT_PLACES = [place for place in range(_TEXT_LENGTH) if place not in (8, 13, 18, 23)]
"""Where the digits of a UUID stand in its text; hyphens stand elsewhere."""
_BLOCK = 512 * 16
"""Bytes of UUIDs that are decoded at once."""


def id_blob(text: str) -> bytes:
    """Encode a UUID in canonical text."""
    return bytes.fromhex(text.replace("-", ""))


def id_text(blob: bytes) -> str:
    """Decode a UUID into canonical text."""
    digits = blob.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def id_texts(blobs: Sequence[bytes]) -> list[str]:
    """Decode UUIDs into canonical text; less than half the cost of one by one, for many."""
    return joined_id_texts(b"".join(blobs))


def joined_id_texts(blobs: bytes) -> list[str]:
    """Decode UUIDs that follow each other into canonical text."""
    texts: list[str] = []
    # Some at once: what a pass over the digits touches is still at hand for the next one.
    for start in range(0, len(blobs), _BLOCK):
        digits = blobs[start : start + _BLOCK].hex().encode("ascii")
        block = bytearray((b"-" * _TEXT_LENGTH + b" ") * (len(digits) // len(_DIGIT_PLACES)))
        for digit, place in enumerate(_DIGIT_PLACES):
            block[place :: _TEXT_LENGTH + 1] = digits[digit :: len(_DIGIT_PLACES)]
        texts += block.decode("ascii").split()
    return texts


def optional_id_blob(text: str | None) -> bytes | None:
    """Encode a UUID or its absence."""
    return None if text is None else id_blob(text)


def optional_id_text(blob: bytes | None) -> str | None:
    """Decode a UUID or its absence."""
    return None if blob is None else id_text(blob)


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


def fork_origin(branch_id: bytes | None, revision: int | None, up_to: bytes | None) -> ForkOrigin | None:
    """Decode where a branch was forked from."""
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

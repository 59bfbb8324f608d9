"""Page tokens (AIP-158): opaque text that says where a list goes on.

A token is base64url of a checksum and a JSON array: version, which list, a
digest of the list's filters, and a position. Positions name messages and
branches by id, never by order key, as keys may change between two pages. A
token is no secret and grants nothing; the checksum tells damage, and every
value in it is checked like any other input.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from typing import Any

from antiphon_client.ids import is_canonical_uuid
from history_service.domain.lists import MessagePosition, invalid_token
from history_service.storage.port import BranchAnchor

DEFAULT_PAGE_SIZE = 100

_VERSION = 1
_CHECKSUM_BYTES = 8
_GREATEST_INTEGER = 2**63 - 1


def page_limit(page_size: int, most: int) -> int:
    """Return how many entries a page may hold: 0 means the default, more than ``most`` means that."""
    return min(page_size or DEFAULT_PAGE_SIZE, most)


def message_token(filters: Sequence[object], position: MessagePosition) -> str:
    """Return the token of the next page of a list of messages."""
    return _seal("messages", filters, position)


def read_message_token(token: str, filters: Sequence[object]) -> MessagePosition:
    """Return where a list of messages goes on.

    Raises:
        PageTokenInvalidError: The token is not one of this list.
    """
    match _unseal("messages", filters, token):
        case [int(revision), str(incarnation), str(after)] if (
            0 < revision <= _GREATEST_INTEGER and is_canonical_uuid(after)
        ):
            return MessagePosition(revision, incarnation, after)
    raise invalid_token()


def branch_token(filters: Sequence[object], anchor: BranchAnchor) -> str:
    """Return the token of the next page of a list of branches."""
    return _seal("branches", filters, anchor)


def read_branch_token(token: str, filters: Sequence[object]) -> BranchAnchor:
    """Return where a list of branches goes on.

    Raises:
        PageTokenInvalidError: The token is not one of this list.
    """
    match _unseal("branches", filters, token):
        case [str(external_key), int(created_at), str(branch_id)] if (
            abs(created_at) <= _GREATEST_INTEGER and is_canonical_uuid(branch_id) and _is_text(external_key)
        ):
            return BranchAnchor(external_key, created_at, branch_id)
    raise invalid_token()


def number_token(kind: str, filters: Sequence[object], number: int) -> str:
    """Return the token of the next page of a list whose entries have growing numbers.

    Args:
        kind: Which list.
        filters: What narrows it.
        number: The last entry's.
    """
    return _seal(kind, filters, [number])


def read_number_token(kind: str, filters: Sequence[object], token: str) -> int:
    """Return the number after which such a list goes on; 0 for no token.

    Raises:
        PageTokenInvalidError: The token is not one of this list.
    """
    if not token:
        return 0
    match _unseal(kind, filters, token):
        case [int(number)] if 0 < number <= _GREATEST_INTEGER:
            return number
    raise invalid_token()


def _is_text(text: str) -> bool:
    """Whether a text can be encoded: JSON can spell lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _digest(filters: Sequence[object]) -> str:
    return hashlib.sha256(json.dumps(filters).encode()).hexdigest()[:16]


def _seal(kind: str, filters: Sequence[object], position: Sequence[object]) -> str:
    content = json.dumps([_VERSION, kind, _digest(filters), *position], separators=(",", ":")).encode()
    checksum = hashlib.sha256(content).digest()[:_CHECKSUM_BYTES]
    return _armoured(checksum + content)


def _armoured(sealed: bytes) -> str:
    return base64.urlsafe_b64encode(sealed).decode("ascii").rstrip("=")


def _unseal(kind: str, filters: Sequence[object], token: str) -> list[Any]:
    try:
        sealed = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise invalid_token() from None
    checksum, content = sealed[:_CHECKSUM_BYTES], sealed[_CHECKSUM_BYTES:]
    # The second comparison refuses other spellings of the same bytes.
    if checksum != hashlib.sha256(content).digest()[:_CHECKSUM_BYTES] or _armoured(sealed) != token:
        raise invalid_token()
    try:
        values = json.loads(content)
    except (ValueError, RecursionError):
        raise invalid_token() from None
    if not isinstance(values, list) or values[:3] != [_VERSION, kind, _digest(filters)]:
        raise invalid_token()
    return values[3:]

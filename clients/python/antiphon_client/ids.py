"""UUIDs of records and requests.

Every id on the wire is a UUID in canonical text: lower-case hexadecimal in
groups of 8-4-4-4-12. Other spellings are refused, never converted, so that
equal ids are equal strings.
"""

from __future__ import annotations

import os
import re
import time
import uuid

ID_LENGTH = 36
"""Characters of a canonical UUID."""

_CANONICAL_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_REQUEST_NAMESPACE = uuid.UUID("6d6f7a1e-52a4-5d0c-9a53-0c4f0a7d9b21")
_NANOSECONDS_PER_MILLISECOND = 1_000_000
_VARIANT_DIGITS = dict(zip("0123456789abcdef", "89ab" * 4, strict=True))
"""The digit of a UUID's variant for each digit at random: its upper two bits are 10."""
_TAILS_AHEAD = 256
"""Random parts of ids made at once."""


def is_canonical_uuid(text: str) -> bool:
    """Whether the text is a UUID of any version in canonical lower-case spelling."""
    return _CANONICAL_UUID.fullmatch(text) is not None


def new_id() -> str:
    """Return a random id (UUID version 4)."""
    return str(uuid.uuid4())


def new_ordered_id() -> str:
    """Return a fresh id (UUID version 7), ordered by time, for a message or a request.

    Stores index these ids; ids that grow with time are written to one end of an
    index instead of all over it. The twelve bits after
    the millisecond hold its fraction (RFC 9562 §6.2, method 3); 62 bits are
    random.
    """
    return new_ordered_ids(1)[0]


def new_ordered_ids(count: int) -> list[str]:
    """Return fresh ids as ``new_ordered_id`` makes them, which grow from each to the next.

    Each is 1/4096 ms later than the one before it.
    """
    milliseconds, rest = divmod(time.time_ns(), _NANOSECONDS_PER_MILLISECOND)
    begin = (rest << 12) // _NANOSECONDS_PER_MILLISECOND
    ids: list[str] = []
    while len(ids) < count:
        # Spelled here rather than by uuid.UUID, and what the ids of a millisecond begin with once:
        # a third of the time each.
        head = f"{milliseconds >> 16 & 0xFFFFFFFF:08x}-{milliseconds & 0xFFFF:04x}-7"
        end = min(begin + count - len(ids), 1 << 12)
        ids += [f"{head}{fraction:03x}{_random_tail()}" for fraction in range(begin, end)]
        milliseconds, begin = milliseconds + 1, 0
    return ids


_tails: list[str] = []
"""What of ids is random, made ahead: asking the system each time takes longer than the rest."""
if hasattr(os, "register_at_fork"):
    # Or the ids of parent and child would have the same ones.
    os.register_at_fork(after_in_child=_tails.clear)


def _random_tail() -> str:
    """Return the last 20 characters of an id; from any thread, as taking one is one step."""
    while True:
        try:
            return _tails.pop()
        except IndexError:
            digits = os.urandom(8 * _TAILS_AHEAD).hex()
            made = [
                f"-{_VARIANT_DIGITS[digits[at]]}{digits[at + 1 : at + 4]}-{digits[at + 4 : at + 16]}"
                for at in range(0, len(digits), 16)
            ]
            _tails.extend(made)


def derived_request_id(*parts: str) -> str:
    """Return the request id (UUID version 5) that the parts always give.

    An import that is run again derives the same ids and so repeats no write.
    Each part is preceded by its length, so that ``("ab", "c")`` and
    ``("a", "bc")`` differ.

    Raises:
        UnicodeEncodeError: A part holds a lone surrogate.
    """
    # uuid5 takes text and encodes it itself; a lone surrogate fails there.
    return str(uuid.uuid5(_REQUEST_NAMESPACE, "".join(f"{len(part)}:{part}" for part in parts)))

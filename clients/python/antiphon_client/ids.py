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

_CANONICAL_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_REQUEST_NAMESPACE = uuid.UUID("6d6f7a1e-52a4-5d0c-9a53-0c4f0a7d9b21")
_NANOSECONDS_PER_MILLISECOND = 1_000_000
_VARIANT = 0b10 << 62
_RANDOM_BITS = 2**62 - 1


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
    milliseconds, rest = divmod(time.time_ns(), _NANOSECONDS_PER_MILLISECOND)
    fraction = (rest << 12) // _NANOSECONDS_PER_MILLISECOND
    variant_and_random = _VARIANT | int.from_bytes(os.urandom(8)) & _RANDOM_BITS
    # Spelled here rather than by uuid.UUID, which takes three times as long:
    # a batch asks for one id a message.
    digits = f"{milliseconds & 0xFFFFFFFFFFFF:012x}7{fraction:03x}{variant_and_random:016x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


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

"""The digest of compiled turns: proof of what the model saw.

The canonical form is defined at ``CompileResponse.messages_digest`` and must
never change: it is compared across processes, languages and releases.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from compiler_service.state import CompiledTurn

_DOMAIN = b"antiphon.compiled.v1\x00"
_TEXT = b"\x01"
_PARTS = b"\x02"
_TEXT_PART = b"\x01"
_IMAGE_PART = b"\x02"
_BYTES = tuple([bytes((number,)) for number in range(256)])
"""Every byte by its number; one is looked up for every turn."""


def messages_digest(turns: Iterable[CompiledTurn]) -> str:
    """Return the lower-case hexadecimal SHA-256 over the turns' canonical form."""
    digest = hashlib.sha256(_DOMAIN)
    update = digest.update
    for role, text, images in turns:
        if images:
            update(_BYTES[role] + _PARTS + (1 + len(images)).to_bytes(4, "big") + _TEXT_PART + _string(text))
            for url, detail in images:
                update(_IMAGE_PART + _string(url) + _BYTES[detail])
        else:
            encoded = text.encode()
            update(_BYTES[role] + _TEXT + len(encoded).to_bytes(8, "big") + encoded)
    return digest.hexdigest()


def _string(text: str) -> bytes:
    encoded = text.encode()
    return len(encoded).to_bytes(8, "big") + encoded

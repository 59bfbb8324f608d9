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


def messages_digest(turns: Iterable[CompiledTurn]) -> str:
    """Return the lower-case hexadecimal SHA-256 over the turns' canonical form."""
    digest = hashlib.sha256(_DOMAIN)
    for role, text, images in turns:
        if images:
            digest.update(bytes((role,)) + _PARTS + (1 + len(images)).to_bytes(4, "big"))
            digest.update(_TEXT_PART + _string(text))
            for url, detail in images:
                digest.update(_IMAGE_PART + _string(url) + bytes((detail,)))
        else:
            digest.update(bytes((role,)) + _TEXT + _string(text))
    return digest.hexdigest()


def _string(text: str) -> bytes:
    encoded = text.encode()
    return len(encoded).to_bytes(8, "big") + encoded

"""What tells encrypted rows from clear ones, and whether the master keys at hand are those a store needs.

Nothing here needs the package that encrypts: a service without keys has to know
what it cannot read, too. ``envelope`` does the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from antiphon_client.errors import StoreCorruptError

if TYPE_CHECKING:
    # Needs a package that only encrypted stores need.
    from history_service.storage.envelope import KeyRing

MARK = b"\x00"
"""First byte of what is encrypted; no encoded message begins with it, as there is no field 0."""
TEXT_MARK = "sealed:"
"""Beginning of an encrypted text; no JSON text begins so."""

Master = tuple[bytes, str]
"""A master key's id and its name, as a store keeps them."""


def is_sealed(stored: bytes) -> bool:
    """Tell whether stored bytes are encrypted."""
    return stored.startswith(MARK)


def is_sealed_text(stored: str) -> bool:
    """Tell whether a stored text is encrypted."""
    return stored.startswith(TEXT_MARK)


def require_clear(stored: bytes) -> bytes:
    """Return stored bytes to a service that was started without keys.

    Raises:
        StoreCorruptError: They are encrypted: another service of the database has keys.
    """
    if is_sealed(stored):
        raise _no_keys()
    return stored


def require_clear_text(stored: str) -> str:
    """Return a stored text to a service that was started without keys.

    Raises:
        StoreCorruptError: It is encrypted: another service of the database has keys.
    """
    if is_sealed_text(stored):
        raise _no_keys()
    return stored


def _no_keys() -> StoreCorruptError:
    return StoreCorruptError(
        "the store is encrypted by now: start this service anew with the store's keys (--encryption-keys)"
    )


def told(masters: Sequence[Master]) -> str:
    """Return the names and ids of master keys, for people."""
    return ", ".join(f"{name!r} ({master.hex()})" for master, name in masters)


def check_masters(store: str, masters: Sequence[Master], ring: KeyRing | None) -> None:
    """Check that the master keys that a store is encrypted with are at hand.

    Args:
        store: What to call it.
        masters: Those that the store names; none where it is not encrypted.
        ring: Those at hand; None where none were given.

    Raises:
        StoreCorruptError: One is lacking. The text has names and ids, and no key.
    """
    lacking = [master for master in masters if ring is None or not ring.has(master[0])]
    if not lacking:
        return
    needed = f"{store} is encrypted with the master key {told(lacking)}"
    if ring is None:
        raise StoreCorruptError(f"{needed}: give the file that has it (--encryption-keys)")
    raise StoreCorruptError(f"{needed}, which is not in the key file; it has {ring}")

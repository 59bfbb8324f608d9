"""Encryption at rest: the keys of a store, and what is done with them.

Every key is 256 random bits and stands in the store encrypted ("wrapped") by
the one above it:

* a *master key*, from the operator's key file; never in the store;
* a *branch's key*, wrapped by the active master key; and the *store's own key*
  beside, for what belongs to no branch: queued mail and recorded responses;
* a *data key* for each stored body. The body is encrypted once. Its key is
  wrapped by the branch's key in each member row that refers to it, so that a
  fork wraps keys and copies no bodies, and a branch whose key is erased cannot
  be read any more while its forks can.

All of it is AES-256-GCM. What a ciphertext belongs to is its associated data,
so that it opens nowhere else: a body, its tenant, fork tree and number; a data
key, its branch and message; a branch's key, its branch.

Everything here and in ``ciphers`` is a function of its arguments and of random bytes: a store
keeps the rows. ``sealed.MARK`` begins what is encrypted in a column that may also
hold clear bytes, written before encryption was turned on.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from antiphon_client.errors import StoreCorruptError
from antiphon_client.key_file import KEY_BYTES, NamedKey, read_key_file
from history_service.storage.ciphers import (
    BODY_OVERHEAD,
    NONCE_BYTES,
    TAG_BYTES,
    BranchCipher,
    StoreCipher,
    derived,
    named,
)
from history_service.storage.sealed import is_sealed, is_sealed_text, told

__all__ = ["BranchCipher", "KeyRing", "StoreCipher", "StoreKeys"]

_ID_BYTES = 8
WRAPPED_KEY_BYTES = _ID_BYTES + NONCE_BYTES + KEY_BYTES + TAG_BYTES
"""Bytes of a key wrapped by a master key: the master key's id, then the key."""
ERASED = bytes(WRAPPED_KEY_BYTES)
"""What stands in the place of an erased key; as long as one, so that it is overwritten where it stands."""
_KEPT_CIPHERS = 4096


class _MasterKey:
    """A master key of the key file.

    Attributes:
        name: Its name there.
        id: Eight bytes that tell it from others wherever it has another name, and tell nothing about it.
    """

    def __init__(self, key: NamedKey) -> None:
        self.name = key.name
        self.id = derived(key.secret, "antiphon master key id")[:_ID_BYTES]
        self._cipher = AESGCM(key.secret)

    def wrap(self, key: bytes, owner: bytes) -> bytes:
        nonce = os.urandom(NONCE_BYTES)
        return self.id + nonce + self._cipher.encrypt(nonce, key, owner)

    def unwrap(self, wrapped: bytes, owner: bytes) -> bytes:
        nonce, sealed = wrapped[_ID_BYTES:][:NONCE_BYTES], wrapped[_ID_BYTES + NONCE_BYTES :]
        try:
            return self._cipher.decrypt(nonce, sealed, owner)
        except InvalidTag:
            master = told([(self.id, self.name)])
            raise StoreCorruptError(
                f"a key of the store does not open with the master key {master}"
            ) from None


class KeyRing:
    """The master keys a store was opened with; safe to share between threads."""

    def __init__(self, keys: Sequence[NamedKey]) -> None:
        """Take the keys of a key file, the active one first."""
        masters = [_MasterKey(key) for key in keys]
        self._active = masters[0]
        self._masters = {master.id: master for master in masters}
        # By what stands in the store, so that an answer kept is never out of date.
        self._branch_cipher = lru_cache(maxsize=_KEPT_CIPHERS)(self._open_branch_cipher)

    @classmethod
    def load(cls, path: str) -> KeyRing:
        """Read a key file.

        Raises:
            KeyFileError: See ``key_file.read_key_file``.
        """
        return cls(read_key_file(path))

    def __str__(self) -> str:
        return told([(master.id, master.name) for master in self._masters.values()])

    def __repr__(self) -> str:
        return f"KeyRing({self})"

    @property
    def active(self) -> tuple[bytes, str]:
        """The active master key's id and name, which stores keep to tell which key they need."""
        return self._active.id, self._active.name

    def has(self, master_id: bytes) -> bool:
        """Tell whether a master key is at hand."""
        return master_id in self._masters

    # Branches

    def new_branch_key(self, tenant: str, lineage: bytes, branch: bytes) -> bytes:
        """Make a key for a branch; return it wrapped."""
        return self._active.wrap(os.urandom(KEY_BYTES), named("branch key", tenant, lineage, branch))

    def branch_cipher(self, wrapped: bytes, tenant: str, lineage: bytes, branch: bytes) -> BranchCipher:
        """Unwrap a branch's key. What was asked before is at hand.

        Raises:
            StoreCorruptError: The key was erased, its master key is not here,
                or it is not this branch's.
        """
        return self._branch_cipher(wrapped, tenant, lineage, branch)

    def _open_branch_cipher(self, wrapped: bytes, tenant: str, lineage: bytes, branch: bytes) -> BranchCipher:
        if wrapped == ERASED:
            raise StoreCorruptError("the branch's key was erased")
        key = self._unwrapped(wrapped, named("branch key", tenant, lineage, branch))
        return BranchCipher(key, tenant, lineage, branch)

    def forget(self) -> None:
        """Drop the unwrapped keys kept, as one of them was erased; the others are unwrapped again."""
        self._branch_cipher.cache_clear()

    # The store's own key

    def new_store_key(self) -> bytes:
        """Make a store's own key; return it wrapped."""
        return self._active.wrap(os.urandom(KEY_BYTES), named("store key"))

    def store_cipher(self, wrapped: bytes) -> StoreCipher:
        """Unwrap a store's own key.

        Raises:
            StoreCorruptError: Its master key is not here, or is another.
        """
        return StoreCipher(self._unwrapped(wrapped, named("store key")))

    # Rotation

    def is_current(self, wrapped: bytes) -> bool:
        """Tell whether a key is wrapped by the active master key, or erased."""
        return wrapped.startswith(self._active.id) or wrapped == ERASED

    def rewrap_branch_key(self, wrapped: bytes, tenant: str, lineage: bytes, branch: bytes) -> bytes:
        """Return a branch's key wrapped by the active master key.

        Raises:
            StoreCorruptError: See ``branch_cipher``.
        """
        owner = named("branch key", tenant, lineage, branch)
        return self._active.wrap(self._unwrapped(wrapped, owner), owner)

    def rewrap_store_key(self, wrapped: bytes) -> bytes:
        """Return a store's own key wrapped by the active master key.

        Raises:
            StoreCorruptError: See ``store_cipher``.
        """
        owner = named("store key")
        return self._active.wrap(self._unwrapped(wrapped, owner), owner)

    def _unwrapped(self, wrapped: bytes, owner: bytes) -> bytes:
        master = self._masters.get(wrapped[:_ID_BYTES])
        if len(wrapped) != WRAPPED_KEY_BYTES:
            raise StoreCorruptError("a key of the store is damaged")
        if master is None:
            raise StoreCorruptError(f"the key file lacks the master key {wrapped[:_ID_BYTES].hex()}")
        return master.unwrap(wrapped, owner)


class StoreKeys(NamedTuple):
    """What an encrypted store works with."""

    ring: KeyRing
    store: StoreCipher

    def open_body(
        self,
        cipher: BranchCipher | None,
        message_id: bytes,
        number: int,
        wrapped: bytes | None,
        stored: bytes,
    ) -> bytes:
        """Return the body of a member row, which may be stored in clear.

        Args:
            cipher: The branch's; None for a branch without a key.
            message_id: The row's message.
            number: The body's number.
            wrapped: The row's wrapped key; None for a body in clear.
            stored: The body as it is stored.

        Raises:
            StoreCorruptError: The row or the body is not what was written.
        """
        if wrapped is None and not is_sealed(stored):
            return stored
        if wrapped is None or cipher is None:
            raise StoreCorruptError(f"the stored body {number} has lost its key")
        return cipher.open_body(message_id, number, wrapped, stored)

    def size_of(self, stored_size: int, wrapped: bytes | None) -> int:
        """Return the size of a body from the size it has as it is stored."""
        return stored_size if wrapped is None else stored_size - BODY_OVERHEAD

    @property
    def body_overhead(self) -> int:
        """Bytes a body that has a key takes beyond its own."""
        return BODY_OVERHEAD

    def is_erased(self, wrapped: bytes) -> bool:
        """Tell whether a branch's key was erased."""
        return wrapped == ERASED

    def adopt_key(
        self,
        source: BranchCipher | None,
        target: BranchCipher | None,
        message_id: bytes,
        wrapped: bytes | None,
    ) -> bytes | None:
        """Wrap the key of a message's body for the branch that the message is copied to.

        Args:
            source: The cipher of the branch it is copied from.
            target: The cipher of the branch it is copied to.
            message_id: The message.
            wrapped: The key in the row that is copied; None for a body in clear.

        Raises:
            StoreCorruptError: The row is not what was written.
        """
        if wrapped is None:
            return None
        if source is None or target is None:
            raise StoreCorruptError("a stored message has lost its branch's key")
        return target.adopt(source, message_id, wrapped)

    def open_metadata(self, cipher: BranchCipher | None, revision: int, stored: str) -> str:
        """Return the metadata that a revision wrote, which may be stored in clear.

        Raises:
            StoreCorruptError: It is not what was written.
        """
        if not is_sealed_text(stored):
            return stored
        if cipher is None:
            raise StoreCorruptError("a branch's metadata has lost its key")
        return cipher.open_metadata(revision, stored)

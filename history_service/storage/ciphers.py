"""What is encrypted under the keys of a branch and of a store; ``envelope`` says what the keys are."""

from __future__ import annotations

import hmac
import os
from base64 import b64decode, b64encode

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from antiphon_client.errors import StoreCorruptError
from antiphon_client.key_file import KEY_BYTES
from history_service.storage.sealed import MARK, TEXT_MARK, is_sealed

NONCE_BYTES = 12
TAG_BYTES = 16
BODY_OVERHEAD = len(MARK) + TAG_BYTES
"""Bytes an encrypted body takes beyond the body's own."""
_SALT_BYTES = 24
# A key that encrypts one thing only needs no nonce that differs.
_ONE_USE = bytes(NONCE_BYTES)


class BranchCipher:
    """What is encrypted under one branch's key: its data keys, and its metadata."""

    def __init__(self, key: bytes, tenant: str, lineage: bytes, branch: bytes) -> None:
        self._wrapper = AESGCM(derived(key, "antiphon data keys"))
        self._texts = _Sealer(derived(key, "antiphon metadata"))
        self._body_of = named("body", tenant, lineage)
        self._key_of = named("data key", tenant, lineage, branch)
        self._metadata_of = named("metadata", tenant, lineage, branch)

    def seal_body(self, message_id: bytes, number: int, body: bytes) -> tuple[bytes, bytes]:
        """Encrypt a new body with a key of its own.

        Returns:
            The key, wrapped for the message's row of the branch, and the body.
        """
        key = os.urandom(KEY_BYTES)
        sealed = AESGCM(key).encrypt(_ONE_USE, body, self._body_of + _number(number))
        return self._wrap(message_id, key), MARK + sealed

    def open_body(self, message_id: bytes, number: int, wrapped: bytes, sealed: bytes) -> bytes:
        """Decrypt a body.

        Raises:
            StoreCorruptError: The row or the body is not what was written.
        """
        key = self._unwrap(message_id, wrapped)
        try:
            if is_sealed(sealed):
                return AESGCM(key).decrypt(_ONE_USE, memoryview(sealed)[1:], self._body_of + _number(number))
        except InvalidTag:
            pass
        raise StoreCorruptError(f"the stored body {number} does not open with its key")

    def adopt(self, source: BranchCipher, message_id: bytes, wrapped: bytes) -> bytes:
        """Wrap for this branch a data key that is wrapped for another of the fork tree.

        Raises:
            StoreCorruptError: The row is not what was written.
        """
        return self._wrap(message_id, source._unwrap(message_id, wrapped))

    def seal_metadata(self, revision: int, text: str) -> str:
        """Encrypt the metadata that a revision wrote."""
        sealed = self._texts.seal(text.encode(), self._metadata_of + _number(revision))
        return TEXT_MARK + b64encode(sealed).decode("ascii")

    def open_metadata(self, revision: int, sealed: str) -> str:
        """Decrypt the metadata that a revision wrote.

        Raises:
            StoreCorruptError: It is not what was written.
        """
        try:
            data = b64decode(sealed.removeprefix(TEXT_MARK), validate=True)
        except ValueError:
            raise StoreCorruptError("stored metadata is damaged") from None
        return self._texts.open(data, self._metadata_of + _number(revision)).decode()

    def _wrap(self, message_id: bytes, key: bytes) -> bytes:
        nonce = os.urandom(NONCE_BYTES)
        return nonce + self._wrapper.encrypt(nonce, key, self._key_of + message_id)

    def _unwrap(self, message_id: bytes, wrapped: bytes) -> bytes:
        try:
            return self._wrapper.decrypt(
                wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:], self._key_of + message_id
            )
        except (InvalidTag, ValueError):
            raise StoreCorruptError("a stored message's key does not open with its branch's key") from None


class StoreCipher:
    """What is encrypted under a store's own key: queued mail and recorded responses."""

    def __init__(self, key: bytes) -> None:
        self._mail = _Sealer(derived(key, "antiphon mail"))
        self._responses = _Sealer(derived(key, "antiphon responses"))

    def seal_mail(self, tenant: str, exchange: bytes, body: bytes) -> bytes:
        """Encrypt a queued message."""
        return MARK + self._mail.seal(body, named("mail", tenant, exchange))

    def open_mail(self, tenant: str, exchange: bytes, stored: bytes) -> bytes:
        """Decrypt a queued message; one that is stored in clear is returned as it is.

        Raises:
            StoreCorruptError: It is not what was written.
        """
        if not is_sealed(stored):
            return stored
        return self._mail.open(stored[len(MARK) :], named("mail", tenant, exchange))

    def seal_response(
        self, tenant: str, request_id: bytes, request_hash: bytes, response: bytes
    ) -> tuple[bytes, bytes]:
        """Encrypt a recorded response together with the hash of its request, which tells of what it said.

        Returns:
            What is stored in the place of the hash, which is nothing, and of the response.
        """
        of = named("response", tenant, request_id)
        sealed = self._responses.seal(bytes([len(request_hash)]) + request_hash + response, of)
        return b"", MARK + sealed

    def open_response(
        self, tenant: str, request_id: bytes, request_hash: bytes, stored: bytes
    ) -> tuple[bytes, bytes]:
        """Decrypt a recorded response; one that is stored in clear is returned as it is.

        Returns:
            The hash of its request, and the response.

        Raises:
            StoreCorruptError: It is not what was written.
        """
        if not is_sealed(stored):
            return request_hash, stored
        opened = self._responses.open(stored[len(MARK) :], named("response", tenant, request_id))
        end_of_hash = 1 + opened[0]
        return opened[1:end_of_hash], opened[end_of_hash:]


class _Sealer:
    """Encrypts any number of things under one key, each with a key derived from it and a salt.

    Random nonces under one key are sound for some 2**32 things; a busy exchange
    gets there. Salts of 192 bits are sound for any number.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def seal(self, data: bytes, owner: bytes) -> bytes:
        salt = os.urandom(_SALT_BYTES)
        return salt + self._cipher(salt).encrypt(_ONE_USE, data, owner)

    def open(self, sealed: bytes, owner: bytes) -> bytes:
        salt = sealed[:_SALT_BYTES]
        try:
            return self._cipher(salt).decrypt(_ONE_USE, sealed[_SALT_BYTES:], owner)
        except InvalidTag:
            raise StoreCorruptError("stored bytes do not open with their key") from None

    def _cipher(self, salt: bytes) -> AESGCM:
        return AESGCM(hmac.digest(self._key, salt, "sha256"))


def derived(key: bytes, purpose: str) -> bytes:
    """Return a key for one purpose: keys of different purposes tell nothing of each other."""
    return hmac.digest(key, purpose.encode(), "sha256")


def named(kind: str, *parts: str | bytes) -> bytes:
    """Return associated data: each part behind its length, so that no two names run into one."""
    encoded = [part.encode() if isinstance(part, str) else part for part in (f"antiphon 1 {kind}", *parts)]
    return b"".join(len(part).to_bytes(4, "big") + part for part in encoded)


def _number(value: int) -> bytes:
    return value.to_bytes(8, "big")

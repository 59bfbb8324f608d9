"""The files of TLS, all PEM: checking them, and a channel's own."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import NamedTuple, NoReturn

import grpc

from antiphon_client.files import UnusableFileError, read_file


def load_key_pair(context: ssl.SSLContext, certificate: Path, key: Path) -> None:
    """Load a certificate and its key; that a key is encrypted is refused, not asked about.

    Raises:
        UnusableFileError: They cannot be used.
    """

    def refuse() -> NoReturn:
        raise UnusableFileError(f"{key}: the key is encrypted; give it without a passphrase")

    try:
        context.load_cert_chain(certificate, key, password=refuse)
    except ssl.SSLError as exc:
        if exc.reason == "KEY_VALUES_MISMATCH":
            raise UnusableFileError(f"{key}: not the key of the certificate in {certificate}") from None
        raise UnusableFileError(f"{certificate}, {key}: not a PEM certificate and its PEM key") from None
    except OSError as exc:
        raise UnusableFileError(f"{certificate}, {key}: {exc.strerror}") from None


def load_roots(context: ssl.SSLContext, roots: Path) -> None:
    """Load the certificates that others are trusted by.

    Raises:
        UnusableFileError: The file holds none.
    """
    try:
        context.load_verify_locations(roots)
    except ssl.SSLError:
        raise UnusableFileError(f"{roots}: no PEM certificate in it") from None
    except OSError as exc:
        raise UnusableFileError(f"{roots}: {exc.strerror}") from None


class ChannelTls(NamedTuple):
    """The files of a channel's TLS.

    Attributes:
        ca: The roots that the server's certificate must lead to.
        certificate: The client's own certificate, where the server asks for one.
        key: Its private key, not encrypted.
    """

    ca: Path
    certificate: Path | None = None
    key: Path | None = None

    def credentials(self) -> grpc.ChannelCredentials:
        """Read the files.

        Raises:
            UnusableFileError: One cannot be read, is no PEM file of its kind, or
                certificate and key do not belong together.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        roots = read_file(self.ca)
        load_roots(context, self.ca)
        if self.certificate is None and self.key is None:
            return grpc.ssl_channel_credentials(roots)
        if self.certificate is None or self.key is None:
            raise UnusableFileError("a client's certificate and its key are given together")
        chain, key = read_file(self.certificate), read_file(self.key)
        load_key_pair(context, self.certificate, self.key)
        return grpc.ssl_channel_credentials(roots, key, chain)

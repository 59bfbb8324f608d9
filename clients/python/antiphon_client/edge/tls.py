"""The server's side of TLS: its certificate, whom it asks for one, and new files on the run."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import NamedTuple

import grpc

from antiphon_client.edge.logs import get_logger
from antiphon_client.files import Signature, UnusableFileError, read_file, signature
from antiphon_client.tls_files import load_key_pair, load_roots


class TlsFiles(NamedTuple):
    """The files of a server's TLS, all PEM.

    Attributes:
        certificate: Its certificate, followed by those that lead to a root.
        key: The certificate's private key, not encrypted.
        client_ca: The roots of clients' certificates; None: clients show none.
    """

    certificate: Path
    key: Path
    client_ca: Path | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """All of them."""
        return tuple(path for path in self if path is not None)

    def check(self) -> None:
        """Check that they can be used together.

        Raises:
            UnusableFileError: One cannot be read, is no PEM file of its kind, or the key
                is another certificate's.
        """
        for path in self.paths:
            read_file(path)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        load_key_pair(context, self.certificate, self.key)
        if self.client_ca is not None:
            load_roots(context, self.client_ca)

    def configuration(self) -> grpc.ServerCertificateConfiguration:
        """Read them for gRPC.

        Raises:
            UnusableFileError: One cannot be read.
        """
        pair = (read_file(self.key), read_file(self.certificate))
        roots = None if self.client_ca is None else read_file(self.client_ca)
        return grpc.ssl_server_certificate_configuration([pair], root_certificates=roots)


class ServerTls:
    """A server's TLS, by the files as they are at each handshake.

    Connections that stand keep what they were made with. New files that cannot be
    used change nothing but the log.
    """

    def __init__(self, files: TlsFiles) -> None:
        """Read the files.

        Raises:
            UnusableFileError: They cannot be used.
        """
        self._files = files
        self._seen: Signature | None = signature(files.paths)
        self._log = get_logger("tls")
        files.check()
        self._first = files.configuration()

    def credentials(self) -> grpc.ServerCredentials:
        """Return the credentials of a port; with ``client_ca`` no client gets in without a certificate."""
        return grpc.dynamic_ssl_server_credentials(
            self._first,
            self._fetch,  # type: ignore[arg-type]  # None, for nothing new, is documented but not in the stubs.
            require_client_authentication=self._files.client_ca is not None,
        )

    def _fetch(self) -> grpc.ServerCertificateConfiguration | None:
        """Return what the files say now, None where that is nothing new; gRPC asks at each handshake."""
        now = signature(self._files.paths)
        if now is None or now == self._seen:
            return None
        try:
            self._files.check()
            fresh = self._files.configuration()
        except UnusableFileError as fault:
            self._log.error("certificates_unusable", fault=str(fault))
            self._seen = now
            return None
        if signature(self._files.paths) != now:
            return None  # Still being replaced: the next handshake looks again.
        self._seen = now
        self._log.info("certificates_reloaded")
        return fresh

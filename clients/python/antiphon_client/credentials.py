"""What a client shows to a service, and what it wants to be shown: its token and TLS."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from antiphon_client.edge.addresses import AddressError, TcpAddress, UnixAddress, parse_address

if TYPE_CHECKING:
    from antiphon_client.tls_files import ChannelTls

AUTHORIZATION = "authorization"
"""The metadata key of a token."""


class Credentials(NamedTuple):
    """A client's credentials for one address.

    Attributes:
        token: The bearer token; None: it shows none.
        tls: The channel's TLS; None: it has none.
    """

    token: str | None = None
    tls: ChannelTls | None = None

    def __repr__(self) -> str:
        """Tell what there is, and not the token."""
        return f"Credentials(token={'given' if self.token else None}, tls={self.tls})"

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """The token as a call's metadata."""
        return () if self.token is None else ((AUTHORIZATION, f"Bearer {self.token}"),)


def credentials_for(address: str, token: str | None, tls: ChannelTls | None) -> Credentials:
    """Return the credentials for an address.

    What is not given comes from ``ANTIPHON_TOKEN`` or the file ``ANTIPHON_TOKEN_FILE``, and from
    ``ANTIPHON_TLS_CA``, ``ANTIPHON_TLS_CERT`` and ``ANTIPHON_TLS_KEY``. A unix socket has no TLS,
    whatever is given.

    Raises:
        AddressError: A token would go over a network without TLS.
        UnusableFileError: The token's file cannot be read.
    """
    parsed = parse_address(address)
    if isinstance(parsed, UnixAddress):
        tls = None
    elif tls is None:
        tls = _tls_of_environment()
    token = token or _token_of_environment()
    if token is not None and tls is None and isinstance(parsed, TcpAddress) and not parsed.is_loopback:
        raise AddressError(
            f"a token is not sent to {address} without TLS; "
            "give the roots of its certificate (tls, or ANTIPHON_TLS_CA)"
        )
    return Credentials(token, tls)


def _token_of_environment() -> str | None:
    token, path = os.environ.get("ANTIPHON_TOKEN"), os.environ.get("ANTIPHON_TOKEN_FILE")
    if token or not path:
        return token or None
    from antiphon_client.files import read_file

    return read_file(Path(path)).decode("ascii", "replace").strip() or None


def _tls_of_environment() -> ChannelTls | None:
    ca, certificate, key = (os.environ.get(f"ANTIPHON_TLS_{name}") for name in ("CA", "CERT", "KEY"))
    if not ca:
        return None
    from antiphon_client.tls_files import ChannelTls

    return ChannelTls(Path(ca), Path(certificate) if certificate else None, Path(key) if key else None)

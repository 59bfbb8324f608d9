"""Listen addresses: ``unix:PATH`` or ``HOST:PORT``, and what is safe about them."""

from __future__ import annotations

import ipaddress
import os
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

SOCKET_PATH_BYTES = 107
"""Longest socket path that every supported system takes (Linux: 108 with the final zero)."""


class AddressError(ValueError):
    """An address cannot be used; the text says why."""


@dataclass(frozen=True, slots=True)
class UnixAddress:
    """A unix socket's path."""

    path: str

    def __str__(self) -> str:
        """Return the address as settings and people write it."""
        return f"unix:{self.path}"

    @property
    def target(self) -> str:
        """The address as gRPC takes it: as a URI, where %, ? and # have meanings of their own."""
        return f"unix:{quote(os.fsencode(self.path))}"


@dataclass(frozen=True, slots=True)
class TcpAddress:
    """A host and a port; port 0 asks the system for a free one."""

    host: str
    port: int

    def __str__(self) -> str:
        """Return the address as settings and people write it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def target(self) -> str:
        """The address as gRPC takes it."""
        return str(self)

    @property
    def is_loopback(self) -> bool:
        """Whether only processes of this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


Address = UnixAddress | TcpAddress


def parse_address(text: str) -> Address:
    """Parse a listen address.

    Raises:
        AddressError: It is neither form, the path is too long, or the port is
            no number from 0 to 65535.
    """
    if text.startswith("unix:"):
        return _unix_address(text)
    host, separator, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") if host.startswith("[") else host
    if not separator or not host or "/" in host or not (port.isascii() and port.isdigit()):
        raise AddressError(f"{text!r} is neither unix:PATH nor HOST:PORT")
    if int(port) > 65535:
        raise AddressError(f"{text!r}: the port is over 65535")
    return TcpAddress(host, int(port))


def _unix_address(text: str) -> UnixAddress:
    path = text.removeprefix("unix:")
    if path.startswith("//"):
        path = path[2:]
        if not path.startswith("/"):
            raise AddressError(f"{text!r}: after unix:// comes an absolute path")
    if not path or "\0" in path:
        raise AddressError(f"{text!r} has no path")
    if len(os.fsencode(path)) > SOCKET_PATH_BYTES:
        raise AddressError(f"the socket path is longer than {SOCKET_PATH_BYTES} bytes: {path}")
    return UnixAddress(path)


def check_reach(address: Address, *, insecure: bool, option: str, remedy: str = "") -> None:
    """Refuse an unencrypted address beyond this machine, unless that is wanted.

    Args:
        address: The address.
        insecure: Whether that is wanted.
        option: The flag that gives the address.
        remedy: The flags that would encrypt it; empty where none does.

    Raises:
        AddressError: It is not loopback and ``insecure`` is not set; the text
            names ``option``.
    """
    if isinstance(address, TcpAddress) and not address.is_loopback and not insecure:
        raise AddressError(
            f"{option} {address} is reachable from other machines and there is no TLS; "
            f"use unix:PATH or 127.0.0.1,{remedy and f' give {remedy},'} or accept it with --insecure"
        )


def runtime_directory(environment: Mapping[str, str]) -> Path:
    """Return the folder of the user's sockets.

    It is ``$XDG_RUNTIME_DIR/antiphon``, or ``antiphon-UID`` in the system's
    temporary folder where that variable is not set.
    """
    base = environment.get("XDG_RUNTIME_DIR")
    return Path(base) / "antiphon" if base else Path(tempfile.gettempdir()) / f"antiphon-{os.getuid()}"


def default_address(service: str, environment: Mapping[str, str]) -> str:
    """Return where ``service`` (``history`` or ``compiler``) listens when nothing else is said."""
    return f"unix:{runtime_directory(environment) / service}.sock"


def make_private_directory(path: Path) -> None:
    """Make a folder that only this user can enter, or check that it is one.

    Raises:
        AddressError: Something else stands there: another user's folder, a
            link, or a folder open to others.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise AddressError(f"{path} is not a folder of this user alone (mode 0700)")

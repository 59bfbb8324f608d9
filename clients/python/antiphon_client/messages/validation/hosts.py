"""Literal hosts of URLs: which of them name the reader's own network.

Judged by the text alone, in every spelling that common resolvers and URL
parsers accept for an address: IPv4 of one to four parts in decimal, octal or
hexadecimal (RFC 3986 §7.4, ``inet_aton``), IPv6 with an embedded IPv4 address,
full-width digits and dots (UTS 46). The networks are listed here rather than
taken from `ipaddress` properties, whose meaning changes between Python versions.
"""

from __future__ import annotations

import re
import unicodedata
from ipaddress import AddressValueError, IPv4Address, IPv4Network, IPv6Address, IPv6Network

_PRIVATE_HOST = "the host is a loopback, private or link-local address"
_NO_HOST = "the host is neither a name nor an address"

_LOCAL_NAMES = frozenset(("localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback"))
_LOCAL_SUFFIX = ".localhost"

_LOCAL_IPV4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this host
        "10.0.0.0/8",
        "100.64.0.0/10",  # shared behind a carrier's NAT
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.168.0.0/16",
    )
)
_LOCAL_IPV6 = tuple(
    IPv6Network(network)
    for network in (
        "::/128",
        "::1/128",
        "fc00::/7",
        "fe80::/10",
        "fec0::/10",  # site-local, deprecated and still routed as such
        "64:ff9b:1::/48",  # NAT64 within one's own network
    )
)
# IPv6 spellings of an IPv4 address, in the low 32 bits.
_EMBEDDING = tuple(
    IPv6Network(network)
    for network in (
        "::/96",  # compatible
        "::ffff:0:0/96",  # mapped
        "::ffff:0:0:0/96",  # translated
        "64:ff9b::/96",  # NAT64
    )
)
_LOW_32_BITS = 2**32 - 1

_OTHER_FULL_STOPS = str.maketrans("\u3002\uff0e\uff61", "...")
_NUMERIC_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*")
_OCTAL = re.compile(r"0[0-7]*")
_MAX_NUMERIC_LABEL = 32


def check_host(host: str) -> str | None:
    """Return why a URL's host is refused, or None if it is not.

    Args:
        host: A name or an IPv4 address, without its port.
    """
    if "%" in host:
        return "the host must not be percent-encoded"
    name = _mapped(host).rstrip(".")
    labels = name.split(".")
    if not all(labels):
        return _NO_HOST
    if name in _LOCAL_NAMES or name.endswith(_LOCAL_SUFFIX):
        return "the host is the local machine"
    if _NUMERIC_LABEL.fullmatch(labels[-1]) is None:
        return None
    address = _ipv4(labels)
    if address is None:
        return _NO_HOST
    return _PRIVATE_HOST if _is_local_ipv4(address) else None


def check_ipv6_host(host: str) -> str | None:
    """Return why a URL's host in brackets is refused, or None if it is not.

    Args:
        host: What stands between the brackets.
    """
    try:
        address = IPv6Address(host.partition("%")[0])
    except AddressValueError:
        return _NO_HOST
    embedded = _embedded_ipv4(address)
    if any(address in network for network in _LOCAL_IPV6) or (
        embedded is not None and _is_local_ipv4(embedded)
    ):
        return _PRIVATE_HOST
    return None


def _mapped(host: str) -> str:
    """Map compatibility characters as UTS 46 does before a name is looked up."""
    folded = unicodedata.normalize("NFKC", host).translate(_OTHER_FULL_STOPS).casefold()
    if folded.isascii():
        return folded
    return "".join(character for character in folded if unicodedata.category(character) != "Cf")


def _ipv4(labels: list[str]) -> IPv4Address | None:
    """Read one to four numbers as ``inet_aton`` does: the last fills what is left."""
    if len(labels) > 4:
        return None
    numbers = [_number(label) for label in labels]
    last = numbers.pop()
    if last is None or last >= 256 ** (4 - len(numbers)):
        return None
    value = last
    for index, number in enumerate(numbers):
        if number is None or number > 255:
            return None
        value += number << 8 * (3 - index)
    return IPv4Address(value)


def _number(label: str) -> int | None:
    if len(label) > _MAX_NUMERIC_LABEL or _NUMERIC_LABEL.fullmatch(label) is None:
        return None
    if label.startswith("0x"):
        return int(label[2:] or "0", 16)
    if label.startswith("0"):
        return int(label, 8) if _OCTAL.fullmatch(label) is not None else None
    return int(label)


def _embedded_ipv4(address: IPv6Address) -> IPv4Address | None:
    if address.sixtofour is not None:
        return address.sixtofour
    if any(address in network for network in _EMBEDDING):
        return IPv4Address(int(address) & _LOW_32_BITS)
    return None


def _is_local_ipv4(address: IPv4Address) -> bool:
    return any(address in network for network in _LOCAL_IPV4)

"""The rule for images given as text: a URL, a data URL or raw base64.

Nothing is fetched and no name is looked up. A URL is judged by its text alone,
so that a service that later fetches it is not led to its own network by a
literal address, in whatever spelling. What a public name resolves to is for
the fetching side to check.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from antiphon_client.messages.validation.hosts import check_host, check_ipv6_host

_DATA_URL = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_BASE64 = re.compile(r"[A-Za-z0-9+/]++={0,2}")
# Parsers disagree on all of these: some strip them, some take a backslash for
# a slash, and so see another host than the one that was checked.
_AMBIGUOUS = re.compile(r"[\x00-\x20\x7f-\xa0\\]")


def is_url(text: str) -> bool:
    """Whether the text has a scheme; what has none is raw base64, where no colon occurs."""
    return _SCHEME.match(text) is not None


def check_image(text: str) -> str | None:
    """Return why the text is no legal image, or None if it is one.

    Legal are an http(s) URL with a host, ``data:image/(png|jpeg|gif|webp);base64,``
    with a non-empty valid payload, and raw base64. Cost: linear in the text.
    """
    if not text:
        return "must not be empty"
    if "\x00" in text or "%00" in text:
        return "must not contain NUL"
    scheme = _SCHEME.match(text)
    if scheme is None:
        return _check_base64(text, "neither a URL nor base64")
    name = scheme[1].lower()
    if name == "data":
        prefix = _DATA_URL.match(text)
        if prefix is None:
            return "a data URL must begin with data:image/(png|jpeg|gif|webp);base64,"
        return _check_base64(text[prefix.end() :], "the data URL's payload is not base64")
    if name in ("http", "https"):
        return _check_url(text)
    return "the scheme must be http, https or data"


def _check_base64(text: str, otherwise: str) -> str | None:
    if not text:
        return "the payload must not be empty"
    # By its text: the standard decoder's strictness differs between Python versions.
    return None if len(text) % 4 == 0 and _BASE64.fullmatch(text) is not None else otherwise


def _check_url(text: str) -> str | None:
    if _AMBIGUOUS.search(text) is not None:
        return "a URL must not contain spaces, control characters or backslashes"
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "not a URL"
    if not host:
        return "the URL must have a host"
    if parts.netloc.rpartition("@")[2].startswith("["):
        return check_ipv6_host(host)
    return check_host(host)

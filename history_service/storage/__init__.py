"""Stores: where branches are kept, behind one port (``history_service.storage.port``)."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from history_service.storage.port import HistoryStore
from history_service.storage.postgres_limits import DEFAULT_POSTGRES_LIMITS, PostgresLimits

if TYPE_CHECKING:
    # Needs a package that only encrypted stores need.
    from history_service.storage.envelope import KeyRing

MEMORY_URL = "memory:"
SQLITE_SCHEME = "sqlite:"
POSTGRES_SCHEMES = ("postgresql://", "postgres://")


def masked_url(url: str) -> str:
    """Return a store's URL without the secrets in it, for logs and for people."""
    if not url.startswith(POSTGRES_SCHEMES):
        return url
    scheme, separator, rest = url.partition("://")
    # As libpq reads it: credentials end at an @ before the first slash.
    authority, slash, remainder = rest.partition("/")
    account, at, hosts = authority.rpartition("@")
    user, colon, _ = account.partition(":")
    shown = f"{user}{colon and ':***'}{at}{hosts}{slash}{remainder}"
    place, question, query = shown.partition("?")
    query = "&".join(_masked_parameter(parameter) for parameter in query.split("&"))
    return f"{scheme}{separator}{place}{question}{query}"


def _masked_parameter(parameter: str) -> str:
    name, equals, _ = parameter.partition("=")
    return f"{name}{equals}***" if "password" in unquote(name).lower() else parameter


def load_ring(path: str) -> KeyRing:
    """Read the file of the master keys to encrypt with.

    Raises:
        ValueError: The file is wrong, or the package that encrypts is not installed.
    """
    try:
        from history_service.storage.envelope import KeyRing
    except ImportError:
        raise ValueError("encryption needs the package cryptography: install antiphon[encryption]") from None
    return KeyRing.load(path)


def open_store(
    url: str, postgres: PostgresLimits = DEFAULT_POSTGRES_LIMITS, ring: KeyRing | None = None
) -> HistoryStore:
    """Make the store a URL names; it opens nothing before its ``start``.

    Args:
        url: ``memory:`` (lost with the process), ``sqlite:PATH`` (one file) or
            ``postgresql://...`` (a database, which replicas may share).
        postgres: Bounds of a PostgreSQL store.
        ring: Master keys to encrypt with what is written; None writes in clear.
            The memory store has nothing at rest and needs none.

    Raises:
        ValueError: The URL names no store, or its library is not installed.
    """
    # A store's library is imported only where that store is used.
    if url == MEMORY_URL:
        from history_service.storage.memory import MemoryStore

        return MemoryStore()
    path = url.removeprefix(SQLITE_SCHEME)
    if path and path != url:
        from history_service.storage.sqlite import open_sqlite_store

        return open_sqlite_store(path, ring)
    if url.startswith(POSTGRES_SCHEMES):
        try:
            from history_service.storage.postgres import PostgresStore
        except ImportError as error:
            raise ValueError(
                "a PostgreSQL store needs the extra: pip install 'antiphon[postgres]'"
            ) from error
        return PostgresStore(url, limits=postgres, ring=ring)
    # The rest of it may hold a secret.
    scheme, colon, _ = url.partition(":")
    raise ValueError(f"not a store: {scheme + colon!r}; use memory:, sqlite:PATH or postgresql://...")

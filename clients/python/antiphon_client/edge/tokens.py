"""Bearer tokens: what they look like, and the file that says whose they are.

The file is TOML and holds hashes only. A token has 256 random bits, so that a
plain SHA-256 of it gives nothing away: slow hashes are for what people choose::

    [token.3f9a01c2]
    tenant = "acme"
    role = "guest"
    sha256 = "..."
    external_keys = ["support/"]        # of a guest: branches by external key ...
    branches = ["6f1c..."]              # ... or by id; neither: all of the tenant's
    rpcs = ["GetBranch", "Compile"]     # of a guest: these only; left out: all that read
    expires = 2027-01-01T00:00:00Z

    [anonymous]                         # calls without a token: a guest of this tenant
    tenant = "public"
    external_keys = ["docs/"]
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import stat
import tomllib
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from annotated_types import MinLen
from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    StringConstraints,
    ValidationError,
    field_validator,
    model_validator,
)

from antiphon_client.edge.access import READING, Role
from antiphon_client.edge.logs import get_logger
from antiphon_client.files import Signature, UnusableFileError, read_file, signature

_PREFIX = "antiphon"
_SECRET_BYTES = 32
_ID_BYTES = 4
_ID = re.compile(r"[A-Za-z0-9-]{1,64}")
_TENANT_PATTERN = r"^([A-Za-z0-9][A-Za-z0-9._-]{0,63})?$"
"""A tenant's name; the empty one is that of all data written while no tokens were configured."""

Text = Annotated[str, MinLen(1)]
Tenant = Annotated[str, StringConstraints(pattern=_TENANT_PATTERN)]


class Scope(NamedTuple):
    """What of its tenant a guest may read.

    Attributes:
        branches: Ids of branches.
        external_keys: What the external keys of further branches begin with.
        rpcs: Names of the RPCs it may call; None for all that read.
    """

    branches: frozenset[str] = frozenset()
    external_keys: tuple[str, ...] = ()
    rpcs: frozenset[str] | None = None

    @property
    def is_narrow(self) -> bool:
        """Whether it holds some branches only, rather than everything of the tenant."""
        return bool(self.branches or self.external_keys)


class Grant(NamedTuple):
    """What a token gives, or its absence.

    Attributes:
        token_id: The token's public part; empty for a call without a token.
        tenant_id: Whose data it opens.
        role: What its bearer is there.
        scope: What of the data; the whole for an owner.
        is_admin: Whether it opens the server itself too.
        expires: From when on it opens nothing.
        digest: The token's SHA-256.
    """

    token_id: str
    tenant_id: str
    role: Role
    scope: Scope = Scope()
    is_admin: bool = False
    expires: datetime | None = None
    digest: bytes = b""

    def __repr__(self) -> str:
        """Tell whose it is, without the digest."""
        return f"Grant({self.token_id!r}, tenant_id={self.tenant_id!r}, role={self.role.value!r})"


class NewToken(NamedTuple):
    """A token just made.

    Attributes:
        text: The token, which nothing else holds.
        token_id: Its public part.
        digest: Its SHA-256 in hexadecimal, for the file.
    """

    text: str
    token_id: str
    digest: str


def new_token() -> NewToken:
    """Make a token: ``antiphon_ID_SECRET``."""
    token_id = secrets.token_hex(_ID_BYTES)
    text = f"{_PREFIX}_{token_id}_{secrets.token_urlsafe(_SECRET_BYTES)}"
    return NewToken(text, token_id, _digest(text).hex())


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


class Grants(NamedTuple):
    """What a file of tokens says.

    Attributes:
        by_id: The tokens by their public parts.
        anonymous: What a call without a token may do; None: nothing.
    """

    by_id: Mapping[str, Grant]
    anonymous: Grant | None = None

    def of(self, token: str) -> Grant | None:
        """Return what a token gives, expired or not; None where it is none of these.

        Its public part finds the entry; the whole is compared in constant time.
        """
        parts = token.split("_", 2)
        grant = self.by_id.get(parts[1]) if len(parts) == 3 else None
        expected = b"\0" * hashlib.sha256().digest_size if grant is None else grant.digest
        is_equal = hmac.compare_digest(_digest(token), expected)
        return grant if is_equal else None


class _Entry(BaseModel):
    """What every entry may have."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tenant: Tenant
    branches: frozenset[Text] = frozenset()
    external_keys: tuple[Text, ...] = ()
    rpcs: frozenset[Text] | None = None

    @field_validator("rpcs")
    @classmethod
    def _rpcs_read(cls, value: frozenset[str] | None) -> frozenset[str] | None:
        if value is not None and not value <= READING:
            raise ValueError("each must be the name of an RPC that reads")
        return value

    @property
    def scope(self) -> Scope:
        return Scope(self.branches, self.external_keys, self.rpcs)


class _TokenEntry(_Entry):
    """One token's entry."""

    role: Literal[Role.OWNER, Role.GUEST]
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    admin: bool = False
    expires: AwareDatetime | None = None

    @model_validator(mode="after")
    def _scopes_are_guests(self) -> Self:
        if self.role is Role.OWNER and self.scope != Scope():
            raise ValueError("branches, external_keys and rpcs are a guest's")
        if self.role is Role.GUEST and self.admin:
            raise ValueError("a guest is no admin")
        return self

    def grant(self, token_id: str) -> Grant:
        digest = bytes.fromhex(self.sha256)
        return Grant(token_id, self.tenant, self.role, self.scope, self.admin, self.expires, digest)


class _TokensFile(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    token: dict[str, _TokenEntry] = {}
    anonymous: _Entry | None = None


def read_grants(path: Path) -> Grants:
    """Read a file of tokens.

    Raises:
        UnusableFileError: It cannot be read, anybody may write it, or it is not as the
            module says.
    """
    raw = read_file(path)
    if stat.S_IMODE(path.stat().st_mode) & stat.S_IWOTH:
        raise UnusableFileError(f"{path}: everybody may write it; take that right away (chmod o-w)")
    try:
        return _parsed(raw)
    except ValueError as exc:
        raise UnusableFileError(f"{path}: {exc}") from None


def check_entry(text: str) -> None:
    """Check an entry for a file of tokens.

    Raises:
        ValueError: It is none; the text says why.
    """
    _parsed(text.encode())


def _parsed(raw: bytes) -> Grants:
    """Parse a file of tokens; what is wrong is told without quoting it."""
    try:
        content: dict[str, Any] = tomllib.loads(raw.decode())
        read = _TokensFile.model_validate(content)
    except ValidationError as exc:
        first = exc.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ValueError(f"{where}: {first['msg'].removeprefix('Value error, ')}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
        raise ValueError(f"not TOML: {_place_only(exc)}") from None
    wrong = next((token_id for token_id in read.token if not _ID.fullmatch(token_id)), None)
    if wrong is not None:
        raise ValueError("token: an id is letters, digits and hyphens, 64 at most")
    anonymous = None
    if read.anonymous is not None:
        anonymous = Grant("", read.anonymous.tenant, Role.ANONYMOUS, read.anonymous.scope)
    return Grants({token_id: entry.grant(token_id) for token_id, entry in read.token.items()}, anonymous)


def _place_only(exc: ValueError) -> str:
    """Return where a text is wrong, without what stands there."""
    place = re.search(r"line \d+, column \d+|end of document", str(exc))
    return place[0] if place else "not UTF-8 text, or a key twice"


class TokenFile:
    """A file of tokens as it is now: what is taken out of it opens nothing from the next call on.

    A new content that cannot be used changes nothing but the log.
    """

    def __init__(self, path: Path) -> None:
        """Read the file.

        Raises:
            UnusableFileError: It cannot be used.
        """
        self._path = path
        self._seen: Signature | None = signature((path,))
        self._grants = read_grants(path)
        self._log = get_logger("tokens")

    def grants(self) -> Grants:
        """Return what the file says now. Cost: a stat, and a read after a change."""
        now = signature((self._path,))
        if now is not None and now != self._seen:
            self._seen = now
            try:
                self._grants = read_grants(self._path)
                self._log.info("tokens_reloaded", tokens=len(self._grants.by_id))
            except UnusableFileError as fault:
                self._log.error("tokens_unusable", fault=str(fault))
        return self._grants

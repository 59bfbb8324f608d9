"""The settings both services share: frozen, checked, read once in ``__main__``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Annotated, Literal, Self, TypeAlias

from annotated_types import Ge, Gt, Le
from pydantic import field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from antiphon_client.edge.addresses import TcpAddress, UnixAddress, check_reach, parse_address
from antiphon_client.edge.ready_memory import DEFAULT_READY_BYTES, MOST_READY_BYTES
from antiphon_client.edge.tls import TlsFiles
from antiphon_client.edge.tokens import read_grants
from antiphon_client.edge.tracing import Tracing
from antiphon_client.limits import DEFAULT_LIMITS, Limits

LogLevel: TypeAlias = Literal["debug", "info", "warning", "error"]

ALL_LIMITS = tuple(field.name for field in fields(Limits))
"""The names of every limit; each service has its own choice of them."""

_CLIENTS_OWN = "ADDRESS"
"""What the SDK and the command line take from a variable of the same prefix."""

_MIB = 2**20
_TRANSPORT_BYTES = 16 * _MIB


class EdgeSettings(BaseSettings):
    """What every service can be told.

    Attributes:
        listen: Where it listens: ``unix:PATH`` or ``HOST:PORT``.
        insecure: Allow addresses beyond this machine although there is no TLS.
        tls_cert: The server's certificate and those that lead to a root, PEM; with it
            ``listen`` speaks TLS only.
        tls_key: The certificate's private key, PEM.
        tls_client_ca: Roots of clients' certificates, PEM; with it no client gets in
            without one.
        tokens: File of the bearer tokens that callers must have; None: nobody needs one.
        log_level: Lowest level that is logged; debug logs every call.
        grace_seconds: How long calls in flight may finish after a stop is asked.
        slow_call_seconds: From this duration on a call is logged as slow.
        metrics_listen: ``HOST:PORT`` of a Prometheus endpoint; None for none.
        tracing: Where spans of calls go: ``off`` (none are made), ``otlp`` or ``log``.
        inflight_calls: Calls served at once; more are OVERLOADED. Where there are reads and
            writes, each kind has three quarters of them at most.
        inflight_bytes: Bytes of their requests, and of replies that the transport does not
            have yet; more are OVERLOADED, divided in the same way. A call that streams its
            request counts as one request of the largest size, one that streams its reply as
            one frame of the largest size.
        inflight_watches: Watches served at once, which last for hours and do no
            work meanwhile, beside ``inflight_calls``; more are OVERLOADED.
        client_streams: Streams that one caller may have open: watches, snapshots, exports,
            imports; more are OVERLOADED. A caller is a tenant, or else an address
            without its port; all callers on a unix socket are one.
        ready_bytes: Memory for the cache of branches that is fetched at the start, so that no
            call waits for it; not more than the cache takes.
        limits: The size limits of the contract.
    """

    model_config = SettingsConfigDict(
        frozen=True, extra="forbid", env_nested_delimiter="__", allow_inf_nan=False
    )

    listen: str
    insecure: bool = False
    tls_cert: Path | None = None
    tls_key: Path | None = None
    tls_client_ca: Path | None = None
    tokens: Path | None = None
    log_level: LogLevel = "info"
    grace_seconds: Annotated[float, Ge(0)] = 10.0
    slow_call_seconds: Annotated[float, Gt(0)] = 1.0
    metrics_listen: str | None = None
    tracing: Tracing = "off"
    inflight_calls: Annotated[int, Ge(1)] = 1024
    inflight_bytes: Annotated[int, Ge(1)] = 256 * _MIB
    inflight_watches: Annotated[int, Ge(1)] = 1024
    client_streams: Annotated[int, Ge(1)] = 512
    ready_bytes: Annotated[int, Ge(0), Le(MOST_READY_BYTES)] = DEFAULT_READY_BYTES
    limits: Limits = DEFAULT_LIMITS

    @field_validator("listen")
    @classmethod
    def _listen_is_an_address(cls, value: str) -> str:
        parse_address(value)
        return value

    @field_validator("metrics_listen")
    @classmethod
    def _metrics_listen_is_tcp(cls, value: str | None) -> str | None:
        if value is not None and not isinstance(parse_address(value), TcpAddress):
            raise ValueError("must be HOST:PORT")
        return value

    @field_validator("limits")
    @classmethod
    def _limits_fit_together(cls, value: Limits) -> Limits:
        for name, bound in asdict(value).items():
            if bound < 1:
                raise ValueError(f"{name} must be 1 or more")
        if value.message_bytes > value.request_bytes:
            raise ValueError("message_bytes must not be over request_bytes")
        return value

    @field_validator("tokens")
    @classmethod
    def _tokens_can_be_read(cls, value: Path | None) -> Path | None:
        if value is not None:
            read_grants(value)
        return value

    @model_validator(mode="after")
    def _tls_is_whole(self) -> Self:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("--tls-cert and --tls-key are given together")
        if self.tls is None:
            if self.tls_client_ca is not None:
                raise ValueError("--tls-client-ca needs --tls-cert and --tls-key")
            return self
        if isinstance(parse_address(self.listen), UnixAddress):
            raise ValueError("--tls-cert: a unix socket has no TLS; use --listen HOST:PORT")
        self.tls.check()
        return self

    @model_validator(mode="after")
    def _stays_on_this_machine(self) -> Self:
        check_reach(
            parse_address(self.listen),
            insecure=self.insecure or self.tls is not None,
            option="--listen",
            remedy="--tls-cert and --tls-key",
        )
        if self.metrics_listen is not None:
            check_reach(parse_address(self.metrics_listen), insecure=self.insecure, option="--metrics-listen")
        return self

    @property
    def tls(self) -> TlsFiles | None:
        """The files of the server's TLS; None where it has none."""
        if self.tls_cert is None or self.tls_key is None:
            return None
        return TlsFiles(self.tls_cert, self.tls_key, self.tls_client_ca)

    @property
    def transport_bytes(self) -> int:
        """The transport's own limit on a request, in bytes.

        Far above ``request_bytes``, so that a caller who missed the limit gets
        SIZE_LIMIT_EXCEEDED with its figures and not a bare transport error.
        """
        return max(_TRANSPORT_BYTES, 2 * self.limits.request_bytes)


def unknown_variables(
    settings: type[EdgeSettings], limits: Sequence[str], environment: Iterable[str]
) -> list[str]:
    """Return the environment variables that look like settings and are none.

    Args:
        settings: The settings.
        limits: Names of the limits among them.
        environment: The names of the variables there are; their case does not matter, as to pydantic.
    """
    prefix = settings.model_config["env_prefix"]
    nested = settings.model_config["env_nested_delimiter"]
    known = {*settings.model_fields, *(f"limits{nested}{name}" for name in limits), _CLIENTS_OWN}
    names = {f"{prefix}{name}".upper() for name in known}
    return sorted(
        name for name in environment if name.upper().startswith(prefix) and name.upper() not in names
    )

"""The compiler service's settings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Self

from annotated_types import Ge, Le
from pydantic import Field, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from antiphon_client.channel import check_address
from antiphon_client.edge.addresses import UnixAddress, check_reach, default_address, parse_address
from antiphon_client.edge.settings import EdgeSettings
from antiphon_client.tls_files import ChannelTls
from compiler_service.cache.branches import DEFAULT_CACHE_BYTES
from compiler_service.tokens import Counters
from compiler_service.workers.pool import MOST_WORKERS, default_workers

LIMITS = (
    "message_bytes",
    "request_bytes",
    "reply_bytes",
    "frame_bytes",
    "snapshot_bytes",
    "assembly_bytes",
)
"""The limits that concern the compiler service."""


class CompilerSettings(EdgeSettings):
    """Settings of the compiler service, from ``ANTIPHON_COMPILER_*`` where not given.

    Attributes:
        listen: As in ``EdgeSettings``; by default ``compiler.sock`` in the user's runtime folder.
        history: Address of the history service; by default where that listens by default.
        history_tls_ca: Roots of the history service's certificate, PEM; with it the
            channel to ``history`` speaks TLS only.
        history_tls_cert: The compiler's own certificate for it, PEM, where it asks for one.
        history_tls_key: That certificate's private key, PEM.
        vocabularies: Folder of the exact token counters' vocabularies, such as
            ``o200k_base.tiktoken``; None: tokens are estimated only.
        cache_bytes: Memory of branches kept between calls, at most; 0 keeps none.
        folding_workers: Processes that fold beside the service's own; 0 for none.
    """

    model_config = SettingsConfigDict(env_prefix="ANTIPHON_COMPILER_")

    listen: str = Field(default_factory=lambda: default_address("compiler", os.environ))
    history: str = Field(default_factory=lambda: default_address("history", os.environ))
    history_tls_ca: Path | None = None
    history_tls_cert: Path | None = None
    history_tls_key: Path | None = None
    vocabularies: Path | None = None
    cache_bytes: Annotated[int, Ge(0)] = DEFAULT_CACHE_BYTES
    folding_workers: Annotated[int, Ge(0), Le(MOST_WORKERS)] = Field(default_factory=default_workers)

    @field_validator("history")
    @classmethod
    def _history_is_an_address(cls, value: str) -> str:
        parse_address(value)
        return check_address(value)

    @field_validator("vocabularies")
    @classmethod
    def _vocabularies_are_the_published_ones(cls, value: Path | None) -> Path | None:
        Counters(value)
        return value

    @model_validator(mode="after")
    def _history_is_near_or_encrypted(self) -> Self:
        tls = self.history_tls
        if tls is not None:
            if isinstance(parse_address(self.history), UnixAddress):
                raise ValueError("--history-tls-ca: a unix socket has no TLS")
            tls.credentials()
        elif self.history_tls_cert is not None or self.history_tls_key is not None:
            raise ValueError("--history-tls-cert and --history-tls-key need --history-tls-ca")
        check_reach(
            parse_address(self.history),
            insecure=self.insecure or tls is not None,
            option="--history",
            remedy="--history-tls-ca",
        )
        return self

    @property
    def history_tls(self) -> ChannelTls | None:
        """The files of the channel's TLS; None where it has none."""
        if self.history_tls_ca is None:
            return None
        return ChannelTls(self.history_tls_ca, self.history_tls_cert, self.history_tls_key)

"""The compiler service's settings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Self

from annotated_types import Ge
from pydantic import Field, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from antiphon_client.channel import check_address
from antiphon_client.edge.addresses import check_reach, default_address, parse_address
from antiphon_client.edge.settings import EdgeSettings
from compiler_service.cache.branches import DEFAULT_CACHE_BYTES
from compiler_service.tokens import Counters

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
        vocabularies: Folder of the exact token counters' vocabularies, such as
            ``o200k_base.tiktoken``; None: tokens are estimated only.
        cache_bytes: Memory of branches kept between calls, at most; 0 keeps none.
    """

    model_config = SettingsConfigDict(env_prefix="ANTIPHON_COMPILER_")

    listen: str = Field(default_factory=lambda: default_address("compiler", os.environ))
    history: str = Field(default_factory=lambda: default_address("history", os.environ))
    vocabularies: Path | None = None
    cache_bytes: Annotated[int, Ge(0)] = DEFAULT_CACHE_BYTES

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
    def _history_is_on_this_machine(self) -> Self:
        check_reach(parse_address(self.history), insecure=self.insecure, option="--history")
        return self

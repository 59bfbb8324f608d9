"""The compiler service's settings."""

from __future__ import annotations

import os
from typing import Self

from pydantic import Field, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from antiphon_client.channel import check_address
from antiphon_client.edge.addresses import check_reach, default_address, parse_address
from antiphon_client.edge.settings import EdgeSettings


class CompilerSettings(EdgeSettings):
    """Settings of the compiler service, from ``ANTIPHON_COMPILER_*`` where not given.

    Attributes:
        listen: As in ``EdgeSettings``; by default ``compiler.sock`` in the user's runtime folder.
        history: Address of the history service; by default where that listens by default.
    """

    model_config = SettingsConfigDict(env_prefix="ANTIPHON_COMPILER_")

    listen: str = Field(default_factory=lambda: default_address("compiler", os.environ))
    history: str = Field(default_factory=lambda: default_address("history", os.environ))

    @field_validator("history")
    @classmethod
    def _history_is_an_address(cls, value: str) -> str:
        parse_address(value)
        return check_address(value)

    @model_validator(mode="after")
    def _history_is_on_this_machine(self) -> Self:
        check_reach(parse_address(self.history), insecure=self.insecure, option="--history")
        return self

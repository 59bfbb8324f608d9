"""What the gateway can be told, by flags or ``ANTIPHON_GATEWAY_*`` variables."""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self, TypeAlias

from annotated_types import Ge, Gt
from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from antiphon_client.edge.addresses import AddressError, TcpAddress, check_reach, parse_address

OPENAI_CHAT: Final = "openai.chat"
ANTHROPIC_MESSAGES: Final = "anthropic.messages"

Target: TypeAlias = Literal["openai.chat", "anthropic.messages"]
"""The API that the upstream speaks."""

_UPSTREAMS: dict[str, str] = {
    OPENAI_CHAT: "https://api.openai.com/v1",
    ANTHROPIC_MESSAGES: "https://api.anthropic.com/v1",
}


class Settings(BaseSettings):
    """The gateway's settings; flags win over variables.

    The key has its variable, ``ANTIPHON_GATEWAY_UPSTREAM_KEY``: a flag could be
    read by every user of the machine.
    """

    model_config = SettingsConfigDict(
        env_prefix="ANTIPHON_GATEWAY_",
        frozen=True,
        extra="forbid",
        # A refused value is never shown: it may be the key.
        hide_input_in_errors=True,
        cli_prog_name="antiphon_gateway",
        cli_kebab_case=True,
        cli_implicit_flags=True,
        cli_hide_none_type=True,
    )

    listen: str = Field("127.0.0.1:8400", description="HOST:PORT (loopback); port 0 takes a free one")
    insecure: bool = Field(False, description="allow an address beyond this machine, without TLS and login")
    history: str | None = Field(None, description="address of the history service; the SDK's default")
    compiler: str | None = Field(None, description="address of the compiler service; the SDK's default")
    target: Target = Field(OPENAI_CHAT, description="the API that the upstream speaks")
    upstream: str = Field("", description="base URL of the upstream, with /v1; the provider's own")
    upstream_key: SecretStr = Field(SecretStr(""), description="the upstream's key; give it by its variable")
    upstream_timeout_seconds: Annotated[float, Gt(0)] = Field(
        300.0, description="longest silence of the upstream"
    )
    body_bytes: Annotated[int, Ge(1)] = Field(32 * 2**20, description="largest request body")
    grace_seconds: Annotated[int, Ge(0)] = Field(
        10, description="time for answers in flight after a stop is asked"
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="lowest level logged")

    @field_validator("upstream_key")
    @classmethod
    def _key_fits_a_header(cls, value: SecretStr) -> SecretStr:
        # The HTTP library's own error would show it.
        if not all("!" <= character <= "~" for character in value.get_secret_value()):
            raise ValueError("must be printable ASCII without blanks or line ends")
        return value

    @model_validator(mode="after")
    def _stays_on_this_machine(self) -> Self:
        check_reach(self.address, insecure=self.insecure, option="--listen")
        return self

    @property
    def address(self) -> TcpAddress:
        """Where to listen.

        Raises:
            AddressError: It is not HOST:PORT.
        """
        address = parse_address(self.listen)
        if not isinstance(address, TcpAddress):
            raise AddressError(f"{self.listen!r} is not HOST:PORT")
        return address

    @property
    def upstream_url(self) -> str:
        """The upstream's base URL, without a slash at its end."""
        return (self.upstream or _UPSTREAMS[self.target]).rstrip("/")

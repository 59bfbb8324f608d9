"""Clients whose writes have others act between a write's answer and what its writer does next."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import grpc.aio
import pytest

from antiphon_client import channel as channels

WRITES = ("/AddMessages", "/RespondToAction")


class Meddler(grpc.UnaryUnaryClientInterceptor):
    """Acts once, right after the first answer to a write that comes while it has something to do.

    Attributes:
        act: What it does.
        acted: How often it has.
    """

    def __init__(self) -> None:
        self.act: Callable[[], Any] | None = None
        self.acted = 0

    def intercept_unary_unary(self, continuation: Any, details: Any, request: Any) -> Any:
        reply = continuation(details, request)
        act = self.act
        if act is not None and details.method.endswith(WRITES):
            reply.result()
            self.act = None
            self.acted += 1
            act()
        return reply


class AsyncMeddler(grpc.aio.UnaryUnaryClientInterceptor):
    """As `Meddler`, in an asyncio client."""

    def __init__(self) -> None:
        self.act: Callable[[], Awaitable[Any]] | None = None
        self.acted = 0

    async def intercept_unary_unary(self, continuation: Any, details: Any, request: Any) -> Any:
        reply = await continuation(details, request)
        act = self.act
        if act is not None and details.method.decode().endswith(WRITES):
            await reply
            self.act = None
            self.acted += 1
            await act()
        return reply


def meddle(monkeypatch: pytest.MonkeyPatch) -> Meddler:
    """Let a meddler into the blocking clients made from now on."""
    meddler = Meddler()

    def opened(address: str, options: Any = None, tls: Any = None) -> grpc.Channel:
        return grpc.intercept_channel(channels.open_channel(address, options, tls), meddler)

    monkeypatch.setattr("antiphon_client.client_base.open_channel", opened)
    return meddler


def meddle_async(monkeypatch: pytest.MonkeyPatch) -> AsyncMeddler:
    """Let a meddler into the asyncio clients made from now on."""
    meddler = AsyncMeddler()

    def opened(address: str, options: Any = None, _tls: None = None) -> grpc.aio.Channel:
        target = channels.check_address(address)
        return grpc.aio.insecure_channel(
            target, options=channels.channel_options(options), interceptors=[meddler]
        )

    monkeypatch.setattr("antiphon_client.client_base.open_aio_channel", opened)
    return meddler

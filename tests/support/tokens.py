"""Bearer tokens for tests, and calls that carry them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor

from antiphon.compiler.v1 import compiler_service_pb2
from antiphon.history.v1 import exchange_service_pb2, history_service_pb2
from antiphon_client.edge.tokens import NewToken, new_token

SERVICES: tuple[ServiceDescriptor, ...] = (
    history_service_pb2.DESCRIPTOR.services_by_name["HistoryService"],
    exchange_service_pb2.DESCRIPTOR.services_by_name["ExchangeService"],
    compiler_service_pb2.DESCRIPTOR.services_by_name["CompilerService"],
)


class TokensFile:
    """A file of tokens.

    Attributes:
        path: Where it is.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "tokens.toml"
        self._entries: dict[str, str] = {}
        self._write()

    def add(self, tenant: str, role: str = "owner", **fields: Any) -> NewToken:
        """Add a token; datetimes are given as TOML's texts under ``expires``."""
        token = new_token()
        values = {"tenant": tenant, "role": role, "sha256": token.digest, **fields}
        self._entries[f"token.{token.token_id}"] = _table(values)
        self._write()
        return token

    def anonymous(self, tenant: str, **fields: Any) -> None:
        """Let calls without a token in."""
        self._entries["anonymous"] = _table({"tenant": tenant, **fields})
        self._write()

    def copy(self, other: TokensFile) -> None:
        """Hold what another file holds."""
        self._entries = dict(other._entries)
        self._write()

    def remove(self, token: NewToken) -> None:
        """Take a token out."""
        del self._entries[f"token.{token.token_id}"]
        self._write()

    def _write(self) -> None:
        text = "".join(f"[{name}]\n{table}\n" for name, table in self._entries.items())
        fresh = self.path.with_suffix(".new")
        fresh.write_text(text)
        os.replace(fresh, self.path)


def _table(values: dict[str, Any]) -> str:
    return "".join(
        f"{name} = {value if name == 'expires' else json.dumps(value)}\n" for name, value in values.items()
    )


def bearer(token: NewToken | None) -> tuple[tuple[str, str], ...]:
    """Return a token as metadata; none for None."""
    return () if token is None else (("authorization", f"Bearer {token.text}"),)


def methods() -> Iterator[tuple[ServiceDescriptor, MethodDescriptor]]:
    """Yield every RPC of both services."""
    for service in SERVICES:
        for method in service.methods:
            yield service, method


async def answers(
    channel: grpc.aio.Channel,
    service: ServiceDescriptor,
    method: MethodDescriptor,
    requests: Iterable[bytes],
    metadata: tuple[tuple[str, str], ...],
    *,
    most: int = 1000,
) -> list[bytes]:
    """Call an RPC of any shape with encoded requests and return the encoded answers, ``most`` at most.

    Raises:
        grpc.aio.AioRpcError: The call failed.
    """
    untyped: Any = channel
    path = f"/{service.full_name}/{method.name}"
    requests = list(requests)
    if method.server_streaming:
        call = untyped.unary_stream(path)(requests[0], metadata=metadata, timeout=30)
        frames: list[bytes] = []
        async for frame in call:
            frames.append(frame)
            if len(frames) == most:
                call.cancel()
                break
        return frames
    if method.client_streaming:
        return [await untyped.stream_unary(path)(iter(requests), metadata=metadata, timeout=30)]
    return [await untyped.unary_unary(path)(requests[0], metadata=metadata, timeout=30)]

"""Both services behind tokens, and what a call of any RPC came to."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
from google.protobuf import text_format
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.rpc import status_pb2

from antiphon_client.edge.tokens import NewToken
from antiphon_client.status import DETAILS_KEY, error_from_rpc
from compiler_service.server import build_server as build_compiler
from compiler_service.server import open_history_channel
from compiler_service.settings import CompilerSettings
from history_service.server import build_server as build_history
from history_service.settings import HistorySettings
from history_service.storage import open_store
from tests.support.history import store_url
from tests.support.tokens import TokensFile, answers, bearer, methods

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = re.compile(r"(seconds|nanos|created_at|expires_at): \d+|\d{4}-\d\d-\d\dT[\d:.]+Z")
HASHES = re.compile(r'sha256: "[^\n]*"|\\"sha256\\":\\"[0-9a-f]{64}\\"')
BY_NAME = {method.name: (service, method) for service, method in methods()}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call came to.

    Attributes:
        code: Name of the status code.
        reason: Name of the reason; empty for OK.
        text: The answer or the whole status as text, with every detail.
    """

    code: str
    reason: str
    text: str

    def of_no_name(self, names: Iterable[str] = ()) -> Outcome:
        """Return it without names, ids, times and hashes of contents, so that two worlds can be compared."""
        text = self.text
        for index, name in enumerate(names):
            text = text.replace(name, f"<name {index}>")
        seen: dict[str, str] = {}
        text = UUID.sub(lambda found: seen.setdefault(found[0], f"<id {len(seen)}>"), text)
        return Outcome(self.code, self.reason, HASHES.sub("<hash>", TIME.sub("<time>", text)))


class Secured:
    """Both services, and the file that says who may call.

    Attributes:
        tokens: The file.
    """

    def __init__(self, tokens: TokensFile, history: grpc.aio.Channel, compiler: grpc.aio.Channel) -> None:
        self.tokens = tokens
        self._channels = {"history": history, "compiler": compiler}

    async def frames(
        self, token: NewToken | None, name: str, requests: Iterable[Message], *, most: int = 1000
    ) -> list[Any]:
        """Call an RPC by its name and return what it answers, decoded.

        Raises:
            grpc.aio.AioRpcError: The call failed.
        """
        service, method = BY_NAME[name]
        encoded = [request.SerializeToString() for request in requests]
        channel = self.channel_of(service)
        raw = await answers(channel, service, method, encoded, bearer(token), most=most)
        return [GetMessageClass(method.output_type).FromString(each) for each in raw]

    async def call(self, token: NewToken | None, request: Message) -> Any:
        """Call the RPC whose one request this is and return its first answer."""
        name = type(request).__name__.removesuffix("Request")
        return (await self.frames(token, name, [request], most=1))[0]

    async def outcome(
        self, token: NewToken | None, name: str, requests: Iterable[Message], *, most: int = 1000
    ) -> Outcome:
        """Call an RPC by its name and return what it came to."""
        try:
            replies = await self.frames(token, name, requests, most=most)
        except grpc.aio.AioRpcError as failure:
            return refusal(failure)
        return Outcome("OK", "", "\n".join(map(text_format.MessageToString, replies)))

    def channel_of(self, service: ServiceDescriptor) -> grpc.aio.Channel:
        """Return the channel to the server of a service."""
        return self._channels["compiler" if "compiler" in service.full_name else "history"]


def refusal(failure: grpc.aio.AioRpcError) -> Outcome:
    """Return what a failed call came to: its code, its message and every trailing detail."""
    error = error_from_rpc(failure)
    status = status_pb2.Status()
    trailing = dict(failure.trailing_metadata() or ())
    raw = trailing.pop(DETAILS_KEY, b"")
    status.ParseFromString(raw if isinstance(raw, bytes) else raw.encode())
    text = f"{failure.details()}\n{sorted(trailing)}\n{text_format.MessageToString(status)}"
    return Outcome(failure.code().name, "" if error is None else error.reason, text)


def empty(method: MethodDescriptor) -> Message:
    """Return an RPC's request with nothing in it."""
    request: Message = GetMessageClass(method.input_type)()
    return request


@asynccontextmanager
async def secured(folder: Path, kind: str = "memory", **settings: Any) -> AsyncIterator[Secured]:
    """Run both services on unix sockets over a store of a kind, with a file of tokens that is still empty."""
    tokens = TokensFile(folder)
    url = store_url(kind, folder)
    history_settings = HistorySettings(
        listen=f"unix:{folder}/h.sock", store=url, tokens=tokens.path, **settings
    )
    history = build_history(history_settings, open_store(url))
    history_address = await history.start()
    try:
        compiler_settings = CompilerSettings(
            listen=f"unix:{folder}/c.sock", history=history_address, tokens=tokens.path
        )
        compiler = build_compiler(compiler_settings, open_history_channel(compiler_settings))
        compiler_address = await compiler.start()
        try:
            async with (
                grpc.aio.insecure_channel(history_address) as history_channel,
                grpc.aio.insecure_channel(compiler_address) as compiler_channel,
            ):
                yield Secured(tokens, history_channel, compiler_channel)
        finally:
            await compiler.stop(0)
    finally:
        await history.stop(0)

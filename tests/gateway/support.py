"""The gateway as a process, a scripted provider behind it, and OpenAI's client before it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import openai
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from antiphon_client import Branch, HistoryClient
from antiphon_client.openai_chat import export_messages
from antiphon_gateway.conversation import CONVERSATION_HEADER
from tests.support.pair import Pair

ROOT = Path(__file__).resolve().parents[2]
KEY = "sk-secret-of-the-upstream"
SECONDS = 30.0
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Tell the weather.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}

Message = dict[str, Any]
Reply = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Asked:
    """What the provider was asked."""

    path: str
    headers: dict[str, str]
    body: Any

    @property
    def messages(self) -> list[Message]:
        """The messages it was shown."""
        found: list[Message] = self.body["messages"]
        return found


@dataclass(slots=True)
class Provider:
    """A provider that answers what it is told to."""

    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    replies: deque[Reply] = field(default_factory=deque)

    def will(self, *replies: Reply) -> None:
        """Set the answers to the next requests; what was asked before is forgotten."""
        self.replies.clear()
        self.replies.extend(replies)
        self.asked.clear()

    async def answer(self, request: Request) -> Response:
        """Answer one request."""
        self.asked.append(Asked(request.url.path, dict(request.headers), await request.json()))
        if not self.replies:
            return JSONResponse({"error": {"message": "nothing more to say"}}, 500)
        return await self.replies.popleft()(request)

    def app(self) -> Starlette:
        """The provider as an application."""

        async def models(_request: Request) -> Response:
            return JSONResponse({"data": [{"id": "m-1", "created": 5, "owned_by": "me"}, {"id": "m-2"}]})

        return Starlette(
            routes=[
                Route("/v1/chat/completions", self.answer, methods=["POST"]),
                Route("/v1/messages", self.answer, methods=["POST"]),
                Route("/v1/models", models),
            ]
        )


class _Waiting:
    """What waits in the provider until the test lets it go on."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._may_go = asyncio.Event()
        self.began = threading.Event()

    def begin(self) -> None:
        """Say that the provider has come here."""
        self._loop = asyncio.get_running_loop()
        self.began.set()

    def let_go(self) -> None:
        """Let it go on."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._may_go.set)


class Late(_Waiting):
    """An answer of the provider's that waits."""

    def __init__(self, reply: Reply) -> None:
        super().__init__()
        self._reply = reply

    async def __call__(self, request: Request) -> Response:
        """Wait, then answer."""
        self.begin()
        await self._may_go.wait()
        return await self._reply(request)


class Held(_Waiting):
    """A stream of the provider's that stops in its middle."""

    def __init__(self, before: Iterable[bytes], after: Iterable[bytes] = ()) -> None:
        super().__init__()
        self._before, self._after = list(before), list(after)
        self.ended = threading.Event()

    async def __call__(self, _request: Request) -> Response:
        """Answer with the stream."""
        self.begin()
        return StreamingResponse(self._body(), media_type="text/event-stream")

    async def _body(self) -> AsyncIterator[bytes]:
        try:
            for each in self._before:
                yield each
            await self._may_go.wait()
            for each in self._after:
                yield each
        finally:
            self.ended.set()


def sse(*values: Any) -> list[bytes]:
    """Return values as server-sent events."""
    return [b"data: " + json.dumps(value).encode() + b"\n\n" for value in values]


DONE = b"data: [DONE]\n\n"


def chunk(delta: Message, finish_reason: str | None = None, **more: Any) -> Message:
    """Return a chunk of OpenAI's."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 7, "model": "m"}
    return {**head, "choices": [choice], **more}


def chunks_of(message: Message) -> list[bytes]:
    """Return a message as a whole OpenAI stream, in small pieces."""
    text = message.get("content") or ""
    deltas: list[Message] = [{"role": "assistant", "content": "" if text else None}]
    deltas += [{"content": text[start : start + 4]} for start in range(0, len(text), 4)]
    for index, call in enumerate(message.get("tool_calls", ())):
        function = call["function"]
        begun = {**call, "function": {"name": function["name"], "arguments": ""}}
        deltas.append({"tool_calls": [{"index": index, **begun}]})
        arguments = function["arguments"]
        for start in range(0, len(arguments), 5):
            piece = {"arguments": arguments[start : start + 5]}
            deltas.append({"tool_calls": [{"index": index, "function": piece}]})
    reason = "tool_calls" if "tool_calls" in message else "stop"
    return [*sse(*map(chunk, deltas), chunk({}, reason)), DONE]


def streams(pieces: Iterable[bytes]) -> Reply:
    """Return an answer that is a stream of these bytes."""

    async def reply(_request: Request) -> Response:
        async def body() -> AsyncIterator[bytes]:
            for piece in pieces:
                yield piece

        return StreamingResponse(body(), media_type="text/event-stream")

    return reply


def says(message: Message | str) -> Reply:
    """Return an answer that is this message, streamed where that is asked."""
    said = {"role": "assistant", "content": message} if isinstance(message, str) else message

    async def reply(request: Request) -> Response:
        if (await request.json()).get("stream"):
            return await streams(chunks_of(said))(request)
        return JSONResponse(completion(said))

    return reply


def completion(message: Message, finish_reason: str | None = None) -> Message:
    """Return a message as a whole completion."""
    reason = finish_reason or ("tool_calls" if "tool_calls" in message else "stop")
    choice = {"index": 0, "message": message, "finish_reason": reason}
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 7, "model": "m"}
    return {**head, "choices": [choice], "usage": usage}


def refuses(status: int, body: Any, headers: dict[str, str] | None = None) -> Reply:
    """Return an answer that is an error."""

    async def reply(_request: Request) -> Response:
        return JSONResponse(body, status, headers=headers)

    return reply


def call(call_id: str, city: str) -> Message:
    """Return a message that calls the weather."""
    function = {"name": "weather", "arguments": json.dumps({"city": city})}
    tool_call = {"id": call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [tool_call]}


class _Server(uvicorn.Server):
    """A server that tells its port."""

    def __init__(self, app: ASGIApp) -> None:
        # A connection that still streams at the end is cut.
        config = uvicorn.Config(app, port=0, ws="none", log_level="critical", timeout_graceful_shutdown=0)
        super().__init__(config)
        self.port: concurrent.futures.Future[int] = concurrent.futures.Future()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.port.set_result(self.servers[0].sockets[0].getsockname()[1])


@contextmanager
def running_provider() -> Iterator[Provider]:
    """Run a provider in a thread."""
    provider = Provider()
    server = _Server(provider.app())
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        provider.url = f"http://127.0.0.1:{server.port.result(SECONDS)}/v1"
        yield provider
    finally:
        server.should_exit = True
        thread.join()


class Gateway:
    """The gateway's process."""

    def __init__(self, pair: Pair, upstream: str, log: Path, *flags: str, key: str = KEY) -> None:
        self.log = log
        self.pair = pair
        paths = [ROOT, ROOT / "clients" / "python", ROOT / "clients" / "gateway"]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "ANTIPHON_GATEWAY_UPSTREAM_KEY": key,
        }
        command = [sys.executable, "-m", "antiphon_gateway", "--listen", "127.0.0.1:0", *flags]
        command += ["--history", pair.history, "--compiler", pair.compiler, "--upstream", upstream]
        with log.open("ab") as errors:
            self.process = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, log.read_text()
        self.url = f"http://{json.loads(line)['address']}"

    def stop(self, number: int = signal.SIGTERM) -> None:
        """End the process."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.wait(SECONDS)
        assert self.process.stdout is not None
        self.process.stdout.close()

    @contextmanager
    def client(self, conversation: str | None = None, *, retries: int = 0) -> Iterator[openai.OpenAI]:
        """OpenAI's client, each of its requests of one conversation."""
        headers = {} if conversation is None else {CONVERSATION_HEADER: conversation}
        with openai.OpenAI(
            base_url=f"{self.url}/v1",
            api_key="sk-of-the-client",
            default_headers=headers,
            max_retries=retries,
            timeout=SECONDS,
        ) as client:
            yield client

    def kept(self, conversation: str) -> list[Message]:
        """What the history service holds of a conversation, as OpenAI's messages."""
        with HistoryClient(self.pair.history) as history:
            branch = Branch.open(history, external_key=conversation)
            return export_messages(branch.system(), list(branch.messages()))

    def knows(self, conversation: str) -> bool:
        """Whether there is such a conversation."""
        with HistoryClient(self.pair.history) as history:
            return history.find_branch(conversation) is not None


@contextmanager
def running_gateway(pair: Pair, upstream: str, log: Path, *flags: str, key: str = KEY) -> Iterator[Gateway]:
    """Run the gateway as a process."""
    gateway = Gateway(pair, upstream, log, *flags, key=key)
    try:
        yield gateway
    finally:
        gateway.stop()


def ask(client: openai.OpenAI, messages: list[Message], *, stream: bool, **more: Any) -> Message:
    """Ask for the next turn; return the answer's message as a client would send it again."""
    given: Any = messages
    if stream:
        with client.chat.completions.stream(model="m", messages=given, **more) as answer:
            message = answer.get_final_completion().choices[0].message
    else:
        message = client.chat.completions.create(model="m", messages=given, **more).choices[0].message
    said: Message = {"role": "assistant", "content": message.content}
    if message.tool_calls:
        said["tool_calls"] = [
            {
                "id": each.id,
                "type": "function",
                "function": {"name": each.function.name, "arguments": each.function.arguments},
            }
            for each in message.tool_calls
            if each.type == "function"
        ]
    return said


def user(text: str) -> Message:
    """Return a user's message."""
    return {"role": "user", "content": text}


def assistant(text: str) -> Message:
    """Return an assistant's message."""
    return {"role": "assistant", "content": text}

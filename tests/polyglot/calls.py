"""Calls on the pair by the names of their methods, over bare gRPC and the protos' descriptors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf import json_format, symbol_database
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from google.rpc import error_details_pb2, status_pb2

from antiphon.compiler.v1 import compiler_service_pb2
from antiphon.compiler.v1 import errors_pb2 as compiler_errors_pb2
from antiphon.history.v1 import errors_pb2, exchange_service_pb2, history_service_pb2
from tests.polyglot.faults import ScenarioError

SERVICES = {
    descriptor.full_name: descriptor
    for module in (history_service_pb2, exchange_service_pb2, compiler_service_pb2)
    for descriptor in module.DESCRIPTOR.services_by_name.values()
}
"""Every service of the contract by its full name."""

REGISTRIES = {
    "antiphon.history": errors_pb2.ErrorReason,
    "antiphon.compiler": compiler_errors_pb2.ErrorReason,
}
"""Every registry of reasons by its domain."""

_COMPILER = "antiphon.compiler."
DEFAULT_TIMEOUT_MS = 60_000
_OPTIONS = (("grpc.max_send_message_length", -1),)
_DETAILS = "grpc-status-details-bin"


def method_named(name: str) -> MethodDescriptor:
    """Return the method that ``package.Service/Method`` names."""
    service_name, _, method_name = name.partition("/")
    service = SERVICES.get(service_name)
    method: MethodDescriptor | None = None if service is None else service.methods_by_name.get(method_name)
    if method is None:
        raise ScenarioError(f"there is no method {name}")
    return method


def to_json(message: Message) -> Any:
    """Return a message in proto3 JSON."""
    return json_format.MessageToDict(message)


def encode(method: MethodDescriptor, request: Any) -> bytes:
    """Return the bytes of a request in proto3 JSON."""
    message = GetMessageClass(method.input_type)()
    try:
        return json_format.ParseDict(request, message).SerializeToString(deterministic=True)
    except json_format.ParseError as error:
        raise ScenarioError(f"no {method.input_type.full_name}: {error}") from None


@dataclass(frozen=True, slots=True)
class CallError:
    """How a call failed.

    Attributes:
        leaves: Code, reason, domain, metadata and fields, as far as they are there, as a transcript has them.
        details: The further details in proto3 JSON by type name.
        retry: Whether RetryInfo is among them.
    """

    leaves: dict[str, Any]
    details: dict[str, Any] = field(default_factory=dict)
    retry: bool = False


def read_error(error: grpc.RpcError) -> CallError:
    """Read the error of a call."""
    leaves: dict[str, Any] = {"code": error.code().name}
    details: dict[str, Any] = {}
    encoded = b"".join(item.value for item in error.trailing_metadata() or () if item.key == _DETAILS)
    for packed in status_pb2.Status.FromString(encoded).details:
        name = packed.TypeName()
        message_type = symbol_database.Default().GetSymbol(name)
        message = message_type.FromString(packed.value)
        details[name] = to_json(message)
        if isinstance(message, error_details_pb2.ErrorInfo):
            leaves |= {"reason": message.reason, "domain": message.domain, "metadata": dict(message.metadata)}
        elif isinstance(message, error_details_pb2.BadRequest):
            leaves["fields"] = [violation.field for violation in message.field_violations]
    return CallError(leaves, details, error_details_pb2.RetryInfo.DESCRIPTOR.full_name in details)


@dataclass(frozen=True, slots=True)
class Call:
    """One call as a step says it, its values made.

    Attributes:
        method: The method.
        requests: The requests' bytes: one, or for a client stream any number.
        metadata: Header names and texts.
        timeout_ms: The deadline.
    """

    method: MethodDescriptor
    requests: Sequence[bytes]
    metadata: Sequence[tuple[str, str]] = ()
    timeout_ms: int = DEFAULT_TIMEOUT_MS


class ReplyStream:
    """The replies of a call, one for a unary method, read as they are wanted."""

    def __init__(self, replies: Iterator[bytes], method: MethodDescriptor) -> None:
        """Read from gRPC's iterator."""
        self._replies = replies
        self._type = GetMessageClass(method.output_type)
        self.method = method
        self.error: CallError | None = None
        """How the call failed, as far as is known."""
        self.ended = False
        """Whether the end was read."""

    def read(self, count: int | None = None) -> list[Message]:
        """Return so many more replies, fewer where the call ends before; without ``count``, all."""
        replies: list[Message] = []
        while not self.ended and (count is None or len(replies) < count):
            try:
                replies.append(self._type.FromString(next(self._replies)))
            except StopIteration:
                self.ended = True
            except grpc.RpcError as error:
                self.ended, self.error = True, read_error(error)
            except DecodeError:
                raise ScenarioError(f"the reply is no {self.method.output_type.full_name}") from None
        return replies

    def cancel(self) -> None:
        """End the call from this side."""
        self._replies.cancel()  # type: ignore[attr-defined]
        self.ended = True


class Pair:
    """Channels to a running pair. A context manager: it closes them."""

    def __init__(self, history: str, compiler: str) -> None:
        """Connect to the two addresses, each HOST:PORT or unix:PATH."""
        self._history = grpc.insecure_channel(history, options=_OPTIONS)
        self._compiler = grpc.insecure_channel(compiler, options=_OPTIONS)

    def __enter__(self) -> Pair:
        return self

    def __exit__(self, *_: object) -> None:
        self._history.close()
        self._compiler.close()

    def start(self, call: Call) -> ReplyStream:
        """Send a call and return its replies, to be read. Every method is called as a stream of both sides:
        on the wire there is no difference.
        """
        service = call.method.containing_service.full_name
        channel = self._compiler if service.startswith(_COMPILER) else self._history
        stub: grpc.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(
            f"/{service}/{call.method.name}"
        )
        timeout = call.timeout_ms / 1000
        replies = stub(iter(call.requests), timeout=timeout, metadata=tuple(call.metadata) or None)
        return ReplyStream(replies, call.method)

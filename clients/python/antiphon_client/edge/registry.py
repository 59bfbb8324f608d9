"""One table of all the methods a server has, with the edge in front of every one.

The generated code registers every method with the server by itself, and for
each call that ``grpc.aio`` accepts it then waits for the next one on every
method anew, so that a call costs more the more methods there are: 25 µs at
forty of them. Methods that only a generic handler knows are waited for at once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, cast

import grpc
import grpc.aio

if TYPE_CHECKING:
    # Generic in the type stubs only.
    Handler = grpc.RpcMethodHandler[Any, Any]

Metadata: TypeAlias = tuple[tuple[str, str | bytes], ...]
"""A caller's metadata, in order."""


class Edge(Protocol):
    """What stands in front of the methods."""

    def wrapped(self, path: str, handler: Handler) -> Handler:
        """Return what serves a method, by its servicer's own handler."""
        ...

    def refusal(self, path: str, metadata: Metadata) -> Handler | None:
        """Return what answers a call that is not let in, before its request is read; None lets it in."""
        ...


class _Details(NamedTuple):
    method: str
    invocation_metadata: Metadata = ()


class MethodRegistry(grpc.GenericRpcHandler):
    """Stands for a server while services are added to it, and answers for their methods afterwards."""

    def __init__(self, server: grpc.aio.Server, edge: Edge) -> None:
        """Become the only handler of a server that is not started."""
        self._edge = edge
        self._services: list[grpc.GenericRpcHandler] = []
        self._ready: dict[str, Handler] = {}
        server.add_generic_rpc_handlers((self,))

    def add_generic_rpc_handlers(self, generic_rpc_handlers: Sequence[grpc.GenericRpcHandler]) -> None:
        """See ``grpc.aio.Server``; but the server asks here, so that nothing is served past the edge."""
        self._services += generic_rpc_handlers

    def add_registered_method_handlers(
        self, service_name: str, method_handlers: Mapping[str, Handler]
    ) -> None:
        """See ``grpc.aio.Server``; left out: the generated code adds the same methods as generic ones."""

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Handler | None:
        """Return what serves a call: what refuses it, or its method's handler. None: no such method.

        A method is wrapped when it is first called. Runs in the call's own task.
        """
        path = handler_call_details.method
        handler = self._ready.get(path)
        if handler is None:
            own = self._own(handler_call_details)
            if own is None:
                return None
            handler = self._ready[path] = self._edge.wrapped(path, own)
        return self._edge.refusal(path, handler_call_details.invocation_metadata) or handler

    def _own(self, details: grpc.HandlerCallDetails) -> Handler | None:
        found = (service.service(details) for service in self._services)
        return next((handler for handler in found if handler is not None), None)

    def check(self, paths: Collection[str]) -> None:
        """Check that methods are here.

        Raises:
            LookupError: One is not.
        """
        asked = (cast("grpc.HandlerCallDetails", _Details(path)) for path in sorted(paths))
        missing = [details.method for details in asked if self._own(details) is None]
        if missing:
            raise LookupError(f"not registered: {', '.join(missing)}")

"""The table of methods: what a server is told of services, and what answers their calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, cast

import grpc
import grpc.aio
import pytest

from antiphon.history.v1 import history_service_pb2_grpc
from antiphon_client.edge.registry import MethodRegistry
from antiphon_client.limits import DEFAULT_LIMITS
from history_service.servicer import HistoryServicer
from history_service.storage.memory import MemoryStore

ADD = "/antiphon.history.v1.HistoryService/AddMessages"
OTHER = "/package.Other/Method"


class FakeServer:
    """Keeps what is added to a server."""

    def __init__(self) -> None:
        self.generic: list[grpc.GenericRpcHandler] = []
        self.registered: dict[str, Any] = {}

    def add_generic_rpc_handlers(self, handlers: Sequence[grpc.GenericRpcHandler]) -> None:
        self.generic += handlers

    def add_registered_method_handlers(self, service: str, handlers: Mapping[str, Any]) -> None:
        self.registered[service] = handlers


class FakeEdge:
    """Remembers what it wrapped and what it was asked about; refuses the callers named so."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.asked: list[str] = []

    def wrapped(self, path: str, handler: object) -> Any:
        self.paths.append(path)
        return f"wrapped {path}"

    def refusal(self, path: str, metadata: Iterable[tuple[str, str | bytes]]) -> Any:
        self.asked.append(path)
        return f"refused {path}" if ("caller", "refused") in metadata else None


def details(path: str, caller: str = "welcome") -> grpc.HandlerCallDetails:
    return cast(
        "grpc.HandlerCallDetails", SimpleNamespace(method=path, invocation_metadata=(("caller", caller),))
    )


@pytest.fixture
def server() -> FakeServer:
    return FakeServer()


@pytest.fixture
def edge() -> FakeEdge:
    return FakeEdge()


@pytest.fixture
def registry(server: FakeServer, edge: FakeEdge) -> MethodRegistry:
    registry = MethodRegistry(cast("grpc.aio.Server", server), edge)
    servicer = HistoryServicer(MemoryStore(), DEFAULT_LIMITS)
    history_service_pb2_grpc.add_HistoryServiceServicer_to_server(servicer, cast("grpc.aio.Server", registry))
    return registry


def test_no_method_is_registered_by_itself(server: FakeServer, registry: MethodRegistry) -> None:
    """Each would be waited for anew with every call."""
    assert server.registered == {}


def test_the_server_has_no_other_handler(server: FakeServer, registry: MethodRegistry) -> None:
    """What it would ask past the table would be served past the edge."""
    assert server.generic == [registry]


def test_a_method_is_wrapped_once_when_it_is_first_called(registry: MethodRegistry, edge: FakeEdge) -> None:
    assert edge.paths == []
    served = {cast("Any", registry.service(details(ADD))) for _ in range(3)}
    assert served == {f"wrapped {ADD}"}
    assert edge.paths == [ADD]


def test_every_call_is_asked_about_and_a_refused_one_does_not_reach_the_method(
    registry: MethodRegistry, edge: FakeEdge
) -> None:
    callers = ["welcome", "refused", "welcome"]
    answers = [cast("Any", registry.service(details(ADD, caller))) for caller in callers]
    assert answers == [f"wrapped {ADD}", f"refused {ADD}", f"wrapped {ADD}"]
    assert edge.asked == [ADD] * 3


def test_what_is_in_no_table_is_no_method_whoever_asks(registry: MethodRegistry, edge: FakeEdge) -> None:
    assert registry.service(details(OTHER)) is None
    assert registry.service(details(OTHER, "refused")) is None
    assert edge.paths == edge.asked == []


def test_a_method_that_was_not_registered_is_told(registry: MethodRegistry) -> None:
    registry.check([ADD])
    with pytest.raises(LookupError, match=r"not registered: /package\.Other/Method$"):
        registry.check([ADD, OTHER])

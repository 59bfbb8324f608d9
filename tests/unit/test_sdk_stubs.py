"""A client's calls are made ready one by one, and are those of the generated stub."""

from __future__ import annotations

import copy
import threading
from typing import Any

import grpc
import pytest

from antiphon.compiler.v1.compiler_service_pb2_grpc import CompilerServiceStub
from antiphon.history.v1.exchange_service_pb2_grpc import ExchangeServiceStub
from antiphon.history.v1.history_service_pb2_grpc import HistoryServiceStub
from antiphon_client.stubs import ChannelClosedError, ChannelLife, StubOnDemand

STUBS = (HistoryServiceStub, ExchangeServiceStub, CompilerServiceStub)


class Recording:
    """A channel that notes which calls were made ready, and gives what it noted."""

    def __init__(self) -> None:
        self.made: list[tuple[Any, ...]] = []

    def __getattr__(self, kind: str) -> Any:
        def make(path: str, *values: Any, **fields: Any) -> tuple[Any, ...]:
            self.made.append((kind, path, values, tuple(sorted(fields))))
            return self.made[-1]

        return make


@pytest.mark.parametrize("stub_class", STUBS)
def test_every_call_is_the_generated_stubs(stub_class: type) -> None:
    generated = stub_class(Recording())
    channel = Recording()
    stub = StubOnDemand(stub_class, channel, ChannelLife())
    assert channel.made == []
    methods = vars(generated)
    assert len(methods) > 4
    for method, call in methods.items():
        assert getattr(stub, method) == call
    assert channel.made == list(methods.values())


def test_a_call_is_made_ready_once() -> None:
    channel = Recording()
    stub = StubOnDemand(HistoryServiceStub, channel, ChannelLife())
    assert stub.GetBranch is stub.GetBranch
    assert len(channel.made) == 1


def test_the_service_has_its_full_name() -> None:
    names = [StubOnDemand(stub_class, Recording(), ChannelLife()).service for stub_class in STUBS]
    assert names == [
        "antiphon.history.v1.HistoryService",
        "antiphon.history.v1.ExchangeService",
        "antiphon.compiler.v1.CompilerService",
    ]


def test_what_the_service_has_not_is_no_attribute() -> None:
    with grpc.insecure_channel("unix:/nowhere") as channel:
        stub = StubOnDemand(HistoryServiceStub, channel, ChannelLife())
        with pytest.raises(AttributeError, match=r"\.HistoryService has no method 'Drop'"):
            stub.Drop  # noqa: B018
        assert not hasattr(copy.copy(stub), "Drop")


def test_no_call_is_made_ready_once_the_channel_is_about_to_be_closed() -> None:
    channel, life = Recording(), ChannelLife()
    stub = StubOnDemand(HistoryServiceStub, channel, life)
    known = stub.GetBranch
    life.end()
    assert life.is_closed
    assert stub.GetBranch is known
    with pytest.raises(ChannelClosedError):
        stub.ListMessages  # noqa: B018
    assert len(channel.made) == 1


def test_a_channel_is_not_closed_while_a_call_is_made_ready() -> None:
    life, ended = ChannelLife(), threading.Event()

    def end() -> None:
        life.end()
        ended.set()

    ending = threading.Thread(target=end)

    def make() -> bool:
        ending.start()
        return ended.wait(0.05)

    assert life.make(make) is False
    ending.join(30)
    assert ended.is_set()

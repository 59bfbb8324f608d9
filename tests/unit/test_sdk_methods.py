"""The clients' methods are the operations: same names, signatures and documentation."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from antiphon.compiler.v1 import compiler_service_pb2
from antiphon.history.v1 import exchange_service_pb2, history_service_pb2
from antiphon_client import (
    AsyncBranch,
    AsyncCompilerClient,
    AsyncExchange,
    AsyncHistoryClient,
    Branch,
    CompilerClient,
    Exchange,
    HistoryClient,
)
from antiphon_client.branch_operations import BranchOperations
from antiphon_client.compiler_operations import CompilerOperations
from antiphon_client.exchange_operations import ExchangeOperations
from antiphon_client.history_operations import HistoryOperations

TRIPLES = [
    (HistoryOperations, HistoryClient, AsyncHistoryClient),
    (CompilerOperations, CompilerClient, AsyncCompilerClient),
    (BranchOperations, Branch, AsyncBranch),
    (ExchangeOperations, Exchange, AsyncExchange),
]

EXCHANGE_NAMES = {
    "RegisterOwner": "register",
    "UnregisterOwner": "unregister",
    "ListOwners": "owner_page",
    "Send": "send",
    "Collect": "collect",
    "CollectAll": "collect_all",
    "Receive": "delivery_page",
    "Pop": "pop_message",
    "Lease": "lease",
    "Acknowledge": "acknowledge",
    "Reject": "reject",
    "ListDeadLetters": "dead_letter_page",
    "RedriveDeadLetter": "redrive",
    "WatchInbox": "watch",
}
"""RPC to its name in the SDK, which is that of ADR-0006 D5 where it has one."""


def operations(core: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(core, inspect.isfunction) if not name.startswith("_")}


@pytest.mark.parametrize(("core", "blocking", "awaited"), TRIPLES)
def test_both_clients_have_every_operation(core: type, blocking: type, awaited: type) -> None:
    for name in operations(core):
        documentation = getattr(core, name).__doc__
        assert documentation
        assert getattr(blocking, name).__doc__ == documentation
        assert getattr(awaited, name).__doc__ == documentation


def test_every_rpc_has_an_operation() -> None:
    def snake(name: str) -> str:
        return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")

    for service, core, blocking, awaited in (
        (history_service_pb2, HistoryOperations, HistoryClient, AsyncHistoryClient),
        (compiler_service_pb2, CompilerOperations, CompilerClient, AsyncCompilerClient),
    ):
        (described,) = service.DESCRIPTOR.services_by_name.values()
        # A watch is an iterator, which no operation can be.
        watches = {"watch_branch"}
        names = {snake(method.name) for method in described.methods}
        assert names - watches <= operations(core)
        assert all(hasattr(blocking, name) and hasattr(awaited, name) for name in names)


def test_every_rpc_of_the_exchange_has_its_method() -> None:
    service = exchange_service_pb2.DESCRIPTOR.services_by_name["ExchangeService"]
    assert {method.name for method in service.methods} == EXCHANGE_NAMES.keys()
    for name in EXCHANGE_NAMES.values():
        assert name == "watch" or name in operations(ExchangeOperations)
        assert hasattr(Exchange, name)
        assert hasattr(AsyncExchange, name)


def test_bound_methods_have_the_operation_s_signature_without_self() -> None:
    with HistoryClient("unix:/unused.sock") as client:
        signature = inspect.signature(client.get_branch)
    assert list(signature.parameters) == ["branch_id", "at_revision"]
    assert HistoryClient.get_branch.__name__ == "get_branch"


def test_methods_on_the_class_tell_what_they_return() -> None:
    for client in (HistoryClient, AsyncHistoryClient):
        signature = inspect.signature(client.get_branch)
        assert list(signature.parameters) == ["self", "branch_id", "at_revision"]
        assert signature.return_annotation == "BranchRecord"
    for _, blocking, awaited in TRIPLES:
        for owner in (blocking, awaited):
            for _, method in inspect.getmembers(owner, inspect.isfunction):
                assert "Steps" not in str(inspect.signature(method))


@pytest.mark.anyio
async def test_asynchronous_methods_are_coroutine_functions() -> None:
    async with AsyncHistoryClient("unix:/unused.sock") as client:
        method: Any = client.get_branch
        assert inspect.iscoroutinefunction(method)

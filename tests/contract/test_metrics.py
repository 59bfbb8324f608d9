"""Every metric of both services is documented, and its labels are bounded."""

from __future__ import annotations

import asyncio
import platform
import re
import socket
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast
from urllib.request import urlopen

import grpc
import grpc.aio
import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

import antiphon_client
from antiphon.compiler.v1 import compiler_service_pb2
from antiphon.history.v1 import exchange_service_pb2, history_service_pb2
from antiphon_client import AsyncCompilerClient, AsyncHistoryClient, Instruction, TurnRequest
from antiphon_client.errors import AntiphonError
from antiphon_client.exchange import AsyncExchange
from compiler_service.server import build_server as build_compiler
from compiler_service.server import open_history_channel
from compiler_service.settings import CompilerSettings
from history_service.server import build_server as build_history
from history_service.settings import HistorySettings
from history_service.storage import open_store
from tests.support.history import uuid_of

pytestmark = pytest.mark.anyio

OPERATIONS = Path(__file__).resolve().parents[2] / "docs" / "operations.md"
METHODS = {
    f"/{service.full_name}/{method.name}"
    for module in (history_service_pb2, exchange_service_pb2, compiler_service_pb2)
    for service in module.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}
BUILD = {
    "version": {antiphon_client.__version__},
    "python": {platform.python_version()},
    "grpc": {grpc.__version__},
}
ALLOWED = {
    "method": METHODS,
    "code": {code.name for code in grpc.StatusCode},
    "state": {"queued", "leased", "dead"},
    **BUILD,
}
"""All values that a label may ever have."""
BRANCHES = 30


def documented() -> dict[str, set[str]]:
    """The labels of each metric, by the table in the documentation."""
    found: dict[str, set[str]] = {}
    for line in OPERATIONS.read_text("utf-8").splitlines():
        names, labels, *_ = [*line.strip().strip("|").split("|"), "", ""]
        if line.strip().startswith("| `antiphon_"):
            for name in re.findall("`(.*?)`", names):
                found[name] = set(re.findall("`(.*?)`", labels))
    return found


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def scraped(port: int) -> list[Metric]:
    """What an endpoint serves."""
    text = await asyncio.to_thread(lambda: urlopen(f"http://127.0.0.1:{port}/metrics").read().decode())
    return list(text_string_to_metric_families(text))


def values(families: Iterable[Metric]) -> dict[str, float]:
    """Samples by name and labels."""
    return {
        sample.name + "".join(f" {value}" for _, value in sorted(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


async def use(history_address: str, compiler_address: str) -> None:
    """Call with many different ids and texts, with success and without; and a method that does not exist."""
    async with (
        AsyncHistoryClient(history_address) as history,
        AsyncCompilerClient(compiler_address) as compiler,
    ):
        for number in range(BRANCHES):
            branch = await history.create_branch(external_key=f"key-{number}")
            turn = TurnRequest(instruction=Instruction.create(f"question {number}"))
            for _ in range(2):
                await compiler.compile(branch.branch_id, turn)
            with pytest.raises(AntiphonError):
                await history.get_branch(uuid_of(number))
        exchange = AsyncExchange(history, "mail")
        owners = [await exchange.register(uuid_of(number)) for number in (1, 2)]
        for number in range(3):
            await exchange.send(owners[0], owners[1], {"number": number})
        await exchange.send(owners[0], uuid_of(9), "nobody is there")
        await exchange.collect(owners[0])
        assert len(await exchange.lease(owners[1], 1)) == 1
    async with grpc.aio.insecure_channel(history_address) as channel:
        for path in ("/antiphon.history.v1.HistoryService/Nothing", "/a.B/c"):
            with pytest.raises(grpc.aio.AioRpcError):
                await channel.unary_unary(path)(cast("Any", b""))


async def test_all_metrics_are_documented_and_bounded(tmp_path: Path) -> None:
    ports = free_port(), free_port()
    store = f"sqlite:{tmp_path}/history.sqlite3"
    history_settings = HistorySettings(
        listen=f"unix:{tmp_path}/h.sock", store=store, metrics_listen=f"127.0.0.1:{ports[0]}"
    )
    history = build_history(history_settings, open_store(store))
    history_address = await history.start()
    try:
        settings = CompilerSettings(
            listen=f"unix:{tmp_path}/c.sock",
            history=history_address,
            metrics_listen=f"127.0.0.1:{ports[1]}",
        )
        compiler = build_compiler(settings, open_history_channel(settings))
        compiler_address = await compiler.start()
        try:
            await use(history_address, compiler_address)
            of_history, of_compiler = [await scraped(port) for port in ports]
        finally:
            await compiler.stop(0)
    finally:
        await history.stop(0)
    families = [*of_history, *of_compiler]
    table = documented()
    assert {family.name for family in families} == set(table)
    for family in families:
        assert family.documentation
        for sample in family.samples:
            labels = {name: value for name, value in sample.labels.items() if name != "le"}
            assert set(labels) == table[family.name], family.name
            for name, value in labels.items():
                assert value in ALLOWED[name], f"{family.name}: {name}={value}"
    _check_values(values(of_history), values(of_compiler))


def _check_values(history: dict[str, float], compiler: dict[str, float]) -> None:
    """What was done is what the figures say."""
    assert history["antiphon_snapshot_cache_misses_total"] == BRANCHES
    assert history["antiphon_snapshot_cache_bytes"] >= 0
    assert compiler["antiphon_compile_cache_branches"] == BRANCHES
    states = {state: history[f"antiphon_exchange_messages {state}"] for state in ("queued", "leased", "dead")}
    assert states == {"queued": 2, "leased": 1, "dead": 1}
    writes = history["antiphon_store_commit_writes_sum"]
    assert writes >= BRANCHES + 8
    assert 0 < history["antiphon_store_commit_seconds_count"] <= writes
    assert history["antiphon_store_commit_seconds_sum"] > 0
    assert history["antiphon_store_queued_writes"] == 0
    assert history["antiphon_store_bytes"] + history["antiphon_store_log_bytes"] > 0

"""Every statement of the PostgreSQL store finds its rows by an index, led by the columns to distribute by."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import psycopg
import pytest

from antiphon.history.v1 import exchange_service_pb2 as exchange_pb
from antiphon.history.v1 import history_service_pb2 as pb
from history_service.storage.envelope import KeyRing
from history_service.storage.exchange_port import ExchangeKey
from history_service.storage.postgres import PostgresLimits, PostgresStore
from history_service.storage.postgres.connection import Session
from tests.support import postgres
from tests.support.encryption import ring
from tests.support.exchange import Exchange
from tests.support.history import History, action_result, call_action, instruction, system, uuid_of

pytestmark = pytest.mark.anyio

OF_ALL_TENANTS = {"branch_to_sweep", "recorded_response_by_age", "unfinished_store_copy", "writer_pkey"}
"""Indexes over what a replica does for all tenants."""
LOOKED_UP = r"\b(branch_id|message_id|external_key|owner_id|lease_id|sequence|order_key|number|request_id) ="
EXPLAINED = {"SELECT", "WITH", "UPDATE", "DELETE", "INSERT"}
AT_THE_START = re.compile(r"antiphon_schema_version|to_regclass|master_key|store_key|FROM branch_key$")
"""Tables of a row or two, and the one look at all branches' keys when a new master key is to wrap them."""
SERVED_BY = {"Index Scan", "Index Only Scan"}


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Server]:
    """A server that never counts its tables' rows on its own: a table of one row it would rightly walk."""
    postgres.require_server()
    own = postgres.Server(postgres.find_binaries(), (*postgres.FAST, "autovacuum=off"))
    try:
        own.start()
        yield own
    finally:
        own.remove()


@pytest.fixture
def url(server: postgres.Server, request: pytest.FixtureRequest) -> str:
    """The URL of an empty store."""
    schema = f"of_{request.node.callspec.id}"
    server.run(f"CREATE SCHEMA {schema}")
    return server.url(schema)


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Every statement that is run, with some of its values."""
    found: dict[str, Any] = {}
    execute, run_all = Session._execute, Session.run_all

    def note_one(session: Session, statement: str, values: Any) -> Any:
        found[statement] = values
        return execute(session, statement, values)

    def note_all(session: Session, batch: Any) -> Any:
        found.update(batch)
        return run_all(session, batch)

    monkeypatch.setattr(Session, "_execute", note_one)
    monkeypatch.setattr(Session, "run_all", note_all)
    return found


@pytest.mark.parametrize("keys", [None, ring()], ids=["clear", "encrypted"])
async def test_statements_are_served_by_indexes(
    anyio_backend: object, url: str, statements: dict[str, Any], keys: KeyRing | None
) -> None:
    store = PostgresStore(url, ring=keys)
    await store.start()
    await use_history(History(store))
    await use_exchange(Exchange(store))
    await store.close()
    explained = [statement for statement in statements if statement.split()[0] in EXPLAINED]
    assert len(explained) > 60
    session = Session(url, PostgresLimits())
    for statement in explained:
        if AT_THE_START.search(statement):
            continue
        for node in plan_of(session, statement, statements[statement]):
            where = f"{node['Node Type']} in {statement}: {json.dumps(node, indent=1)[:2000]}"
            assert node["Node Type"] not in ("Seq Scan", "Bitmap Heap Scan", "Hash Join", "Merge Join"), where
            if node["Node Type"] in SERVED_BY and node["Index Name"] not in OF_ALL_TENANTS:
                assert "tenant_id =" in node.get("Index Cond", ""), where
            # What a filter throws away was walked over.
            assert not re.search(LOOKED_UP, node.get("Filter", "")), where
            # A join that compares a page's bodies itself reads all of the tree's for each of them.
            assert not re.search(r"_body\.number = \w+\.body", node.get("Join Filter", "")), where
    session.close()


def plan_of(session: Session, statement: str, values: Mapping[str, Any] | None) -> Iterator[dict[str, Any]]:
    """Yield the nodes of a statement's plan."""
    cursor = session.connection.cursor()
    try:
        rows = cursor.execute(f"EXPLAIN (FORMAT JSON) {statement}".encode(), values, prepare=False).fetchall()
    except psycopg.Error as error:
        raise AssertionError(statement) from error
    nodes = [row[0][0]["Plan"] for row in rows]
    while nodes:
        node = nodes.pop()
        nodes += node.get("Plans", [])
        yield node


async def use_history(history: History) -> None:
    """Do one of everything."""
    branch = await history.create(1, external_key="key")
    request_id = uuid_of(0xA1)
    for _ in range(2):
        await history.add(branch, instruction(1), call_action(2), instruction(3), request_id=request_id)
    await history.add(branch, action_result(4, 2), instruction(1, "again"))
    await history.call(system_request(branch))
    await history.add(branch, *(instruction(100 + number) for number in range(30)))
    for number in range(25):
        # Into one gap again and again, until there is no room in it.
        await history.call(pb.MoveMessageRequest(branch_id=branch, message_id=uuid_of(100 + number), index=1))
    await history.call(pb.SelectViewRequest(branch_id=branch, message_ids=[uuid_of(1), uuid_of(3)]))
    await history.call(pb.RemoveMessagesRequest(branch_id=branch, message_ids=[uuid_of(3)]))
    await history.compact(branch, (100, 110), [1])
    now = await history.branch(branch)
    for at in (now.revision, 10):
        await history.snapshot(branch, at=at)
        await history.snapshot(branch, at=at, ids=[uuid_of(1)])
        await history.messages(branch, at_revision=at, page_size=2)
        await history.messages(branch, at_revision=at, kinds=[pb.MESSAGE_KIND_INSTRUCTION], page_size=1)
        await history.branch(branch, at)
    await history.call(pb.ForkBranchRequest(source_branch_id=branch, branch_id=uuid_of(2)))
    await history.call(pb.ForkBranchRequest(source_branch_id=branch, branch_id=uuid_of(3), at_revision=5))
    for prefix in (None, "k"):
        for parent in (None, branch):
            await history.call(
                pb.ListBranchesRequest(external_key_prefix=prefix, parent_branch_id=parent, page_size=1)
            )
    await history.call(pb.UpdateBranchRequest(branch_id=branch, metadata_json="{}"))
    await history.call(pb.ClearViewRequest(branch_id=branch))
    await history.call(pb.ClearMessagesRequest(branch_id=branch))
    await history.call(pb.TrimHistoryRequest(branch_id=branch, before_revision=20))
    await history.call(pb.DeleteBranchRequest(branch_id=branch, purge=True))
    await history.store.write(lambda tx: tx.expire_responses(1, 10))
    await history.store.write(lambda tx: tx.forget_responses("", [request_id]))
    await history.store.read(lambda tx: tx.branches_to_sweep(2**62, 10))
    await history.store.read(lambda tx: tx.revisions([("", branch)]))


def system_request(branch: str) -> Any:
    request = pb.SetSystemRequest(branch_id=branch, message_id=uuid_of(9))
    request.system.CopyFrom(system(9).system)
    return request


async def use_exchange(exchange: Exchange) -> None:
    """Do one of everything."""
    await exchange.register(1, 2, 3)
    await exchange.deliver(1, 2, 10, 11, 12)
    await exchange.deliver(1, "broadcast", 13)
    await exchange.deliver(1, "name", 14)
    await exchange.send(2, 3, 15)
    await exchange.collect_all()
    await exchange.receive(2, sender_id=uuid_of(1))
    await exchange.inbox(2)
    leases = await exchange.lease(2, 2)
    await exchange.acknowledge(2, leases[:1])
    await exchange.reject(2, leases[1:])
    await exchange.lease(2, 1, sender_id=uuid_of(1))
    await exchange.pop(3, 1)
    (dead,) = await exchange.dead_letters()
    await exchange.dead_letters(owner_id=uuid_of(1))
    await exchange.redrive(dead.dead_letter_id, 2)
    await exchange.owners()
    await exchange.unregister(3, exchange_pb.QUEUED_MAIL_RETURN)
    key = ExchangeKey("", exchange.name)
    await exchange.store.read(lambda tx: tx.exchange.last_sequences([(key, uuid_of(2))]))

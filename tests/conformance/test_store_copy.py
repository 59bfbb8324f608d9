"""A copy of a store answers as the store does: every read, and what is written on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.history.v1 import history_service_pb2 as pb
from history_service.storage.envelope import KeyRing
from tests.support import exchange as exchanges
from tests.support.encryption import ring
from tests.support.exchange_scenes import requests, set_up_mail
from tests.support.history import assistant, instruction, running, store_url, uuid_of
from tests.support.history_programs import STEPS, AnyStep
from tests.support.history_runs import empty_folder, run
from tests.support.store_copies import OTHER_TENANT, all_reads, copied, differing, serving

REQUEST = uuid_of(0xAAAA)
RINGS = {"sqlite": None, "encrypted": ring()}
"""The kinds of sources, with the master keys that open them."""
each_kind = pytest.mark.parametrize("kind", RINGS)


async def enrich(kind: str, folder: Path) -> None:
    """Add what the programs have none of: another tenant, views, texts that are not ASCII, mail."""
    async with running(kind, folder) as history:
        history.tenant_id = OTHER_TENANT
        branch = await history.create(
            1, external_key="ключ\0x", metadata_json='{"a": "é"}', request_id=REQUEST
        )
        await history.system(branch, "Be\0brief: ü.")
        await history.add(branch, instruction(1), assistant(2), request_id=uuid_of(0xAAAB))
        await history.call(pb.SelectViewRequest(branch_id=branch, message_ids=[uuid_of(2)]))
        await history.call(pb.UpdateBranchRequest(branch_id=branch, metadata_json='{"a": 2}'))
    async with exchanges.running(kind, folder) as exchange:
        await set_up_mail(exchange)


@each_kind
@settings(max_examples=10)
@given(steps=st.lists(STEPS, min_size=10, max_size=25))
def test_a_copy_of_random_programs_answers_alike(kind: str, steps: Sequence[AnyStep]) -> None:
    with empty_folder("postgres") as folder:
        asyncio.run(run(kind, folder, steps))
        asyncio.run(enrich(kind, folder))
        file, copy = folder / "history.sqlite3", store_url("postgres", folder)
        assert differing(copied(file, copy)) == []
        report = copied(file, copy, last=True)
        assert (differing(report), report.changed, report.finished) == ([], 0, True)
        asyncio.run(_compare(f"sqlite:{file}", copy, RINGS[kind]))


async def _compare(source: str, copy: str, keys: KeyRing | None) -> None:
    for tenant in ("", OTHER_TENANT):
        async with serving(source, tenant, keys) as ours, serving(copy, tenant, keys) as theirs:
            assert await all_reads(ours) == await all_reads(theirs)


@each_kind
def test_a_copy_is_written_on_alike(kind: str) -> None:
    with empty_folder("postgres") as folder:
        asyncio.run(enrich(kind, folder))
        file, copy = folder / "history.sqlite3", store_url("postgres", folder)
        assert copied(file, copy, last=True).finished
        asyncio.run(_write_on(f"sqlite:{file}", copy, RINGS[kind]))


async def _write_on(source: str, copy: str, keys: KeyRing | None) -> None:
    async with serving(source, OTHER_TENANT, keys) as ours, serving(copy, OTHER_TENANT, keys) as theirs:
        branch = uuid_of(1)
        for write in (
            # Of before: the recorded answer.
            pb.CreateBranchRequest(
                branch_id=branch, external_key="ключ\0x", metadata_json='{"a": "é"}', request_id=REQUEST
            ),
            pb.AddMessagesRequest(
                branch_id=branch, messages=[instruction(1), assistant(2)], request_id=uuid_of(0xAAAB)
            ),
            # And new ones.
            pb.AddMessagesRequest(branch_id=branch, messages=[instruction(5)], expected_revision=5),
            pb.MoveMessageRequest(branch_id=branch, message_id=uuid_of(5), index=1),
            pb.RemoveMessagesRequest(branch_id=branch, message_ids=[uuid_of(2)]),
            pb.ForkBranchRequest(source_branch_id=branch, branch_id=uuid_of(2), at_revision=4),
            pb.DeleteBranchRequest(branch_id=branch, purge=True),
        ):
            assert await ours.call(write) == await theirs.call(write), write
        assert await ours.messages(uuid_of(2)) == await theirs.messages(uuid_of(2))
    answers = []
    for url in (source, copy):
        async with serving(url, ring=keys) as history:
            exchange = exchanges.Exchange(history.store)
            made = await requests(exchange)
            taken = [made[name] for name in ("lease", "collect", "pop", "redrive", "unregister")]
            for number, request in enumerate(taken):
                request.request_id = uuid_of(0xABC0 + number)
            answers.append([await exchange.call(request) for request in taken])
            answers[-1] += [await exchange.owners(), await exchange.dead_letters(), await exchange.receive(3)]
    assert answers[0] == answers[1]

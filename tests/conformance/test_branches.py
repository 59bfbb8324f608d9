"""Branches themselves: create, list, metadata, delete, tenants."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.errors import (
    BranchDeletedError,
    BranchExistsError,
    BranchNotFoundError,
    PageTokenInvalidError,
)
from antiphon_client.ids import is_canonical_uuid
from antiphon_client.limits import Limits
from tests.support.history import History, instruction, numbers, uuid_of

pytestmark = pytest.mark.anyio


async def listed(history: History, **fields: Any) -> list[int]:
    """List branches through all pages."""
    found: list[str] = []
    token = ""
    while True:
        request = pb.ListBranchesRequest(page_token=token, **fields)
        page = await history.call(request)
        found.extend(branch.branch_id for branch in page.branches)
        token = page.next_page_token
        if not token:
            return numbers(found)


async def delete(history: History, branch: str) -> None:
    """Delete a branch."""
    await history.call(pb.DeleteBranchRequest(branch_id=branch))


async def test_a_new_branch_is_empty_at_revision_1(history: History) -> None:
    created = await history.call(pb.CreateBranchRequest(external_key="chat/1", metadata_json='{ "a" : 1e2 }'))
    branch = created.branch
    assert is_canonical_uuid(branch.branch_id)
    assert is_canonical_uuid(branch.incarnation)
    assert branch.incarnation != branch.branch_id == branch.lineage_id
    assert (branch.revision, branch.message_count) == (1, 0)
    assert (branch.external_key, branch.metadata_json) == ("chat/1", '{ "a" : 1e2 }')
    assert not branch.HasField("parent_branch_id")
    assert not branch.HasField("system_message_id")
    assert not branch.HasField("view_count")
    assert branch.created_at.ToNanoseconds() <= history.clock.now
    assert await history.branch(branch.branch_id) == branch
    assert (await history.snapshot(branch.branch_id)).messages == []


async def test_ids_and_external_keys_are_taken_once(history: History) -> None:
    await history.create(1, external_key="one")
    with pytest.raises(BranchExistsError) as caught:
        await history.create(1)
    assert caught.value.metadata["branch_id"] == uuid_of(1)
    with pytest.raises(BranchExistsError) as caught:
        await history.create(2, external_key="one")
    assert caught.value.metadata["branch_id"] == uuid_of(1)
    await history.create(2, external_key="One")


async def test_a_parent_is_a_living_branch(history: History) -> None:
    parent = await history.create(1)
    child = await history.create(2, parent_branch_id=parent)
    assert (await history.branch(child)).parent_branch_id == parent
    assert (await history.branch(child)).lineage_id == child
    with pytest.raises(BranchNotFoundError):
        await history.create(3, parent_branch_id=uuid_of(99))
    await delete(history, parent)
    with pytest.raises(BranchDeletedError):
        await history.create(3, parent_branch_id=parent)
    assert (await history.branch(child)).parent_branch_id == parent


async def test_a_deleted_branch_stays_deleted_and_frees_its_key(history: History) -> None:
    branch = await history.create(1, external_key="key")
    await history.add(branch, instruction(1))
    response = await history.call(pb.DeleteBranchRequest(branch_id=branch))
    assert response.revision == 3
    for request in (
        pb.GetBranchRequest(branch_id=branch),
        pb.GetBranchRequest(branch_id=branch, at_revision=1),
        pb.GetMessagesRequest(branch_id=branch, message_ids=[uuid_of(1)]),
        pb.ListMessagesRequest(branch_id=branch),
        pb.AddMessagesRequest(branch_id=branch, messages=[instruction(2)]),
        pb.DeleteBranchRequest(branch_id=branch),
        pb.CreateBranchRequest(branch_id=branch),
    ):
        with pytest.raises(BranchDeletedError) as caught:
            await history.call(request)
        assert caught.value.metadata["branch_id"] == branch
    with pytest.raises(BranchDeletedError):
        await history.snapshot(branch)
    await history.create(2, external_key="key")
    assert await listed(history) == [2]


async def test_an_unknown_branch_is_not_found(history: History) -> None:
    for request in (
        pb.GetBranchRequest(branch_id=uuid_of(1)),
        pb.ListMessagesRequest(branch_id=uuid_of(1)),
        pb.AddMessagesRequest(branch_id=uuid_of(1), messages=[instruction(2)]),
    ):
        with pytest.raises(BranchNotFoundError):
            await history.call(request)
    with pytest.raises(BranchNotFoundError):
        await history.snapshot(uuid_of(1))


async def test_tenants_do_not_see_each_other(history: History) -> None:
    await history.call(pb.CreateBranchRequest(branch_id=uuid_of(1), external_key="k"), tenant_id="a")
    with pytest.raises(BranchNotFoundError):
        await history.call(pb.GetBranchRequest(branch_id=uuid_of(1)), tenant_id="b")
    assert not (await history.call(pb.ListBranchesRequest(), tenant_id="b")).branches
    await history.call(pb.CreateBranchRequest(branch_id=uuid_of(1), external_key="k"), tenant_id="b")
    add = pb.AddMessagesRequest(branch_id=uuid_of(1), messages=[instruction(1)])
    await history.call(add, tenant_id="b")
    first = await history.call(pb.GetBranchRequest(branch_id=uuid_of(1)), tenant_id="a")
    assert (first.branch.revision, first.branch.message_count) == (1, 0)
    await history.call(pb.DeleteBranchRequest(branch_id=uuid_of(1)), tenant_id="a")
    second = await history.call(pb.GetBranchRequest(branch_id=uuid_of(1)), tenant_id="b")
    assert second.branch.revision == 2


async def test_branches_are_listed_oldest_first_in_pages(history: History) -> None:
    made = [7, 3, 9, 1, 5]
    for number in made:
        await history.create(number)
    assert await listed(history) == made
    assert await listed(history, page_size=2) == made
    history.clock.now = 0
    await history.create(4)
    assert await listed(history, page_size=1) == [4, *made]


async def test_branches_are_listed_by_key_under_a_prefix(history: History) -> None:
    # By UTF-16 code units the fourth would come before the fifth.
    named = ["a/2", "b", "a/10", "a/\U0001f600", "a/\uffee", "a", "a/%", "A/1", "a/_"]
    keys = dict(enumerate(named, start=1))
    for number, key in keys.items():
        await history.create(number, external_key=key)
    await history.create(10)
    by_bytes = sorted(keys, key=lambda number: keys[number].encode())
    under = [number for number in by_bytes if keys[number].startswith("a/")]
    assert await listed(history, external_key_prefix="a/") == under
    assert await listed(history, external_key_prefix="a/", page_size=1) == under
    assert await listed(history, external_key_prefix="", page_size=4) == by_bytes
    assert await listed(history, external_key_prefix="a/%") == [7]
    assert await listed(history, external_key_prefix="zzz") == []


async def test_branches_are_listed_under_their_parent(history: History) -> None:
    await history.create(1)
    await history.create(2, parent_branch_id=uuid_of(1), external_key="x")
    await history.create(3, external_key="x2")
    await history.create(4, parent_branch_id=uuid_of(1))
    assert await listed(history, parent_branch_id=uuid_of(1), page_size=1) == [2, 4]
    assert await listed(history, parent_branch_id=uuid_of(1), external_key_prefix="x") == [2]
    assert await listed(history, parent_branch_id=uuid_of(3)) == []


async def test_a_list_survives_deletions_and_creations_between_pages(history: History) -> None:
    for number in range(1, 6):
        await history.create(number)
    page = await history.call(pb.ListBranchesRequest(page_size=2))
    await delete(history, uuid_of(2))
    await delete(history, uuid_of(4))
    await history.create(6)
    rest = await history.call(pb.ListBranchesRequest(page_size=10, page_token=page.next_page_token))
    assert numbers(branch.branch_id for branch in rest.branches) == [3, 5, 6]
    assert rest.next_page_token == ""


async def test_a_list_of_large_branches_ends_its_pages_early(history: History) -> None:
    small = History(history.store, Limits(page_bytes=2500))
    for number in range(1, 5):
        await small.create(number, metadata_json=f'{{"x": "{"y" * 1000}"}}')
    page = await small.call(pb.ListBranchesRequest())
    assert numbers(branch.branch_id for branch in page.branches) == [1, 2]
    assert await listed(small) == [1, 2, 3, 4]
    tiny = History(history.store, Limits(page_bytes=1))
    assert await listed(tiny) == [1, 2, 3, 4]


async def test_a_token_of_another_list_is_refused(history: History) -> None:
    for number in range(1, 4):
        await history.create(number, external_key=f"k{number}")
    page = await history.call(pb.ListBranchesRequest(page_size=1))
    for changed in (
        pb.ListBranchesRequest(page_token=page.next_page_token, external_key_prefix=""),
        pb.ListBranchesRequest(page_token=page.next_page_token, parent_branch_id=uuid_of(1)),
        pb.ListBranchesRequest(page_token=page.next_page_token + "A"),
        pb.ListBranchesRequest(page_token="garbage"),
        pb.ListBranchesRequest(page_token="\u00e9"),
    ):
        with pytest.raises(PageTokenInvalidError):
            await history.call(changed)
    with pytest.raises(PageTokenInvalidError):
        await history.call(pb.ListBranchesRequest(page_token=page.next_page_token), tenant_id="other")

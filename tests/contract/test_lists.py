"""Every RPC that lists does so in pages, alike, on the real service over every store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message as ProtoMessage
from google.protobuf.message_factory import GetMessageClass

from antiphon.history.v1 import exchange_service_pb2 as exchange_pb
from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.limits import Limits
from tests.support.exchange import letter
from tests.support.history import CLEAR_STORES, uuid_of
from tests.support.service_scenes import (
    BRANCH,
    EXCHANGE,
    METHODS,
    OTHER_BRANCH,
    OTHER_EXCHANGE,
    Furnished,
    furnished,
    paged_methods,
)

pytestmark = pytest.mark.anyio

BESIDE = {"with_branch"}
"""Fields of requests that say what else a page shall tell; a list is the same with and without them."""

MOST = 3
"""The most entries that a page of the service under test has."""

WHOLE = {"ListTargets": "the targets are those that the service was built with, a handful; no call adds one"}
"""Lists that come whole, and why."""


@dataclass(frozen=True)
class Scene:
    """A list with more than two pages of entries.

    Attributes:
        filters: The fields of the request beside those of paging.
        changed: For every such field another value, which makes it another list.
        grow: Adds entries beyond what a furnished service has; None where it has enough.
        key: What tells an entry from others.
    """

    filters: dict[str, Any]
    changed: dict[str, Any]
    key: Callable[[Any], str]
    grow: Callable[[Furnished, int], ProtoMessage] | None = None


def new_branch(_: Furnished, number: int) -> ProtoMessage:
    """Make a branch that the filters let through."""
    return pb.CreateBranchRequest(external_key=f"listed {number}", parent_branch_id=BRANCH)


def new_owner(_: Furnished, number: int) -> ProtoMessage:
    """Make an owner."""
    return exchange_pb.RegisterOwnerRequest(exchange_id=EXCHANGE, owner_id=uuid_of(50 + number))


def new_mail(_: Furnished, number: int) -> ProtoMessage:
    """Make a message that waits to be delivered to owner 2."""
    return exchange_pb.SendRequest(exchange_id=EXCHANGE, message=letter(1, 2, 50 + number))


def new_dead_letter(_: Furnished, number: int) -> ProtoMessage:
    """Make a message to somebody who is not there."""
    return exchange_pb.SendRequest(exchange_id=EXCHANGE, message=letter(1, 99, 50 + number))


SCENES = {
    "ListBranches": Scene(
        filters={"external_key_prefix": "listed", "parent_branch_id": BRANCH},
        changed={"external_key_prefix": "list", "parent_branch_id": OTHER_BRANCH},
        key=lambda branch: branch.branch_id,
        grow=new_branch,
    ),
    "ListMessages": Scene(
        filters={
            "branch_id": BRANCH,
            "kinds": list(pb.MessageKind.values())[1:],
            "order": pb.ORDER_DESCENDING,
            "at_revision": 2,
        },
        changed={
            "branch_id": OTHER_BRANCH,
            "kinds": [pb.MESSAGE_KIND_INSTRUCTION],
            "order": pb.ORDER_ASCENDING,
            "at_revision": 3,
        },
        key=lambda message: message.id,
    ),
    "ListOwners": Scene(
        filters={"exchange_id": EXCHANGE},
        changed={"exchange_id": OTHER_EXCHANGE},
        key=lambda owner: owner.owner_id,
        grow=new_owner,
    ),
    "Receive": Scene(
        filters={"exchange_id": EXCHANGE, "owner_id": uuid_of(2), "sender_id": uuid_of(1)},
        changed={"exchange_id": OTHER_EXCHANGE, "owner_id": uuid_of(3), "sender_id": uuid_of(3)},
        key=lambda delivery: delivery.message.id,
        grow=new_mail,
    ),
    "ListDeadLetters": Scene(
        filters={"exchange_id": EXCHANGE, "owner_id": uuid_of(99)},
        changed={"exchange_id": OTHER_EXCHANGE, "owner_id": uuid_of(98)},
        key=lambda letter: letter.dead_letter_id,
        grow=new_dead_letter,
    ),
}
ADDED = 7


class Listing:
    """One list of a running service."""

    def __init__(self, service: Furnished, name: str) -> None:
        self.service = service
        self.name = name
        self.scene = SCENES[name]
        method = METHODS[name]
        self._type: Any = GetMessageClass(method.input_type)
        (self._items,) = (
            field.name for field in method.output_type.fields if field.is_repeated and field.message_type
        )

    def request(self, token: str = "", size: int = 0, **changed: Any) -> Any:
        """Return the request of a page."""
        return self._type(page_token=token, page_size=size, **{**self.scene.filters, **changed})

    async def page(self, token: str = "", size: int = 0) -> tuple[list[str], str]:
        """Return the keys of a page's entries and the next token."""
        response = await self.service.call(self.name, self.request(token, size))
        return [self.scene.key(item) for item in getattr(response, self._items)], response.next_page_token

    async def pages(self, size: int) -> list[list[str]]:
        """Return all pages' keys."""
        pages, token = [], ""
        while True:
            keys, token = await self.page(token, size)
            pages.append(keys)
            if not token:
                return pages

    async def reason(self, request: ProtoMessage) -> tuple[str, list[str]]:
        """Return why a request is refused, and the fields at fault."""
        error = await self.service.refusal(self.name, request)
        return error.reason, [violation.field for violation in error.violations]


@pytest.fixture(params=CLEAR_STORES)
async def service(
    anyio_backend: object, request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[Furnished]:
    """A furnished service with small pages over each store in turn."""
    async with furnished(request.param, tmp_path, Limits(page_messages=MOST)) as service:
        yield service


@pytest.fixture(params=SCENES)
async def listing(service: Furnished, request: pytest.FixtureRequest) -> Listing:
    """Each list in turn, with enough entries."""
    listing = Listing(service, request.param)
    grow = listing.scene.grow
    for number in range(ADDED if grow else 0):
        assert grow is not None
        made = grow(service, number)
        await service.call(type(made).__name__.removesuffix("Request"), made)
    await service.call("Collect", exchange_pb.CollectRequest(exchange_id=EXCHANGE, owner_id=uuid_of(1)))
    return listing


def test_every_list_pages_or_comes_whole_for_a_reason() -> None:
    assert SCENES.keys() | WHOLE.keys() == set(paged_methods())
    assert not SCENES.keys() & WHOLE.keys()


@pytest.mark.parametrize("name", SCENES)
def test_lists_have_the_fields_of_paging_and_each_filter_is_tried(name: str) -> None:
    request, response = METHODS[name].input_type, METHODS[name].output_type
    paging = {field.name: field.type for field in request.fields if field.name in ("page_size", "page_token")}
    number, text = FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_STRING
    assert paging == {"page_size": number, "page_token": text}
    assert response.fields_by_name["next_page_token"].type == text
    filters = {field.name for field in request.fields} - paging.keys() - BESIDE
    assert SCENES[name].filters.keys() == SCENES[name].changed.keys() == filters


@pytest.mark.parametrize("name", WHOLE)
def test_a_list_that_comes_whole_takes_no_paging(name: str) -> None:
    assert "page_token" not in METHODS[name].input_type.fields_by_name
    assert "next_page_token" not in METHODS[name].output_type.fields_by_name


@pytest.mark.parametrize("size", [1, 2, MOST])
async def test_pages_have_every_entry_once_in_one_order(listing: Listing, size: int) -> None:
    pages = await listing.pages(size)
    keys = [key for page in pages for key in page]
    assert len(set(keys)) == len(keys) >= 6
    assert all(len(page) == size for page in pages[:-1])
    assert 0 < len(pages[-1]) <= size
    assert keys == [key for page in await listing.pages(MOST) for key in page]


@pytest.mark.parametrize("size", [0, MOST + 1, 2**31 - 1])
async def test_a_size_of_none_or_too_many_is_coerced(listing: Listing, size: int) -> None:
    keys, token = await listing.page(size=size)
    assert len(keys) == MOST
    assert token
    assert await listing.pages(size) == await listing.pages(MOST)


async def test_a_negative_size_is_refused(listing: Listing) -> None:
    assert await listing.reason(listing.request(size=-1)) == ("FIELD_INVALID", ["page_size"])


async def test_a_token_is_of_its_list_and_its_filters(listing: Listing) -> None:
    _, token = await listing.page(size=2)
    for name, value in listing.scene.changed.items():
        reason, _ = await listing.reason(listing.request(token, **{name: value}))
        assert reason == "PAGE_TOKEN_INVALID", name
    for wrong in ("x", token[:-1], token + "A", token.swapcase(), "é"):
        assert (await listing.reason(listing.request(wrong)))[0] == "PAGE_TOKEN_INVALID", wrong
    for other in SCENES.keys() - {listing.name}:
        request = Listing(listing.service, other).request(token)
        assert (await listing.service.refusal(other, request)).reason == "PAGE_TOKEN_INVALID", other


async def test_the_size_of_a_page_may_change_within_a_list(listing: Listing) -> None:
    first, token = await listing.page(size=1)
    second, token = await listing.page(token, size=3)
    third, _ = await listing.page(token, size=2)
    keys = [key for page in await listing.pages(MOST) for key in page]
    assert first + second + third == keys[:6]

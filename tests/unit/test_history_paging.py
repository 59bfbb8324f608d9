"""Page tokens: opaque, tied to their list, and any other text is refused."""

from __future__ import annotations

import base64
import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon_client.errors import PageTokenInvalidError
from history_service import paging
from history_service.domain.lists import MessagePosition
from history_service.storage.port import BranchAnchor
from tests.support.history import uuid_of

FILTERS = ("", uuid_of(1), [2], False)
POSITION = MessagePosition(7, uuid_of(2), uuid_of(3))


def forged(*values: object) -> str:
    """Make a token with a right checksum over any content."""
    content = json.dumps(values).encode()
    sealed = hashlib.sha256(content).digest()[:8] + content
    return base64.urlsafe_b64encode(sealed).decode().rstrip("=")


@given(st.text(), st.integers(0, 2**62), st.integers(1, 2**63 - 1))
def test_positions_come_back(external_key: str, created_at: int, revision: int) -> None:
    anchor = BranchAnchor(external_key, created_at, uuid_of(4))
    assert paging.read_branch_token(paging.branch_token(FILTERS, anchor), FILTERS) == anchor
    position = MessagePosition(revision, uuid_of(2), uuid_of(3))
    assert paging.read_message_token(paging.message_token(FILTERS, position), FILTERS) == position


def test_a_token_is_of_one_list_only() -> None:
    token = paging.message_token(FILTERS, POSITION)
    for other in (("t", *FILTERS[1:]), (*FILTERS[:3], True), FILTERS[:3], ("", uuid_of(1), [3], False)):
        with pytest.raises(PageTokenInvalidError):
            paging.read_message_token(token, other)
    with pytest.raises(PageTokenInvalidError):
        paging.read_branch_token(token, FILTERS)


@given(st.text() | st.binary().map(lambda raw: base64.urlsafe_b64encode(raw).decode()))
def test_garbage_is_refused(token: str) -> None:
    for read in (paging.read_message_token, paging.read_branch_token):
        with pytest.raises(PageTokenInvalidError):
            read(token, FILTERS)


@given(st.data())
def test_damage_is_refused(data: st.DataObject) -> None:
    token = paging.message_token(FILTERS, POSITION)
    at = data.draw(st.integers(0, len(token) - 1))
    letter = data.draw(st.sampled_from("ABCxyz019-_=+/ ").filter(lambda letter: letter != token[at]))
    for damaged in (token[:at] + letter + token[at + 1 :], token[:at], token[:at] + letter + token[at:]):
        with pytest.raises(PageTokenInvalidError):
            paging.read_message_token(damaged, FILTERS)


@pytest.mark.parametrize(
    "position",
    [
        [],
        [0, uuid_of(2), uuid_of(3)],
        [2**63, uuid_of(2), uuid_of(3)],
        ["7", uuid_of(2), uuid_of(3)],
        [7, 2, uuid_of(3)],
        [7, uuid_of(2), "x"],
        [7, uuid_of(2), None],
        [7, uuid_of(2), uuid_of(3), 1],
    ],
)
def test_a_right_checksum_does_not_make_a_position_right(position: list[object]) -> None:
    digest = hashlib.sha256(json.dumps(FILTERS).encode()).hexdigest()[:16]
    good = forged(1, "messages", digest, *POSITION)
    assert paging.read_message_token(good, FILTERS) == POSITION
    with pytest.raises(PageTokenInvalidError):
        paging.read_message_token(forged(1, "messages", digest, *position), FILTERS)
    with pytest.raises(PageTokenInvalidError):
        paging.read_message_token(forged(2, "messages", digest, *POSITION), FILTERS)


@pytest.mark.parametrize(
    "anchor", [["\ud800", 1, uuid_of(1)], ["k", 2**63, uuid_of(1)], ["k", 1, "x"], [1, 1, 1]]
)
def test_a_right_checksum_does_not_make_an_anchor_right(anchor: list[object]) -> None:
    digest = hashlib.sha256(json.dumps(FILTERS).encode()).hexdigest()[:16]
    with pytest.raises(PageTokenInvalidError):
        paging.read_branch_token(forged(1, "branches", digest, *anchor), FILTERS)


def test_page_sizes_are_coerced() -> None:
    assert [paging.page_limit(size, 1000) for size in (0, 1, 1000, 1001)] == [100, 1, 1000, 1000]
    assert paging.page_limit(0, 3) == 3

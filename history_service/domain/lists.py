"""Lists of messages: a page at a time, all pages at the first one's revision."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

from antiphon.history.v1 import branch_pb2 as branch_pb
from antiphon_client.errors import PageTokenInvalidError
from history_service.domain import changes
from history_service.domain.branches import describe, open_branch, revision_to_read
from history_service.domain.prepared import id_of
from history_service.storage.port import AnchorNotFoundError, BranchKey, BranchRow, ReadTransaction

GROWTH = 32
"""Revisions that a page at hand is brought forward by; to look at more takes as long as to read it anew."""


class MessagePosition(NamedTuple):
    """Where a list of messages goes on.

    Attributes:
        revision: The revision all its pages are read at.
        incarnation: The branch's, lest a recreated branch be taken for it.
        after: Id of the last message of the page before.
    """

    revision: int
    incarnation: str
    after: str


@dataclass(frozen=True, slots=True)
class MessageList:
    """Which messages a list holds.

    Attributes:
        tenant_id: Who asks.
        branch_id: The branch.
        at_revision: The revision to read at; None for the position's or the current one.
        kinds: The kinds to list; none for all.
        descending: Whether it goes from the last message to the first.
        with_branch: Whether each page says what the branch is.
    """

    tenant_id: str
    branch_id: str
    at_revision: int | None
    kinds: Collection[int]
    descending: bool
    with_branch: bool


@dataclass(frozen=True, slots=True)
class KnownPage:
    """A page that is at hand: all messages of a branch, in order, at its revision.

    Attributes:
        incarnation: The branch's.
        revision: The revision.
        count: Messages of the page, one at least.
        size: Their bytes.
        last_id: The last one.
    """

    incarnation: str
    revision: int
    count: int
    size: int
    last_id: str


class ListedMessages(NamedTuple):
    """One page of a list."""

    revision: int
    bodies: list[bytes]
    next_position: MessagePosition | None
    """Where the next page starts; None at the end."""
    branch: branch_pb.Branch | None
    """The branch at the revision; None if it was not asked for."""
    is_known: bool = False
    """Whether it is the page at hand and, behind that, the bodies."""


def list_messages(
    tx: ReadTransaction,
    wanted: MessageList,
    position: MessagePosition | None,
    limit: int,
    max_bytes: int,
    known: KnownPage | None = None,
) -> ListedMessages:
    """Read a page of at most ``limit`` messages; it ends before it passes ``max_bytes``.

    The branch, where it is asked for, counts among these bytes. Of a page that is
    at hand only what was appended since is read if it is the one that is wanted,
    which is one of all kinds in their order.

    Raises:
        BranchNotFoundError: There is no such branch.
        BranchDeletedError: It was deleted.
        RevisionInFutureError: The branch has not reached the revision.
        RevisionExpiredError: The revision, or the position's, was dropped.
        PageTokenInvalidError: The position is not one of this list.
    """
    branch = open_branch(tx, wanted.tenant_id, wanted.branch_id)
    if position is None:
        at, after = revision_to_read(branch, wanted.at_revision), None
    else:
        _check_position(branch, wanted, position)
        at, after = revision_to_read(branch, position.revision), position.after
    described = describe(tx, branch, at) if wanted.with_branch else None
    if described is not None:
        max_bytes -= described.ByteSize()
    if known is not None and known.incarnation == branch.incarnation:
        appended = _appended(tx, branch.key, at, known, limit, max_bytes)
        if appended is not None:
            return ListedMessages(at, appended, None, described, is_known=True)
    try:
        page = tx.read_messages(
            branch.key,
            at,
            view=None,
            after=after,
            limit=limit,
            max_bytes=max_bytes,
            kinds=wanted.kinds,
            descending=wanted.descending,
        )
    except AnchorNotFoundError:
        raise invalid_token() from None
    if page.complete:
        return ListedMessages(at, page.bodies, None, described)
    position = MessagePosition(at, branch.incarnation, id_of(page.bodies[-1]))
    return ListedMessages(at, page.bodies, position, described)


def _appended(
    tx: ReadTransaction, key: BranchKey, at: int, known: KnownPage, limit: int, max_bytes: int
) -> list[bytes] | None:
    """Return what came behind a page up to a revision, if all of it is one page; None if more happened."""
    room, room_bytes = limit - known.count, max_bytes - known.size
    if room < 0 or not 0 <= at - known.revision <= GROWTH:
        return None
    if at == known.revision:
        return []
    # A message in another version has its place, but the page has its former bytes.
    if room < 1 or room_bytes < 0 or changes.renewed_between(tx, key, known.revision, at) != set():
        return None
    try:
        page = tx.read_messages(key, at, view=None, after=known.last_id, limit=room, max_bytes=room_bytes)
    except AnchorNotFoundError:
        return None
    is_all = page.complete and sum(map(len, page.bodies)) <= room_bytes
    return page.bodies if is_all else None


def _check_position(branch: BranchRow, wanted: MessageList, position: MessagePosition) -> None:
    if (
        position.incarnation != branch.incarnation
        or position.revision > branch.revision
        or wanted.at_revision not in (None, position.revision)
    ):
        raise invalid_token()


def invalid_token() -> PageTokenInvalidError:
    """Return the error for a page token that is not one of the list it came with."""
    return PageTokenInvalidError("page_token is not a token of this list with these filters")

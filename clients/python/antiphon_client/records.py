"""What the history service answers, as plain frozen values.

Times are seconds since the epoch as floats, as in the typed messages; the wire
keeps nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any
from uuid import UUID

from antiphon.history.v1 import branch_pb2, history_service_pb2
from antiphon.message.v1 import message_pb2
from antiphon_client.json_text import parse_json_text
from antiphon_client.messages import Message, System, from_proto


@dataclass(frozen=True, slots=True)
class ForkPoint:
    """The point of another branch's history at which a branch was forked off.

    Attributes:
        branch_id: The source; it may be gone by now.
        revision: The source's revision that was copied.
        up_to_message_id: The last message copied; None for all.
    """

    branch_id: UUID
    revision: int
    up_to_message_id: UUID | None

    @classmethod
    def from_proto(cls, point: branch_pb2.ForkPoint) -> ForkPoint:
        """Read a fork point."""
        up_to = UUID(point.up_to_message_id) if point.HasField("up_to_message_id") else None
        return cls(UUID(point.branch_id), point.revision, up_to)


@dataclass(frozen=True, slots=True)
class BranchRecord:
    """What a branch is at one revision; the fields' meanings stand in ``branch.proto``."""

    branch_id: UUID
    external_key: str | None
    parent_branch_id: UUID | None
    lineage_id: UUID
    incarnation: UUID
    metadata: Mapping[str, Any]
    revision: int
    message_count: int
    created_at: float
    system_message_id: UUID | None
    view_count: int | None
    oldest_revision: int = 1
    forked_from: ForkPoint | None = None
    replayed: bool = False

    @classmethod
    def from_proto(cls, branch: branch_pb2.Branch, *, replayed: bool = False) -> BranchRecord:
        """Read a branch; ``replayed`` says that its creation was answered before."""
        return cls(
            branch_id=UUID(branch.branch_id),
            external_key=branch.external_key if branch.HasField("external_key") else None,
            parent_branch_id=UUID(branch.parent_branch_id) if branch.HasField("parent_branch_id") else None,
            lineage_id=UUID(branch.lineage_id),
            incarnation=UUID(branch.incarnation),
            metadata=MappingProxyType(parse_json_text(branch.metadata_json or "{}")),
            revision=branch.revision,
            message_count=branch.message_count,
            created_at=branch.created_at.seconds + branch.created_at.nanos / 1e9,
            system_message_id=UUID(branch.system_message_id)
            if branch.HasField("system_message_id")
            else None,
            view_count=branch.view_count if branch.HasField("view_count") else None,
            oldest_revision=branch.oldest_revision,
            forked_from=ForkPoint.from_proto(branch.forked_from) if branch.HasField("forked_from") else None,
            replayed=replayed,
        )


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a message stood in the branch's full order right after a write."""

    message_id: UUID
    index: int


@dataclass(frozen=True, slots=True)
class Written:
    """What a write made.

    Attributes:
        revision: The branch's revision after it.
        placements: Where the messages it wrote stand, in the request's order;
            empty for writes that place none.
        view_count: Messages in the view that a compaction selected; None for other writes.
        replayed: Whether this is the answer of an earlier call with the same ``request_id``.
        sent: The wire form of those messages as far as the request has it; the service may have
            given ids and times.
    """

    revision: int
    placements: tuple[Placement, ...] = ()
    replayed: bool = False
    view_count: int | None = None
    sent: tuple[message_pb2.Message, ...] = field(default=(), repr=False, compare=False)

    @property
    def message_ids(self) -> tuple[UUID, ...]:
        """The ids of the messages written, in order."""
        return tuple(placement.message_id for placement in self.placements)


def written(response: Any, sent: Iterable[message_pb2.Message] = ()) -> Written:
    """Read the response of any write on a branch; see ``Written.sent``."""
    placements: list[branch_pb2.Placement] = []
    if isinstance(response, history_service_pb2.AddMessagesResponse):
        placements.extend(response.placements)
    elif "placement" in response.DESCRIPTOR.fields_by_name:
        placements.append(response.placement)
    return Written(
        revision=response.revision,
        placements=tuple(Placement(UUID(p.message_id), p.index) for p in placements),
        replayed=response.replayed,
        view_count=response.view_count if "view_count" in response.DESCRIPTOR.fields_by_name else None,
        sent=tuple(sent),
    )


@dataclass(frozen=True, slots=True)
class MessagePage:
    """One page of a list of messages, true at ``revision``.

    Attributes:
        items: The page.
        next_page_token: The next page's; empty on the last.
        revision: The revision that every page is read at.
        branch: The branch at that revision; None if it was not asked for.
    """

    items: tuple[Message, ...]
    next_page_token: str
    revision: int
    branch: BranchRecord | None = None

    @classmethod
    def from_proto(cls, response: history_service_pb2.ListMessagesResponse) -> MessagePage:
        """Read one page."""
        return cls(
            items=tuple(from_proto(message) for message in response.messages),
            next_page_token=response.next_page_token,
            revision=response.revision,
            branch=BranchRecord.from_proto(response.branch) if response.HasField("branch") else None,
        )


@dataclass(frozen=True, slots=True)
class BranchPage:
    """One page of a list of branches."""

    items: tuple[BranchRecord, ...]
    next_page_token: str

    @classmethod
    def from_proto(cls, response: history_service_pb2.ListBranchesResponse) -> BranchPage:
        """Read one page."""
        return cls(
            items=tuple(BranchRecord.from_proto(branch) for branch in response.branches),
            next_page_token=response.next_page_token,
        )


@dataclass(frozen=True, slots=True)
class SnapshotRecord:
    """A selection of a branch at one revision, with the branch's system record.

    Attributes:
        branch: The branch at that revision.
        system: Its system record, whether or not the selection holds it; None if it has none.
        messages: The selection, in order.
    """

    branch: BranchRecord
    system: System | None
    messages: tuple[Message, ...]

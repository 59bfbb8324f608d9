"""The reading calls of the history service, built and decoded in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar
from uuid import UUID

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.message.v1 import progression_pb2
from antiphon_client.messages import Message, System
from antiphon_client.records import BranchPage, BranchRecord, MessagePage, SnapshotRecord
from antiphon_client.rpc import FrameCollector, Steps, StreamCall, UnaryCall, perform
from antiphon_client.snapshot_records import OrderCollector, SnapshotCollector, SystemCollector
from antiphon_client.wire_values import Id, Kind, id_text, id_texts

R = TypeVar("R")


class HistoryReads:
    """Every read of ``HistoryService`` as an operation; the contract stands in its proto.

    Reads of a branch take ``at_revision``: the branch as it stood then.
    """

    def get_branch(self, branch_id: Id, *, at_revision: int | None = None) -> Steps[BranchRecord]:
        """Read what a branch is, now or at a past revision."""
        request = pb.GetBranchRequest(branch_id=str(branch_id), at_revision=at_revision)

        def decode(response: pb.GetBranchResponse) -> BranchRecord:
            return BranchRecord.from_proto(response.branch)

        return perform(UnaryCall("GetBranch", request, decode))

    def list_branches(
        self,
        *,
        external_key_prefix: str | None = None,
        parent_branch_id: Id | None = None,
        page_size: int = 0,
        page_token: str = "",
    ) -> Steps[BranchPage]:
        """Read one page of the living branches; a ``page_size`` of 0 means 100."""
        request = pb.ListBranchesRequest(
            external_key_prefix=external_key_prefix,
            parent_branch_id=id_text(parent_branch_id),
            page_size=page_size,
            page_token=page_token,
        )
        return perform(UnaryCall("ListBranches", request, BranchPage.from_proto))

    def find_branch(self, external_key: str) -> Steps[BranchRecord | None]:
        """Read the living branch with this external key; None if there is none."""
        # The list is in the order of the keys, so that the exact key comes before its extensions.
        page = yield from self.list_branches(external_key_prefix=external_key, page_size=1)
        return page.items[0] if page.items and page.items[0].external_key == external_key else None

    def get_messages(
        self, branch_id: Id, message_ids: Iterable[Id], *, at_revision: int | None = None
    ) -> Steps[tuple[Message, ...]]:
        """Read messages by id, in the order asked.

        Raises:
            MessageNotFoundError: Some are not in the branch; all of them are listed.
            SizeLimitExceededError: Over 1,000 ids, or over 3.5 MiB of messages.
        """
        request = pb.GetMessagesRequest(
            branch_id=str(branch_id), message_ids=id_texts(message_ids), at_revision=at_revision
        )

        def decode(response: pb.GetMessagesResponse) -> tuple[Message, ...]:
            return MessagePage.from_proto(pb.ListMessagesResponse(messages=response.messages)).items

        return perform(UnaryCall("GetMessages", request, decode))

    def list_messages(
        self,
        branch_id: Id,
        *,
        kinds: Sequence[Kind] = (),
        descending: bool = False,
        page_size: int = 0,
        page_token: str = "",
        at_revision: int | None = None,
        with_branch: bool = False,
    ) -> Steps[MessagePage]:
        """Read one page of the full order, or of some kinds; a ``page_size`` of 0 means 100.

        ``with_branch`` gives with the page what the branch is.
        """
        request = pb.ListMessagesRequest(
            branch_id=str(branch_id),
            kinds=[pb.MessageKind.Value(f"MESSAGE_KIND_{kind.upper()}") for kind in kinds],
            order=pb.ORDER_DESCENDING if descending else pb.ORDER_ASCENDING,
            page_size=page_size,
            page_token=page_token,
            at_revision=at_revision,
            with_branch=with_branch,
        )
        return perform(UnaryCall("ListMessages", request, MessagePage.from_proto))

    def read_snapshot(
        self,
        branch_id: Id,
        *,
        progression: Iterable[Id] | None = None,
        at_revision: int | None = None,
    ) -> Steps[SnapshotRecord]:
        """Read a selection whole, at one revision, and check it against its footer.

        Without ``progression`` it is the branch's view, else its full order; an
        empty one selects nothing.

        Raises:
            ProgressionInvalidError: Some ids are unknown or repeated.
            SnapshotTruncatedError: The stream ended early or was altered.
        """
        call = _snapshot_call(branch_id, progression, at_revision, SnapshotCollector, takes_joined=True)
        return perform(call)

    def read_order(
        self,
        branch_id: Id,
        *,
        progression: Iterable[Id] | None = None,
        at_revision: int | None = None,
    ) -> Steps[tuple[UUID, ...]]:
        """Read the ids of a selection, as :meth:`read_snapshot` but without the messages."""
        return perform(_snapshot_call(branch_id, progression, at_revision, OrderCollector))

    def read_system(self, branch_id: Id, *, at_revision: int | None = None) -> Steps[System | None]:
        """Read the branch's system record; None if it has none."""
        return perform(_snapshot_call(branch_id, (), at_revision, SystemCollector))


def _snapshot_call(
    branch_id: Id,
    progression: Iterable[Id] | None,
    at_revision: int | None,
    collector: Callable[[], FrameCollector[R]],
    *,
    takes_joined: bool = False,
) -> StreamCall[R]:
    selection = (
        None if progression is None else progression_pb2.Progression(message_ids=id_texts(progression))
    )
    request = pb.ReadSnapshotRequest(
        branch_id=str(branch_id),
        at_revision=at_revision,
        progression=selection,
        takes_joined=takes_joined,
    )
    return StreamCall("ReadSnapshot", request, collector)

"""What a fork copies, and which action links its copy loses."""

from __future__ import annotations

from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon.message.v1 import message_pb2 as message_pb
from antiphon_client.errors import MessageNotFoundError
from history_service.domain.branches import open_branch, revision_to_read
from history_service.domain.prepared import ACTION_REQUEST, ACTION_RESPONSE
from history_service.storage.port import CutMember, ReadTransaction

PARTNER_KINDS = {ACTION_REQUEST: ACTION_RESPONSE, ACTION_RESPONSE: ACTION_REQUEST}
"""The kinds that make a call/result pair. A link to another kind is one that still waits."""


class ForkSource:
    """What a fork copies.

    Attributes:
        branch: The source.
        at: The revision copied.
        up_to: Order key of the last message copied; None for all.
    """

    def __init__(self, tx: ReadTransaction, tenant_id: str, request: history_pb.ForkBranchRequest) -> None:
        """Find the source; without a revision in the request its current one is copied.

        Raises:
            BranchNotFoundError: There is no such branch.
            BranchDeletedError: It was deleted.
            RevisionInFutureError: The branch has not reached the revision.
            RevisionExpiredError: The revision was dropped.
            MessageNotFoundError: The branch does not hold the last message to copy.
        """
        self.branch = open_branch(tx, tenant_id, request.source_branch_id)
        at_revision = request.at_revision if request.HasField("at_revision") else None
        self.at = revision_to_read(self.branch, at_revision)
        self.up_to: int | None = None
        if request.HasField("up_to_message_id"):
            self.up_to = tx.order_key(self.branch.key, self.at, request.up_to_message_id)
            if self.up_to is None:
                raise MessageNotFoundError.of([request.up_to_message_id], at_revision=self.at)

    def cut_pairs(self, tx: ReadTransaction) -> list[CutMember]:
        """Find the copied sides of call/result pairs whose other side is not copied."""
        if self.up_to is None:
            return []
        found = tx.cut_members(self.branch.key, self.at, self.up_to)
        return [member for member in found if member.linked_kind == PARTNER_KINDS[member.kind]]


def set_link(message: message_pb.Message, link_id: str | None) -> None:
    """Set or clear the action link of a request or a response."""
    content: message_pb.ActionRequestContent | message_pb.ActionResponseContent
    if message.HasField("action_request"):
        content, field = message.action_request, "action_response_id"
    else:
        content, field = message.action_response, "action_request_id"
    if link_id is None:
        content.ClearField(field)  # type: ignore[arg-type]  # the stubs want a literal
    else:
        setattr(content, field, link_id)

"""The writing calls of the history service, and all of its calls together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.message.v1 import message_pb2
from antiphon_client.action_draft import draft_response
from antiphon_client.branch_transfer import BranchTransfers
from antiphon_client.history_compaction import HistoryCompaction
from antiphon_client.history_reads import HistoryReads
from antiphon_client.json_text import dump_json_text
from antiphon_client.messages import Block, System, to_proto
from antiphon_client.messages.block_codec import blocks_to_proto
from antiphon_client.records import BranchRecord, Written, written
from antiphon_client.rpc import Steps, UnaryCall, perform
from antiphon_client.wire_values import (
    AnyMessage,
    Id,
    id_text,
    id_texts,
    object_text,
    request_id_text,
    wire_message,
)


class HistoryOperations(BranchTransfers, HistoryCompaction, HistoryReads):
    """Every RPC of ``HistoryService`` as an operation; the contract stands in its proto.

    Writes take ``expected_revision`` (the write is refused with
    RevisionConflictError unless the branch is at it) and ``request_id`` (a new
    one is made when none is given; retries of the channel keep it).
    """

    def create_branch(
        self,
        *,
        branch_id: Id | None = None,
        external_key: str | None = None,
        parent_branch_id: Id | None = None,
        metadata: Mapping[str, Any] | None = None,
        request_id: Id | None = None,
    ) -> Steps[BranchRecord]:
        """Make an empty branch.

        Raises:
            BranchExistsError: The id or the external key is taken.
            BranchDeletedError: The id was a deleted branch's.
        """
        request = pb.CreateBranchRequest(
            branch_id=id_text(branch_id),
            external_key=external_key,
            parent_branch_id=id_text(parent_branch_id),
            metadata_json=object_text(metadata),
            request_id=request_id_text(request_id),
        )

        def decode(response: pb.CreateBranchResponse) -> BranchRecord:
            return BranchRecord.from_proto(response.branch, replayed=response.replayed)

        return perform(UnaryCall("CreateBranch", request, decode))

    def update_branch(
        self,
        branch_id: Id,
        metadata: Mapping[str, Any],
        *,
        expected_revision: int | None = None,
        request_id: Id | None = None,
    ) -> Steps[Written]:
        """Replace a branch's metadata.

        Raises:
            ReservedKeyError: The metadata holds ``current_progression``.
        """
        request = pb.UpdateBranchRequest(
            branch_id=str(branch_id),
            metadata_json=object_text(metadata),
            expected_revision=expected_revision,
            request_id=request_id_text(request_id),
        )
        return perform(UnaryCall("UpdateBranch", request, written))

    def delete_branch(
        self,
        branch_id: Id,
        *,
        purge: bool = False,
        expected_revision: int | None = None,
        request_id: Id | None = None,
    ) -> Steps[Written]:
        """Delete a branch for good; its external key is free again.

        With ``purge`` its bytes that no fork shares are erased at once, else
        after the service's retention time. A deleted branch can be purged too.
        """
        request = pb.DeleteBranchRequest(
            branch_id=str(branch_id),
            purge=purge,
            expected_revision=expected_revision,
            request_id=request_id_text(request_id),
        )
        return perform(UnaryCall("DeleteBranch", request, written))

    def fork_branch(
        self,
        source_branch_id: Id,
        *,
        at_revision: int | None = None,
        up_to: Id | None = None,
        new_ids: bool = False,
        branch_id: Id | None = None,
        external_key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        request_id: Id | None = None,
    ) -> Steps[BranchRecord]:
        """Make a branch with what another holds at a revision: messages, order, system, view, metadata.

        Neither ever sees the other's later writes, and deleting the source
        leaves the fork whole. A call/result pair of which one side is taken
        loses its link in the fork.

        Args:
            source_branch_id: The branch to fork.
            at_revision: Its revision to copy; None is the current one.
            up_to: The last message of the full order to copy; None copies all.
            new_ids: Clone every message under a new id, with the former one in
                ``metadata["clone_from"]``, instead of keeping ids.
            branch_id: The fork's id; the server makes one when left out.
            external_key: The fork's own key.
            metadata: The fork's metadata; None takes the source's.
            request_id: Makes the call safe to repeat: under the same id it is done once.

        Raises:
            MessageNotFoundError: ``up_to`` is not in the branch at that revision.
            RevisionInFutureError: The branch has not reached the revision.
            RevisionExpiredError: The revision was dropped.
            BranchExistsError: The id or the external key is taken.
        """
        request = pb.ForkBranchRequest(
            source_branch_id=str(source_branch_id),
            at_revision=at_revision,
            up_to_message_id=id_text(up_to),
            ids=pb.FORK_IDS_NEW if new_ids else pb.FORK_IDS_KEEP,
            branch_id=id_text(branch_id),
            external_key=external_key,
            metadata_json=None if metadata is None else dump_json_text(dict(metadata)),
            request_id=request_id_text(request_id),
        )

        def decode(response: pb.ForkBranchResponse) -> BranchRecord:
            return BranchRecord.from_proto(response.branch, replayed=response.replayed)

        return perform(UnaryCall("ForkBranch", request, decode))

    def trim_history(self, branch_id: Id, before_revision: int) -> Steps[int]:
        """Drop what only revisions before one show; return the oldest revision that can be read now.

        Every revision from ``before_revision`` on stays as it is.

        Raises:
            RevisionInFutureError: The branch has not reached the revision.
        """
        request = pb.TrimHistoryRequest(branch_id=str(branch_id), before_revision=before_revision)

        def decode(response: pb.TrimHistoryResponse) -> int:
            return response.oldest_revision

        return perform(UnaryCall("TrimHistory", request, decode))

    def add_messages(
        self,
        branch_id: Id,
        messages: Iterable[AnyMessage],
        *,
        allow_unresolved: bool = False,
        expected_revision: int | None = None,
        request_id: Id | None = None,
    ) -> Steps[Written]:
        """Add or replace 1 to 1,000 messages in order, all or none.

        Raises:
            ContentKindFixedError: A replacement is of another kind.
            ActionRequestUnknownError: A response names a request that is not in
                the branch, and ``allow_unresolved`` is not set.
            ActionAlreadyAnsweredError: The request has a final response.
        """
        request = pb.AddMessagesRequest(
            branch_id=str(branch_id),
            messages=[wire_message(message) for message in messages],
            allow_unresolved=allow_unresolved,
            expected_revision=expected_revision,
            request_id=request_id_text(request_id),
        )
        return perform(UnaryCall("AddMessages", request, partial(written, sent=request.messages)))

    def respond_to_action(
        self,
        branch_id: Id,
        action_request_id: Id,
        *,
        output: Any = None,
        error: str | None = None,
        interim: bool = False,
        blocks: Iterable[Block] = (),
        message_id: Id | None = None,
        metadata: Mapping[str, Any] | None = None,
        expected_revision: int | None = None,
        request_id: Id | None = None,
    ) -> Steps[Written]:
        """Append the response to an action request and link the two.

        Args:
            branch_id: The branch.
            action_request_id: The request.
            output: What the action returned; falsy outputs are outputs.
            error: Why it failed; it is a success unless this is given.
            interim: Whether it is news on the way, which answers nothing.
            blocks: Rich output beside ``output``.
            message_id: The response's id; the server makes one when left out.
            metadata: The response's metadata.
            expected_revision: Refuse (RevisionConflictError) unless the branch is at it.
            request_id: Makes the call safe to repeat: under the same id it is done once.

        Raises:
            ValueError: Both an output and an error are given.
            ActionRequestUnknownError: There is no such action request.
            ActionAlreadyAnsweredError: It has a final response.
        """
        if error is not None and output is not None:
            raise ValueError("An action response has an output or an error, not both.")
        state = (
            message_pb2.ACTION_RESPONSE_STATE_INTERIM if interim else message_pb2.ACTION_RESPONSE_STATE_FINAL
        )
        request = pb.RespondToActionRequest(
            branch_id=str(branch_id),
            action_request_id=str(action_request_id),
            message_id=id_text(message_id),
            state=state,
            blocks=blocks_to_proto(blocks),
            metadata_json=object_text(metadata),
            expected_revision=expected_revision,
            request_id=request_id_text(request_id),
        )
        if error is not None:
            request.error = error
        elif output is not None:
            request.output_json = dump_json_text(output)
        return perform(
            UnaryCall("RespondToAction", request, partial(written, sent=[draft_response(request)]))
        )

    def set_system(
        self,
        branch_id: Id,
        system: System,
        *,
        expected_revision: int | None = None,
        request_id: Id | None = None,
    ) -> Steps[Written]:
        """Make ``system`` the branch's one system record, at index 0.

        Its id, content and metadata are sent. Raises ContentKindFixedError when
        the id is another message's.
        """
        wire = to_proto(system)
        request = pb.SetSystemRequest(
            branch_id=str(branch_id),
            message_id=wire.id or None,
            system=wire.system,
            metadata_json=wire.metadata_json,
            expected_revision=expected_revision,
            request_id=request_id_text(request_id),
        )
        return perform(UnaryCall("SetSystem", request, written))

    def remove_messages(
        self,
        branch_id: Id,
        message_ids: Iterable[Id],
        *,
        expected_revision: int | None = None,
        request_id: Id | None = None,
    ) -> Steps[Written]:
        """Remove messages, all or none, and clear the action links to them.

        Raises:
            MessageNotFoundError: Some are not in the branch; all of them are listed.
            SystemRecordFixedError: One is the system record.
        """
        request = pb.RemoveMessagesRequest(
            branch_id=str(branch_id),
            message_ids=id_texts(message_ids),
            expected_revision=expected_revision,
            request_id=request_id_text(request_id),
        )
        return perform(UnaryCall("RemoveMessages", request, written))

    def move_message(
        self,
        branch_id: Id,
        message_id: Id,
        index: int,
        *,
        expected_revision: int | None = None,
        request_id: Id | None = None,
    ) -> Steps[Written]:
        """Move one message to another index of the full order; a view is not reordered.

        Raises:
            MessageNotFoundError: It is not in the branch.
            SystemRecordFixedError: It, or what stands at the index, is the system record.
        """
        request = pb.MoveMessageRequest(
            branch_id=str(branch_id),
            message_id=str(message_id),
            index=index,
            expected_revision=expected_revision,
            request_id=request_id_text(request_id),
        )
        return perform(UnaryCall("MoveMessage", request, written))

    def clear_messages(
        self, branch_id: Id, *, expected_revision: int | None = None, request_id: Id | None = None
    ) -> Steps[Written]:
        """Remove every message but the system record."""
        request = pb.ClearMessagesRequest(
            branch_id=str(branch_id),
            expected_revision=expected_revision,
            request_id=request_id_text(request_id),
        )
        return perform(UnaryCall("ClearMessages", request, written))

    def select_view(
        self,
        branch_id: Id,
        message_ids: Iterable[Id],
        *,
        expected_revision: int | None = None,
        request_id: Id | None = None,
    ) -> Steps[Written]:
        """Select an ordered subset as the branch's view; nothing is deleted, empty is a view.

        Raises:
            ProgressionInvalidError: Some ids are unknown or repeated; all of them are listed.
        """
        request = pb.SelectViewRequest(
            branch_id=str(branch_id),
            message_ids=id_texts(message_ids),
            expected_revision=expected_revision,
            request_id=request_id_text(request_id),
        )
        return perform(UnaryCall("SelectView", request, written))

    def clear_view(
        self, branch_id: Id, *, expected_revision: int | None = None, request_id: Id | None = None
    ) -> Steps[Written]:
        """Return to the full order."""
        request = pb.ClearViewRequest(
            branch_id=str(branch_id),
            expected_revision=expected_revision,
            request_id=request_id_text(request_id),
        )
        return perform(UnaryCall("ClearView", request, written))

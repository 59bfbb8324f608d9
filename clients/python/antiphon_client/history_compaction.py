"""Committing a compaction."""

from __future__ import annotations

from collections.abc import Iterable

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.message.v1 import message_pb2
from antiphon_client.messages import Summary, to_proto
from antiphon_client.records import Written, written
from antiphon_client.rpc import Steps, UnaryCall, perform
from antiphon_client.wire_values import Id, id_text, id_texts, request_id_text


class HistoryCompaction:
    """The compaction RPC of ``HistoryService`` as an operation; the contract stands in its proto."""

    def commit_compaction(
        self,
        branch_id: Id,
        summary: Summary | str,
        *,
        first_id: Id | None = None,
        last_id: Id | None = None,
        kept: Iterable[Id] = (),
        message_id: Id | None = None,
        planned_revision: int | None = None,
        expected_revision: int | None = None,
        request_id: Id | None = None,
    ) -> Steps[Written]:
        """Store a summary of a stretch and the view that puts it in the stretch's place.

        Args:
            branch_id: The branch.
            summary: The summary's text, with ``first_id`` and ``last_id``: it
                updates the summary in the view, or makes a new one. Or a
                Summary: its content and metadata, under its own id.
            first_id: The first message of the stretch.
            last_id: The last message of the stretch.
            kept: What stays verbatim after the summary, in order.
            message_id: Id of the record of a text; left out, that of the summary
                in the view, else a new one.
            planned_revision: The revision this was planned at: what was added
                since follows what is kept.
            expected_revision: As in every write.
            request_id: As in every write.

        Raises:
            ValueError: A text comes without the ends of its stretch, or a Summary with them.
            MessageNotFoundError: An end of the stretch never was in the branch.
            ProgressionInvalidError: Ids to keep are unknown or repeated; all of them are listed.
            ContentKindFixedError: The Summary's id is another kind of message's.
            RevisionConflictError: Another compaction was committed since the planned revision.
        """
        is_text = isinstance(summary, str)
        if (
            (first_id is None) is is_text
            or (last_id is None) is is_text
            or not (is_text or message_id is None)
        ):
            raise ValueError("a summary's text needs first_id and last_id; a Summary has its own, and its id")
        if isinstance(summary, str):
            content = message_pb2.SummaryContent(text=summary, first_id=str(first_id), last_id=str(last_id))
            record = message_pb2.Message(id=id_text(message_id) or "", summary=content)
        else:
            record = to_proto(summary)
        request = pb.CommitCompactionRequest(
            branch_id=str(branch_id),
            summary=record.summary,
            message_id=record.id or None,
            metadata_json=record.metadata_json,
            view_message_ids=id_texts(kept),
            planned_revision=planned_revision,
            expected_revision=expected_revision,
            request_id=request_id_text(request_id),
        )
        return perform(UnaryCall("CommitCompaction", request, written))

"""RespondToAction: the service makes the response to a request (ADR-0006 D2)."""

from __future__ import annotations

from antiphon.history.v1 import branch_pb2 as branch_pb
from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon.message.v1 import message_pb2 as message_pb
from antiphon_client.action_draft import copy_call
from antiphon_client.errors import ActionRequestUnknownError, FieldInvalidError
from history_service.domain import links
from history_service.domain.changeset import Changeset, Entry
from history_service.domain.prepared import ACTION_REQUEST, PreparedMessage, Stamper
from history_service.storage.port import BranchRow, WriteTransaction


def respond(
    tx: WriteTransaction, branch: BranchRow, draft: message_pb.Message, stamper: Stamper
) -> history_pb.RespondToActionResponse:
    """Append the response and link it with its request.

    Raises:
        ActionRequestUnknownError: There is no such request in the branch.
        ActionAlreadyAnsweredError: It has its final response.
        FieldInvalidError: The message id is taken.
        SizeLimitExceededError: With what it copies, the response is too large.
    """
    changes = Changeset(tx, branch)
    prepared = _complete_draft(changes, draft, stamper)
    links.append(changes, prepared, allow_unresolved=False)
    changes.flush()
    placement = branch_pb.Placement(message_id=prepared.message_id, index=changes.first_appended_index)
    return history_pb.RespondToActionResponse(placement=placement)


def _complete_draft(changes: Changeset, draft: message_pb.Message, stamper: Stamper) -> PreparedMessage:
    request = _find_request(changes, draft)
    # The store may run this work again, so the draft itself stays as it is.
    message = message_pb.Message()
    message.CopyFrom(draft)
    copy_call(changes.message(request).action_request, message.action_response)
    return stamper.prepare_all([message])[0]


def _find_request(changes: Changeset, draft: message_pb.Message) -> Entry:
    request_id = draft.action_response.action_request_id
    changes.load([request_id, draft.id] if draft.id else [request_id])
    request = changes.find(request_id)
    if request is None or request.kind != ACTION_REQUEST:
        raise ActionRequestUnknownError(
            f"no action request {request_id} in the branch", metadata={"action_request_id": request_id}
        )
    if draft.id and changes.find(draft.id) is not None:
        raise FieldInvalidError.of("message_id", "is the id of a message of the branch")
    return request

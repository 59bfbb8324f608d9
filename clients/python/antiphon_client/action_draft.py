"""The message that RespondToAction stores (ADR-0006 D2): what its request says, and what it copies."""

from __future__ import annotations

from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon.message.v1 import message_pb2 as message_pb


def draft_response(request: history_pb.RespondToActionRequest) -> message_pb.Message:
    """Return the response message as far as the request alone determines it."""
    message = message_pb.Message(id=request.message_id, metadata_json=request.metadata_json)
    response = message.action_response
    response.action_request_id = request.action_request_id
    response.state = request.state
    response.blocks.extend(request.blocks)
    outcome = request.WhichOneof("outcome")
    if outcome == "output_json":
        response.output_json = request.output_json
    elif outcome == "error":
        response.error = request.error
    return message


def copy_call(call: message_pb.ActionRequestContent, response: message_pb.ActionResponseContent) -> None:
    """Put into a response what it has of the call it answers."""
    response.function = call.function
    response.arguments_json = call.arguments_json
    if call.HasField("provider_call_id"):
        response.provider_call_id = call.provider_call_id

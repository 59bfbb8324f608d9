"""What is made alike of calls in foreign messages: where they stand, and what their results say of them."""

from __future__ import annotations

from antiphon.message.v1 import content_block_pb2 as block_pb
from antiphon.message.v1 import message_pb2 as pb


def position_of(request: pb.ActionRequestContent) -> block_pb.ContentBlock:
    """Return the block that marks in a response where a call stands."""
    marker = block_pb.ToolCall(id=request.provider_call_id, name=request.function)
    if request.HasField("thought_signature"):
        marker.thought_signature = request.thought_signature
    return block_pb.ContentBlock(tool_call=marker)


def link_result(response: pb.ActionResponseContent, call: pb.Message) -> None:
    """Let a result answer a call, whose function and arguments it repeats."""
    response.action_request_id = call.id
    response.function = call.action_request.function
    response.arguments_json = call.action_request.arguments_json

"""What an RPC about a response answers with: the reply, or the error that its fault is."""

from __future__ import annotations

from typing import TypeVar

from antiphon.compiler.v1.provider_pb2 import AssembleResponseResponse, ParseResponseResponse
from antiphon_client.limits import Limits
from antiphon_client.provider_streams.faults import incomplete_error, is_error
from compiler_service.reply_size import check_reply_size

ReplyT = TypeVar("ReplyT", AssembleResponseResponse, ParseResponseResponse)


def checked_reply(reply: ReplyT, keep_partial: bool, limits: Limits) -> ReplyT:
    """Return the reply if it may be sent.

    Args:
        reply: The reply.
        keep_partial: Whether what there is of an incomplete response is a reply too.
        limits: Gives ``reply_bytes``.

    Raises:
        StreamIncompleteError: The response is incomplete, and that is no reply.
        SizeLimitExceededError: The reply is larger than a unary reply may be.
    """
    if not keep_partial and is_error(reply.fault):
        raise incomplete_error(reply.fault)
    check_reply_size(reply.ByteSize(), limits)
    return reply

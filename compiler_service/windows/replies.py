"""The limit of a plan's reply."""

from __future__ import annotations

from typing import TypeVar

from antiphon.compiler.v1.compiler_service_pb2 import PlanCompactionResponse, PlanWindowResponse
from antiphon_client.limits import Limits
from compiler_service.reply_size import check_reply_size

ReplyT = TypeVar("ReplyT", PlanWindowResponse, PlanCompactionResponse)


def sized_reply(reply: ReplyT, limits: Limits) -> ReplyT:
    """Return a reply that may be sent.

    Raises:
        SizeLimitExceededError: It is larger than a unary reply may be.
    """
    check_reply_size(reply.ByteSize(), limits, "plan with a progression that selects less")
    return reply

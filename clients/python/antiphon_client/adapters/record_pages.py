"""Pages of a branch's full order, in their wire form."""

from __future__ import annotations

from typing import TypeAlias

from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon_client.limits import DEFAULT_LIMITS
from antiphon_client.rpc import UnaryCall

Page: TypeAlias = history_pb.ListMessagesResponse


def page_call(
    branch_id: str,
    *,
    token: str = "",
    size: int = DEFAULT_LIMITS.page_messages,
    descending: bool = False,
    kind: history_pb.MessageKind.ValueType | None = None,
    with_branch: bool = False,
) -> UnaryCall[Page]:
    """Return the call for one page, of all records or of one kind.

    Args:
        branch_id: The branch.
        token: The page before's, which said that there is more; "" for the first page.
        size: Records of the page at most.
        descending: The last records first.
        kind: The kind; None for all.
        with_branch: Whether the page says what the branch is.
    """
    request = history_pb.ListMessagesRequest(
        branch_id=branch_id,
        kinds=[] if kind is None else [kind],
        order=history_pb.ORDER_DESCENDING if descending else history_pb.ORDER_ASCENDING,
        page_size=size,
        page_token=token,
        with_branch=with_branch,
    )
    return UnaryCall("ListMessages", request, _same)


def _same(page: Page) -> Page:
    return page

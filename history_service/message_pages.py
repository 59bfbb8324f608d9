"""Pages of lists of messages: read from the store, or kept from the reading before.

A page that holds a whole branch and says what it is, as whoever loads a session
asks for, is kept; it is given again while the branch stays at its revision,
which is asked each time. It is not read and encoded again then; where messages were
appended since, only those are.
"""

from __future__ import annotations

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.limits import Limits
from history_service import encoding, paging
from history_service.domain import lists
from history_service.domain.prepared import id_of
from history_service.snapshot_cache import KeptPage, SnapshotCache
from history_service.storage.port import HistoryStore


class MessagePages:
    """Answers ListMessages."""

    def __init__(self, store: HistoryStore, limits: Limits, cache: SnapshotCache) -> None:
        """Set up.

        Args:
            store: Where branches are kept.
            limits: Bounds of pages.
            cache: This service's own, told when a branch is deleted or trimmed.
        """
        self._store = store
        self._limits = limits
        self._cache = cache

    async def answer(self, tenant_id: str, request: pb.ListMessagesRequest) -> bytes:
        """Return the encoded response to a request that was checked.

        Raises:
            AntiphonError: As ``lists.list_messages``.
        """
        descending, kinds = request.order == pb.ORDER_DESCENDING, sorted(set(request.kinds))
        at_revision = request.at_revision if request.HasField("at_revision") else None
        wanted = lists.MessageList(
            tenant_id, request.branch_id, at_revision, kinds, descending, request.with_branch
        )
        filters = (tenant_id, request.branch_id, kinds, descending)
        position = paging.read_message_token(request.page_token, filters) if request.page_token else None
        limit = paging.page_limit(request.page_size, self._limits.page_messages)
        is_front = position is None and not kinds and not descending
        kept = self._cache.find_page(tenant_id, request.branch_id) if is_front else None
        known, drops = None if kept is None else kept.known, self._cache.drops
        page = await self._store.read(
            lambda tx: lists.list_messages(tx, wanted, position, limit, self._limits.page_bytes, known)
        )
        token = paging.message_token(filters, page.next_position) if page.next_position else ""
        head = encoding.list_messages_head(page.revision, token, page.branch)
        former = kept if page.is_known else None
        if former is not None and not page.bodies and former.has_head(head):
            return former.response
        response = encoding.list_messages_response(
            head, page.bodies, b"" if former is None else former.fields
        )
        # One that had room for the branch has room whenever the revision is the same.
        if is_front and at_revision is None and not token and page.branch is not None:
            whole = _known_page(page, None if former is None else former.known)
            if whole is not None:
                kept = KeptPage(whole, len(head), response)
                self._cache.keep_page(tenant_id, request.branch_id, kept, drops)
        return response


def _known_page(page: lists.ListedMessages, former: lists.KnownPage | None) -> lists.KnownPage | None:
    """Return which page a branch's messages are, behind those of a former one; None where there are none."""
    last_id = id_of(page.bodies[-1]) if page.bodies else None if former is None else former.last_id
    if page.branch is None or last_id is None:
        return None
    count, size = (0, 0) if former is None else (former.count, former.size)
    return lists.KnownPage(
        incarnation=page.branch.incarnation,
        revision=page.revision,
        count=count + len(page.bodies),
        size=size + sum(map(len, page.bodies)),
        last_id=last_id,
    )

"""Clients of the history service, blocking and asyncio.

Every method is the operation of the same name in
:class:`~antiphon_client.history_operations.HistoryOperations`, where its
arguments and errors are documented.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator

from antiphon.history.v1.history_service_pb2_grpc import HistoryServiceStub
from antiphon_client.client_base import AsyncClient, SyncClient
from antiphon_client.history_operations import HistoryOperations as Operations
from antiphon_client.records import BranchPage, BranchRecord
from antiphon_client.rpc import AsyncMethod, Steps, SyncMethod, iterate, iterate_async
from antiphon_client.wire_values import Id

_OPERATIONS = Operations()
_PAGE = 1000


class HistoryClient(SyncClient):
    """A blocking client of the history service."""

    _stub_class = HistoryServiceStub
    _core = _OPERATIONS

    create_branch = SyncMethod(Operations.create_branch)
    get_branch = SyncMethod(Operations.get_branch)
    list_branches = SyncMethod(Operations.list_branches)
    find_branch = SyncMethod(Operations.find_branch)
    update_branch = SyncMethod(Operations.update_branch)
    delete_branch = SyncMethod(Operations.delete_branch)
    add_messages = SyncMethod(Operations.add_messages)
    respond_to_action = SyncMethod(Operations.respond_to_action)
    set_system = SyncMethod(Operations.set_system)
    remove_messages = SyncMethod(Operations.remove_messages)
    move_message = SyncMethod(Operations.move_message)
    clear_messages = SyncMethod(Operations.clear_messages)
    get_messages = SyncMethod(Operations.get_messages)
    list_messages = SyncMethod(Operations.list_messages)
    select_view = SyncMethod(Operations.select_view)
    clear_view = SyncMethod(Operations.clear_view)
    read_snapshot = SyncMethod(Operations.read_snapshot)
    read_order = SyncMethod(Operations.read_order)
    read_system = SyncMethod(Operations.read_system)

    def branches(
        self, *, external_key_prefix: str | None = None, parent_branch_id: Id | None = None
    ) -> Iterator[BranchRecord]:
        """Yield every living branch, reading page by page."""
        return iterate(self._transport, _branch_pages(external_key_prefix, parent_branch_id))


class AsyncHistoryClient(AsyncClient):
    """An asyncio client of the history service."""

    _stub_class = HistoryServiceStub
    _core = _OPERATIONS

    create_branch = AsyncMethod(Operations.create_branch)
    get_branch = AsyncMethod(Operations.get_branch)
    list_branches = AsyncMethod(Operations.list_branches)
    find_branch = AsyncMethod(Operations.find_branch)
    update_branch = AsyncMethod(Operations.update_branch)
    delete_branch = AsyncMethod(Operations.delete_branch)
    add_messages = AsyncMethod(Operations.add_messages)
    respond_to_action = AsyncMethod(Operations.respond_to_action)
    set_system = AsyncMethod(Operations.set_system)
    remove_messages = AsyncMethod(Operations.remove_messages)
    move_message = AsyncMethod(Operations.move_message)
    clear_messages = AsyncMethod(Operations.clear_messages)
    get_messages = AsyncMethod(Operations.get_messages)
    list_messages = AsyncMethod(Operations.list_messages)
    select_view = AsyncMethod(Operations.select_view)
    clear_view = AsyncMethod(Operations.clear_view)
    read_snapshot = AsyncMethod(Operations.read_snapshot)
    read_order = AsyncMethod(Operations.read_order)
    read_system = AsyncMethod(Operations.read_system)

    def branches(
        self, *, external_key_prefix: str | None = None, parent_branch_id: Id | None = None
    ) -> AsyncIterator[BranchRecord]:
        """Yield every living branch, reading page by page."""
        return iterate_async(self._transport, _branch_pages(external_key_prefix, parent_branch_id))


def _branch_pages(prefix: str | None, parent_branch_id: Id | None) -> Callable[[str], Steps[BranchPage]]:
    def page_at(token: str) -> Steps[BranchPage]:
        return _OPERATIONS.list_branches(
            external_key_prefix=prefix, parent_branch_id=parent_branch_id, page_size=_PAGE, page_token=token
        )

    return page_at

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
from antiphon_client.rpc import Steps, async_method, iterate, iterate_async, sync_method
from antiphon_client.wire_values import Id

_OPERATIONS = Operations()
_PAGE = 1000


class HistoryClient(SyncClient):
    """A blocking client of the history service."""

    _service = "history"
    _stub_class = HistoryServiceStub
    _core = _OPERATIONS

    create_branch = sync_method(Operations.create_branch)
    get_branch = sync_method(Operations.get_branch)
    list_branches = sync_method(Operations.list_branches)
    find_branch = sync_method(Operations.find_branch)
    update_branch = sync_method(Operations.update_branch)
    delete_branch = sync_method(Operations.delete_branch)
    add_messages = sync_method(Operations.add_messages)
    respond_to_action = sync_method(Operations.respond_to_action)
    set_system = sync_method(Operations.set_system)
    remove_messages = sync_method(Operations.remove_messages)
    move_message = sync_method(Operations.move_message)
    clear_messages = sync_method(Operations.clear_messages)
    get_messages = sync_method(Operations.get_messages)
    list_messages = sync_method(Operations.list_messages)
    select_view = sync_method(Operations.select_view)
    clear_view = sync_method(Operations.clear_view)
    read_snapshot = sync_method(Operations.read_snapshot)
    read_order = sync_method(Operations.read_order)
    read_system = sync_method(Operations.read_system)

    def branches(
        self, *, external_key_prefix: str | None = None, parent_branch_id: Id | None = None
    ) -> Iterator[BranchRecord]:
        """Yield every living branch, reading page by page."""
        return iterate(self._transport, _branch_pages(external_key_prefix, parent_branch_id))


class AsyncHistoryClient(AsyncClient):
    """An asyncio client of the history service."""

    _service = "history"
    _stub_class = HistoryServiceStub
    _core = _OPERATIONS

    create_branch = async_method(Operations.create_branch)
    get_branch = async_method(Operations.get_branch)
    list_branches = async_method(Operations.list_branches)
    find_branch = async_method(Operations.find_branch)
    update_branch = async_method(Operations.update_branch)
    delete_branch = async_method(Operations.delete_branch)
    add_messages = async_method(Operations.add_messages)
    respond_to_action = async_method(Operations.respond_to_action)
    set_system = async_method(Operations.set_system)
    remove_messages = async_method(Operations.remove_messages)
    move_message = async_method(Operations.move_message)
    clear_messages = async_method(Operations.clear_messages)
    get_messages = async_method(Operations.get_messages)
    list_messages = async_method(Operations.list_messages)
    select_view = async_method(Operations.select_view)
    clear_view = async_method(Operations.clear_view)
    read_snapshot = async_method(Operations.read_snapshot)
    read_order = async_method(Operations.read_order)
    read_system = async_method(Operations.read_system)

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

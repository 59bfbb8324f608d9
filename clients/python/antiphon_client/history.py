"""Clients of the history service, blocking and asyncio.

Every method is the operation of the same name in
:class:`~antiphon_client.history_operations.HistoryOperations`, where its
arguments and errors are documented.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator

from antiphon.history.v1.history_service_pb2_grpc import HistoryServiceStub
from antiphon_client.client_base import AsyncClient, SyncClient
from antiphon_client.history_operations import HistoryOperations as Operations
from antiphon_client.pages import iterate, iterate_async
from antiphon_client.records import BranchPage, BranchRecord
from antiphon_client.rpc import Steps, async_method, sync_method
from antiphon_client.watching import Change, OnLost, WatchToken, watch, watch_async
from antiphon_client.wire_values import Id, branch_uuid

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
    fork_branch = sync_method(Operations.fork_branch)
    trim_history = sync_method(Operations.trim_history)
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
    commit_compaction = sync_method(Operations.commit_compaction)
    read_snapshot = sync_method(Operations.read_snapshot)
    read_order = sync_method(Operations.read_order)
    read_system = sync_method(Operations.read_system)
    export_branch = sync_method(Operations.export_branch)
    import_branch = sync_method(Operations.import_branch)

    def watch_branch(
        self,
        branch_id: Id,
        *,
        after: WatchToken | int = 0,
        follow: bool = True,
        on_lost: OnLost | None = None,
    ) -> Generator[Change]:
        """Yield every change of a branch after a token or revision, in order, each once, and go on for ever.

        It connects again by itself while the service is UNAVAILABLE, once it
        has been connected, and has no timeout. It ends after the change that
        deletes the branch, which is all that is left to tell of a purged one.
        Close it (``contextlib.closing``) to end it sooner.

        A change names messages; :meth:`get_messages` with ``at_revision=change.revision``
        reads them as it left them. The first change of a fork or an imported branch is
        ``created``, without operations: read that branch at revision 1 first.

        Args:
            branch_id: The branch.
            after: Where to begin: the token of the last change seen, or a
                revision; 0 is the oldest change that is kept.
            follow: False: end when everything committed so far was yielded.
            on_lost: Called once each time the service is lost, with the cause, before
                the wait for it.

        Raises:
            BranchDeletedError: The branch was deleted, and that change is not
                among those asked for.
            RevisionExpiredError: Changes to come next were dropped, or the
                branch is another incarnation.
            RevisionInFutureError: The branch has not reached the revision.
            UnknownChangeError: A change must not be skipped and cannot be understood.
        """
        return watch(self._transport, branch_uuid(branch_id), after, follow=follow, on_lost=on_lost)

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
    fork_branch = async_method(Operations.fork_branch)
    trim_history = async_method(Operations.trim_history)
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
    commit_compaction = async_method(Operations.commit_compaction)
    read_snapshot = async_method(Operations.read_snapshot)
    read_order = async_method(Operations.read_order)
    read_system = async_method(Operations.read_system)
    export_branch = async_method(Operations.export_branch)
    import_branch = async_method(Operations.import_branch)

    def watch_branch(
        self,
        branch_id: Id,
        *,
        after: WatchToken | int = 0,
        follow: bool = True,
        on_lost: OnLost | None = None,
    ) -> AsyncGenerator[Change]:
        """Yield every change of a branch, as :meth:`HistoryClient.watch_branch` does."""
        return watch_async(self._transport, branch_uuid(branch_id), after, follow=follow, on_lost=on_lost)

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

"""Clients of the history service, blocking and asyncio.

Every method is the operation of the same name in
:class:`~antiphon_client.history_operations.HistoryOperations`, where its
arguments and errors are documented.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
from uuid import UUID

from antiphon.history.v1.history_service_pb2_grpc import HistoryServiceStub
from antiphon_client.client_base import AsyncClient, SyncClient
from antiphon_client.history_operations import HistoryOperations as Operations
from antiphon_client.records import BranchPage, BranchRecord
from antiphon_client.rpc import AsyncMethod, Steps, SyncMethod, iterate, iterate_async
from antiphon_client.watching import Change, WatchToken, watch, watch_async
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
    fork_branch = SyncMethod(Operations.fork_branch)
    trim_history = SyncMethod(Operations.trim_history)
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
    export_branch = SyncMethod(Operations.export_branch)
    import_branch = SyncMethod(Operations.import_branch)

    def watch_branch(
        self, branch_id: Id, *, after: WatchToken | int = 0, follow: bool = True
    ) -> Generator[Change]:
        """Yield every change of a branch after a token or revision, in order, each once, and go on for ever.

        It connects again by itself while the service is UNAVAILABLE, once it
        has been connected, and has no timeout. It ends after the change that
        deletes the branch. Close it (``contextlib.closing``) to end it sooner.

        Args:
            branch_id: The branch.
            after: Where to begin: the token of the last change seen, or a
                revision; 0 is the oldest change that is kept.
            follow: False: end when everything committed so far was yielded.

        Raises:
            BranchDeletedError: The branch was deleted, and that change is not
                among those asked for.
            RevisionExpiredError: Changes to come next were dropped, or the
                branch is another incarnation.
            RevisionInFutureError: The branch has not reached the revision.
            UnknownChangeError: A change must not be skipped and cannot be understood.
        """
        return watch(self._transport, UUID(str(branch_id)), after, follow=follow)

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
    fork_branch = AsyncMethod(Operations.fork_branch)
    trim_history = AsyncMethod(Operations.trim_history)
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
    export_branch = AsyncMethod(Operations.export_branch)
    import_branch = AsyncMethod(Operations.import_branch)

    def watch_branch(
        self, branch_id: Id, *, after: WatchToken | int = 0, follow: bool = True
    ) -> AsyncGenerator[Change]:
        """Yield every change of a branch, as :meth:`HistoryClient.watch_branch` does."""
        return watch_async(self._transport, UUID(str(branch_id)), after, follow=follow)

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

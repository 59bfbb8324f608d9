"""One branch as an object: its messages, its order, its view (ADR-0006 D3).

A branch object holds no messages: every method asks the history service, and
is the operation of the same name in
:class:`~antiphon_client.branch_operations.BranchOperations`. It holds the
callbacks that hear of the messages added through it (ADR-0006 D4): those that
``add``, ``add_message``, ``respond`` and ``set_system`` write, replacements too.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID

from antiphon_client.branch_operations import BranchOperations as Operations
from antiphon_client.compacting import AsyncCompacting, SyncCompacting
from antiphon_client.errors import BranchNotFoundError
from antiphon_client.history import AsyncHistoryClient, HistoryClient
from antiphon_client.history_operations import HistoryOperations
from antiphon_client.messages import Message, System
from antiphon_client.observers import (
    AsyncMessageCallback,
    MessageCallback,
    async_observed_method,
    observed_method,
)
from antiphon_client.pages import iterate, iterate_async
from antiphon_client.piles import MessageSource, create_with, initial_messages
from antiphon_client.records import BranchRecord, MessagePage
from antiphon_client.rpc import Steps, async_method, sync_method
from antiphon_client.watching import Change, OnLost, WatchToken, watch, watch_async
from antiphon_client.wire_values import Id, Kind, branch_uuid


class Branch(SyncCompacting):
    """A branch over a blocking client; make one with :meth:`create` or :meth:`open`."""

    def __init__(
        self,
        history: HistoryClient,
        branch_id: Id,
        *,
        on_message_added: Iterable[MessageCallback] = (),
    ) -> None:
        self._history = history
        self._core = Operations(branch_id, HistoryOperations())
        self._transport = history._transport
        self.on_message_added: list[MessageCallback] = list(on_message_added)
        """The callbacks; a change of the list holds from the next write on."""

    @classmethod
    def create(
        cls,
        history: HistoryClient,
        *,
        branch_id: Id | None = None,
        external_key: str | None = None,
        parent_branch_id: Id | None = None,
        metadata: Mapping[str, Any] | None = None,
        messages: MessageSource | None = None,
        progression: Iterable[Id] | None = None,
        system: System | None = None,
        on_message_added: Iterable[MessageCallback] = (),
        request_id: Id | None = None,
    ) -> Branch:
        """Make a new branch, empty or holding messages.

        Args:
            history: The client.
            branch_id: Its id; the server makes one when left out.
            external_key: The caller's own key.
            parent_branch_id: The branch it belongs under.
            metadata: The caller's own data.
            messages: Messages, their dictionary forms, or both; entries that
                are neither are ignored. Or a pile's dictionary form.
            progression: The order of ``messages``; each id once.
            system: The system record; it stands for any among ``messages``.
            on_message_added: Callbacks; they hear of later messages only.
            request_id: Makes the call, with the same messages, safe to repeat: a repetition
                that fails leaves what an earlier call made. One that failed half-way and
                was undone stays so (BranchDeletedError).

        Raises:
            ValueError: ``system`` is no System, or ``messages`` or
                ``progression`` breaks a rule; nothing is made.
            BranchExistsError: The id or key is taken.
            AntiphonError: A write failed. The branch is deleted again, as it is when the call
                is interrupted; a note on the error says so where it could not be.
        """
        created = create_with(
            HistoryOperations(),
            initial_messages(messages, progression, system),
            branch_id=branch_id,
            external_key=external_key,
            parent_branch_id=parent_branch_id,
            metadata=metadata,
            request_id=request_id,
        )
        record = history._transport.run(created)
        return cls(history, record.branch_id, on_message_added=on_message_added)

    @classmethod
    def open(
        cls,
        history: HistoryClient,
        branch_id: Id | None = None,
        *,
        external_key: str | None = None,
        on_message_added: Iterable[MessageCallback] = (),
    ) -> Branch:
        """Open a branch by its id, a UUID, or its external key.

        Raises:
            BranchNotFoundError: There is none.
            FieldInvalidError: ``branch_id`` is no UUID.
        """
        _check_one(branch_id, external_key)
        if external_key is not None:
            found = _found(history.find_branch(external_key), external_key)
        else:
            found = history.get_branch(branch_uuid(str(branch_id))).branch_id
        return cls(history, found, on_message_added=on_message_added)

    @property
    def branch_id(self) -> UUID:
        """The branch's id."""
        return self._core.branch_id

    record = sync_method(Operations.record)
    update_metadata = sync_method(Operations.update_metadata)
    delete = sync_method(Operations.delete)
    trim = sync_method(Operations.trim)
    add = observed_method(Operations.add)
    add_message = observed_method(Operations.add_message)
    respond = observed_method(Operations.respond)
    set_system = observed_method(Operations.set_system)
    system = sync_method(Operations.system)
    remove = sync_method(Operations.remove)
    move = sync_method(Operations.move)
    clear = sync_method(Operations.clear)
    select_view = sync_method(Operations.select_view)
    clear_view = sync_method(Operations.clear_view)
    commit_compaction = sync_method(Operations.commit_compaction)
    export = sync_method(Operations.export)
    progression = sync_method(Operations.progression)
    snapshot = sync_method(Operations.snapshot)
    page = sync_method(Operations.page)
    assistant_responses = sync_method(Operations.assistant_responses)
    instructions = sync_method(Operations.instructions)
    action_requests = sync_method(Operations.action_requests)
    action_responses = sync_method(Operations.action_responses)
    actions = sync_method(Operations.actions)
    last_response = sync_method(Operations.last_response)
    last_instruction = sync_method(Operations.last_instruction)
    to_chat_msgs = sync_method(Operations.to_chat_msgs)

    def watch(
        self, *, after: WatchToken | int = 0, follow: bool = True, on_lost: OnLost | None = None
    ) -> Generator[Change]:
        """Yield every change of the branch, as :meth:`HistoryClient.watch_branch` does."""
        return watch(self._transport, self.branch_id, after, follow=follow, on_lost=on_lost)

    def fork(
        self,
        *,
        at_revision: int | None = None,
        up_to: Id | None = None,
        new_ids: bool = False,
        branch_id: Id | None = None,
        external_key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        request_id: Id | None = None,
    ) -> Branch:
        """Make a branch with what this one holds, now or at a revision.

        Takes the arguments and raises the errors of ``HistoryClient.fork_branch``.
        Callbacks are not taken along.
        """
        record = self._history.fork_branch(
            self.branch_id,
            at_revision=at_revision,
            up_to=up_to,
            new_ids=new_ids,
            branch_id=branch_id,
            external_key=external_key,
            metadata=metadata,
            request_id=request_id,
        )
        return Branch(self._history, record.branch_id)

    def messages(
        self,
        *,
        kinds: Iterable[Kind] = (),
        descending: bool = False,
        page_size: int = 0,
        at_revision: int | None = None,
    ) -> Iterator[Message]:
        """Yield messages of the full order, page by page, all true at the first page's revision."""
        return iterate(self._transport, _pages(self._core, kinds, descending, page_size, at_revision))


class AsyncBranch(AsyncCompacting):
    """A branch over an asyncio client; make one with :meth:`create` or :meth:`open`."""

    def __init__(
        self,
        history: AsyncHistoryClient,
        branch_id: Id,
        *,
        on_message_added: Iterable[AsyncMessageCallback] = (),
    ) -> None:
        self._history = history
        self._core = Operations(branch_id, HistoryOperations())
        self._transport = history._transport
        self.on_message_added: list[AsyncMessageCallback] = list(on_message_added)
        """The callbacks; a change of the list holds from the next write on."""

    @classmethod
    async def create(
        cls,
        history: AsyncHistoryClient,
        *,
        branch_id: Id | None = None,
        external_key: str | None = None,
        parent_branch_id: Id | None = None,
        metadata: Mapping[str, Any] | None = None,
        messages: MessageSource | None = None,
        progression: Iterable[Id] | None = None,
        system: System | None = None,
        on_message_added: Iterable[AsyncMessageCallback] = (),
        request_id: Id | None = None,
    ) -> AsyncBranch:
        """Make a new branch, empty or holding messages; as :meth:`Branch.create`."""
        created = create_with(
            HistoryOperations(),
            initial_messages(messages, progression, system),
            branch_id=branch_id,
            external_key=external_key,
            parent_branch_id=parent_branch_id,
            metadata=metadata,
            request_id=request_id,
        )
        record = await history._transport.run(created)
        return cls(history, record.branch_id, on_message_added=on_message_added)

    @classmethod
    async def open(
        cls,
        history: AsyncHistoryClient,
        branch_id: Id | None = None,
        *,
        external_key: str | None = None,
        on_message_added: Iterable[AsyncMessageCallback] = (),
    ) -> AsyncBranch:
        """Open a branch by its id or its external key; as :meth:`Branch.open`."""
        _check_one(branch_id, external_key)
        if external_key is not None:
            found = _found(await history.find_branch(external_key), external_key)
        else:
            found = (await history.get_branch(branch_uuid(str(branch_id)))).branch_id
        return cls(history, found, on_message_added=on_message_added)

    @property
    def branch_id(self) -> UUID:
        """The branch's id."""
        return self._core.branch_id

    record = async_method(Operations.record)
    update_metadata = async_method(Operations.update_metadata)
    delete = async_method(Operations.delete)
    trim = async_method(Operations.trim)
    add = async_observed_method(Operations.add)
    add_message = async_observed_method(Operations.add_message)
    respond = async_observed_method(Operations.respond)
    set_system = async_observed_method(Operations.set_system)
    system = async_method(Operations.system)
    remove = async_method(Operations.remove)
    move = async_method(Operations.move)
    clear = async_method(Operations.clear)
    select_view = async_method(Operations.select_view)
    clear_view = async_method(Operations.clear_view)
    commit_compaction = async_method(Operations.commit_compaction)
    export = async_method(Operations.export)
    progression = async_method(Operations.progression)
    snapshot = async_method(Operations.snapshot)
    page = async_method(Operations.page)
    assistant_responses = async_method(Operations.assistant_responses)
    instructions = async_method(Operations.instructions)
    action_requests = async_method(Operations.action_requests)
    action_responses = async_method(Operations.action_responses)
    actions = async_method(Operations.actions)
    last_response = async_method(Operations.last_response)
    last_instruction = async_method(Operations.last_instruction)
    to_chat_msgs = async_method(Operations.to_chat_msgs)

    def watch(
        self, *, after: WatchToken | int = 0, follow: bool = True, on_lost: OnLost | None = None
    ) -> AsyncGenerator[Change]:
        """Yield every change of the branch, as :meth:`HistoryClient.watch_branch` does."""
        return watch_async(self._transport, self.branch_id, after, follow=follow, on_lost=on_lost)

    async def fork(
        self,
        *,
        at_revision: int | None = None,
        up_to: Id | None = None,
        new_ids: bool = False,
        branch_id: Id | None = None,
        external_key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        request_id: Id | None = None,
    ) -> AsyncBranch:
        """Make a fork; as :meth:`Branch.fork`."""
        record = await self._history.fork_branch(
            self.branch_id,
            at_revision=at_revision,
            up_to=up_to,
            new_ids=new_ids,
            branch_id=branch_id,
            external_key=external_key,
            metadata=metadata,
            request_id=request_id,
        )
        return AsyncBranch(self._history, record.branch_id)

    def messages(
        self,
        *,
        kinds: Iterable[Kind] = (),
        descending: bool = False,
        page_size: int = 0,
        at_revision: int | None = None,
    ) -> AsyncIterator[Message]:
        """Yield messages of the full order, page by page, all true at the first page's revision."""
        return iterate_async(self._transport, _pages(self._core, kinds, descending, page_size, at_revision))


def _check_one(branch_id: Id | None, external_key: str | None) -> None:
    if (branch_id is None) == (external_key is None):
        raise ValueError("name the branch by its id or by its external key, one of them")


def _found(record: BranchRecord | None, external_key: str) -> UUID:
    if record is None:
        raise BranchNotFoundError(f"no branch has the external key {external_key!r}")
    return record.branch_id


def _pages(
    core: Operations, kinds: Iterable[Kind], descending: bool, page_size: int, at_revision: int | None
) -> Callable[[str], Steps[MessagePage]]:
    wanted = tuple(kinds)

    def page_at(token: str) -> Steps[MessagePage]:
        return core.page(
            kinds=wanted,
            descending=descending,
            page_size=page_size,
            page_token=token,
            at_revision=at_revision,
        )

    return page_at

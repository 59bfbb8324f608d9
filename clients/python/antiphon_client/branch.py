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
from antiphon_client.errors import BranchNotFoundError
from antiphon_client.history import AsyncHistoryClient, HistoryClient
from antiphon_client.history_operations import HistoryOperations
from antiphon_client.messages import Message, System
from antiphon_client.observers import (
    AsyncMessageCallback,
    AsyncObservedMethod,
    MessageCallback,
    ObservedMethod,
)
from antiphon_client.piles import MessageSource, create_with, initial_messages
from antiphon_client.records import BranchRecord, MessagePage
from antiphon_client.rpc import AsyncMethod, Steps, SyncMethod, iterate, iterate_async
from antiphon_client.watching import Change, WatchToken, watch, watch_async
from antiphon_client.wire_values import Id, Kind


class Branch:
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

        Raises:
            ValueError: ``system`` is no System, or ``messages`` or
                ``progression`` breaks a rule; nothing is made.
            BranchExistsError: The id or key is taken.
        """
        created = create_with(
            HistoryOperations(),
            initial_messages(messages, progression, system),
            branch_id=branch_id,
            external_key=external_key,
            parent_branch_id=parent_branch_id,
            metadata=metadata,
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
        """Open a branch by its id or its external key; raises BranchNotFoundError if there is none."""
        _check_one(branch_id, external_key)
        if external_key is not None:
            found = _found(history.find_branch(external_key), external_key)
        else:
            found = history.get_branch(str(branch_id)).branch_id
        return cls(history, found, on_message_added=on_message_added)

    @property
    def branch_id(self) -> UUID:
        """The branch's id."""
        return self._core.branch_id

    record = SyncMethod(Operations.record)
    update_metadata = SyncMethod(Operations.update_metadata)
    delete = SyncMethod(Operations.delete)
    trim = SyncMethod(Operations.trim)
    add = ObservedMethod(Operations.add)
    add_message = ObservedMethod(Operations.add_message)
    respond = ObservedMethod(Operations.respond)
    set_system = ObservedMethod(Operations.set_system)
    system = SyncMethod(Operations.system)
    remove = SyncMethod(Operations.remove)
    move = SyncMethod(Operations.move)
    clear = SyncMethod(Operations.clear)
    select_view = SyncMethod(Operations.select_view)
    clear_view = SyncMethod(Operations.clear_view)
    export = SyncMethod(Operations.export)
    progression = SyncMethod(Operations.progression)
    snapshot = SyncMethod(Operations.snapshot)
    page = SyncMethod(Operations.page)
    assistant_responses = SyncMethod(Operations.assistant_responses)
    instructions = SyncMethod(Operations.instructions)
    action_requests = SyncMethod(Operations.action_requests)
    action_responses = SyncMethod(Operations.action_responses)
    actions = SyncMethod(Operations.actions)
    last_response = SyncMethod(Operations.last_response)
    last_instruction = SyncMethod(Operations.last_instruction)
    to_chat_msgs = SyncMethod(Operations.to_chat_msgs)

    def watch(self, *, after: WatchToken | int = 0, follow: bool = True) -> Generator[Change]:
        """Yield every change of the branch, as :meth:`HistoryClient.watch_branch` does."""
        return watch(self._transport, self.branch_id, after, follow=follow)

    def fork(
        self,
        *,
        at_revision: int | None = None,
        up_to: Id | None = None,
        new_ids: bool = False,
        branch_id: Id | None = None,
        external_key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
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


class AsyncBranch:
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
    ) -> AsyncBranch:
        """Make a new branch, empty or holding messages; as :meth:`Branch.create`."""
        created = create_with(
            HistoryOperations(),
            initial_messages(messages, progression, system),
            branch_id=branch_id,
            external_key=external_key,
            parent_branch_id=parent_branch_id,
            metadata=metadata,
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
        """Open a branch by its id or its external key; raises BranchNotFoundError if there is none."""
        _check_one(branch_id, external_key)
        if external_key is not None:
            found = _found(await history.find_branch(external_key), external_key)
        else:
            found = (await history.get_branch(str(branch_id))).branch_id
        return cls(history, found, on_message_added=on_message_added)

    @property
    def branch_id(self) -> UUID:
        """The branch's id."""
        return self._core.branch_id

    record = AsyncMethod(Operations.record)
    update_metadata = AsyncMethod(Operations.update_metadata)
    delete = AsyncMethod(Operations.delete)
    trim = AsyncMethod(Operations.trim)
    add = AsyncObservedMethod(Operations.add)
    add_message = AsyncObservedMethod(Operations.add_message)
    respond = AsyncObservedMethod(Operations.respond)
    set_system = AsyncObservedMethod(Operations.set_system)
    system = AsyncMethod(Operations.system)
    remove = AsyncMethod(Operations.remove)
    move = AsyncMethod(Operations.move)
    clear = AsyncMethod(Operations.clear)
    select_view = AsyncMethod(Operations.select_view)
    clear_view = AsyncMethod(Operations.clear_view)
    export = AsyncMethod(Operations.export)
    progression = AsyncMethod(Operations.progression)
    snapshot = AsyncMethod(Operations.snapshot)
    page = AsyncMethod(Operations.page)
    assistant_responses = AsyncMethod(Operations.assistant_responses)
    instructions = AsyncMethod(Operations.instructions)
    action_requests = AsyncMethod(Operations.action_requests)
    action_responses = AsyncMethod(Operations.action_responses)
    actions = AsyncMethod(Operations.actions)
    last_response = AsyncMethod(Operations.last_response)
    last_instruction = AsyncMethod(Operations.last_instruction)
    to_chat_msgs = AsyncMethod(Operations.to_chat_msgs)

    def watch(self, *, after: WatchToken | int = 0, follow: bool = True) -> AsyncGenerator[Change]:
        """Yield every change of the branch, as :meth:`HistoryClient.watch_branch` does."""
        return watch_async(self._transport, self.branch_id, after, follow=follow)

    async def fork(
        self,
        *,
        at_revision: int | None = None,
        up_to: Id | None = None,
        new_ids: bool = False,
        branch_id: Id | None = None,
        external_key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
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

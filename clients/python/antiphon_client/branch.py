"""One branch as an object: its messages, its order, its view (ADR-0006 D3).

A branch object holds no messages: every method asks the history service, and
is the operation of the same name in
:class:`~antiphon_client.branch_operations.BranchOperations`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID

from antiphon_client.branch_operations import BranchOperations as Operations
from antiphon_client.errors import BranchNotFoundError
from antiphon_client.history import AsyncHistoryClient, HistoryClient
from antiphon_client.history_operations import HistoryOperations
from antiphon_client.messages import Message
from antiphon_client.records import BranchRecord, MessagePage
from antiphon_client.rpc import AsyncMethod, Steps, SyncMethod, iterate, iterate_async
from antiphon_client.wire_values import Id, Kind


class Branch:
    """A branch over a blocking client; make one with :meth:`create` or :meth:`open`."""

    def __init__(self, history: HistoryClient, branch_id: Id) -> None:
        self._core = Operations(branch_id, HistoryOperations())
        self._transport = history._transport

    @classmethod
    def create(
        cls,
        history: HistoryClient,
        *,
        branch_id: Id | None = None,
        external_key: str | None = None,
        parent_branch_id: Id | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Branch:
        """Make a new, empty branch; raises BranchExistsError if the id or key is taken."""
        record = history.create_branch(
            branch_id=branch_id,
            external_key=external_key,
            parent_branch_id=parent_branch_id,
            metadata=metadata,
        )
        return cls(history, record.branch_id)

    @classmethod
    def open(
        cls, history: HistoryClient, branch_id: Id | None = None, *, external_key: str | None = None
    ) -> Branch:
        """Open a branch by its id or its external key; raises BranchNotFoundError if there is none."""
        _check_one(branch_id, external_key)
        if external_key is not None:
            return cls(history, _found(history.find_branch(external_key), external_key))
        return cls(history, history.get_branch(str(branch_id)).branch_id)

    @property
    def branch_id(self) -> UUID:
        """The branch's id."""
        return self._core.branch_id

    record = SyncMethod(Operations.record)
    update_metadata = SyncMethod(Operations.update_metadata)
    delete = SyncMethod(Operations.delete)
    add = SyncMethod(Operations.add)
    add_message = SyncMethod(Operations.add_message)
    respond = SyncMethod(Operations.respond)
    set_system = SyncMethod(Operations.set_system)
    system = SyncMethod(Operations.system)
    remove = SyncMethod(Operations.remove)
    move = SyncMethod(Operations.move)
    clear = SyncMethod(Operations.clear)
    select_view = SyncMethod(Operations.select_view)
    clear_view = SyncMethod(Operations.clear_view)
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

    def __init__(self, history: AsyncHistoryClient, branch_id: Id) -> None:
        self._core = Operations(branch_id, HistoryOperations())
        self._transport = history._transport

    @classmethod
    async def create(
        cls,
        history: AsyncHistoryClient,
        *,
        branch_id: Id | None = None,
        external_key: str | None = None,
        parent_branch_id: Id | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> AsyncBranch:
        """Make a new, empty branch; raises BranchExistsError if the id or key is taken."""
        record = await history.create_branch(
            branch_id=branch_id,
            external_key=external_key,
            parent_branch_id=parent_branch_id,
            metadata=metadata,
        )
        return cls(history, record.branch_id)

    @classmethod
    async def open(
        cls, history: AsyncHistoryClient, branch_id: Id | None = None, *, external_key: str | None = None
    ) -> AsyncBranch:
        """Open a branch by its id or its external key; raises BranchNotFoundError if there is none."""
        _check_one(branch_id, external_key)
        if external_key is not None:
            return cls(history, _found(await history.find_branch(external_key), external_key))
        return cls(history, (await history.get_branch(str(branch_id))).branch_id)

    @property
    def branch_id(self) -> UUID:
        """The branch's id."""
        return self._core.branch_id

    record = AsyncMethod(Operations.record)
    update_metadata = AsyncMethod(Operations.update_metadata)
    delete = AsyncMethod(Operations.delete)
    add = AsyncMethod(Operations.add)
    add_message = AsyncMethod(Operations.add_message)
    respond = AsyncMethod(Operations.respond)
    set_system = AsyncMethod(Operations.set_system)
    system = AsyncMethod(Operations.system)
    remove = AsyncMethod(Operations.remove)
    move = AsyncMethod(Operations.move)
    clear = AsyncMethod(Operations.clear)
    select_view = AsyncMethod(Operations.select_view)
    clear_view = AsyncMethod(Operations.clear_view)
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

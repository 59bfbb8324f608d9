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
from antiphon_client.rpc import Steps, async_method, iterate, iterate_async, sync_method
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

    record = sync_method(Operations.record)
    update_metadata = sync_method(Operations.update_metadata)
    delete = sync_method(Operations.delete)
    add = sync_method(Operations.add)
    add_message = sync_method(Operations.add_message)
    respond = sync_method(Operations.respond)
    set_system = sync_method(Operations.set_system)
    system = sync_method(Operations.system)
    remove = sync_method(Operations.remove)
    move = sync_method(Operations.move)
    clear = sync_method(Operations.clear)
    select_view = sync_method(Operations.select_view)
    clear_view = sync_method(Operations.clear_view)
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

    record = async_method(Operations.record)
    update_metadata = async_method(Operations.update_metadata)
    delete = async_method(Operations.delete)
    add = async_method(Operations.add)
    add_message = async_method(Operations.add_message)
    respond = async_method(Operations.respond)
    set_system = async_method(Operations.set_system)
    system = async_method(Operations.system)
    remove = async_method(Operations.remove)
    move = async_method(Operations.move)
    clear = async_method(Operations.clear)
    select_view = async_method(Operations.select_view)
    clear_view = async_method(Operations.clear_view)
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

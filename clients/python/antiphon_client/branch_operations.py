"""What can be done with one branch (ADR-0006 D3), written once for both kinds of client."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, Unpack
from uuid import UUID

from antiphon_client.branch_transfer import FileTarget, Progress
from antiphon_client.errors import FieldInvalidError, ProgressionInvalidError
from antiphon_client.factory import (
    MessageFields,
    build_message,
    check_answer_fields,
    check_one_kind,
    is_answer,
    updated_response,
)
from antiphon_client.history_operations import HistoryOperations
from antiphon_client.messages import (
    ActionRequest,
    ActionResponse,
    AssistantResponse,
    Instruction,
    Message,
    System,
)
from antiphon_client.records import BranchRecord, MessagePage, SnapshotRecord, Written
from antiphon_client.rpc import Steps
from antiphon_client.wire_values import AnyMessage, Id, Kind

MessageT = TypeVar("MessageT", bound=Message)

PAGE = 1000
"""Messages asked for in one page of a whole list."""

INVALID_PROGRESSION = "One or more messages in the requested progression are invalid."


class BranchOperations:
    """Operations of one branch. Each write is one revision; ``expected_revision`` guards it.

    Reads take ``at_revision``. Every operation may raise BranchNotFoundError or
    BranchDeletedError.
    """

    def __init__(self, branch_id: Id, history: HistoryOperations) -> None:
        self.branch_id = UUID(str(branch_id))
        self._history = history

    def record(self, *, at_revision: int | None = None) -> Steps[BranchRecord]:
        """Read what the branch is: revision, metadata, counts."""
        return self._history.get_branch(self.branch_id, at_revision=at_revision)

    def update_metadata(
        self, metadata: Mapping[str, Any], *, expected_revision: int | None = None
    ) -> Steps[Written]:
        """Replace the branch's metadata; ``current_progression`` is reserved (ReservedKeyError)."""
        return self._history.update_branch(self.branch_id, metadata, expected_revision=expected_revision)

    def delete(self, *, purge: bool = False, expected_revision: int | None = None) -> Steps[Written]:
        """Delete the branch for good; with ``purge`` erase at once what no fork shares."""
        return self._history.delete_branch(self.branch_id, purge=purge, expected_revision=expected_revision)

    def trim(self, before_revision: int) -> Steps[int]:
        """Drop the revisions before one; return the oldest that can be read, as ``trim_history`` does."""
        return self._history.trim_history(self.branch_id, before_revision)

    def add(
        self,
        messages: AnyMessage | Iterable[AnyMessage],
        *,
        allow_unresolved: bool = False,
        expected_revision: int | None = None,
        request_id: str | None = None,
    ) -> Steps[Written]:
        """Add or replace one message or many, all or none; raises as ``HistoryClient.add_messages``."""
        batch = list(messages) if isinstance(messages, Iterable) else [messages]
        return self._history.add_messages(
            self.branch_id,
            batch,
            allow_unresolved=allow_unresolved,
            expected_revision=expected_revision,
            request_id=request_id,
        )

    def add_message(
        self, *, expected_revision: int | None = None, **fields: Unpack[MessageFields]
    ) -> Steps[Message]:
        """Build one message from its fields, add it, and return it as it is stored.

        Which fields are given decides the kind: ``instruction`` (with
        ``context``, ``guidance``, ``images``, ...), ``assistant_response``,
        ``system``, ``action_request`` or ``action_function`` with
        ``action_arguments``, or ``action_output`` together with the
        ``action_request`` it answers. Falsy outputs are outputs. An
        ``action_response`` made before is added as it is, with the output given
        beside it; the service links it to the request it names.

        Raises:
            ValueError: Several kinds are given, or an output without its request.
        """
        check_one_kind(fields)
        if is_answer(fields):
            written = yield from self._add_output(fields, expected_revision)
        else:
            message = build_message(fields)
            written = yield from self.add(message, expected_revision=expected_revision)
        stored = yield from self._history.get_messages(
            self.branch_id, written.message_ids, at_revision=written.revision
        )
        return stored[0]

    def respond(
        self,
        action_request: ActionRequest | Id,
        *,
        output: Any = None,
        error: str | None = None,
        interim: bool = False,
        message_id: Id | None = None,
        metadata: Mapping[str, Any] | None = None,
        expected_revision: int | None = None,
        request_id: str | None = None,
    ) -> Steps[Written]:
        """Answer an action request, with its output or the error it failed with.

        Raises:
            ValueError: Both an output and an error are given.
            ActionRequestUnknownError: There is no such request in the branch.
            ActionAlreadyAnsweredError: It has its final response.
        """
        return self._history.respond_to_action(
            self.branch_id,
            action_request.id if isinstance(action_request, ActionRequest) else action_request,
            output=output,
            error=error,
            interim=interim,
            message_id=message_id,
            metadata=metadata,
            expected_revision=expected_revision,
            request_id=request_id,
        )

    def set_system(
        self, system: System | str, *, expected_revision: int | None = None, request_id: str | None = None
    ) -> Steps[Written]:
        """Make a text or a System the one system record, at index 0; a former one is gone.

        The record keeps its routing, its time and its metadata, which SetSystem
        would not carry all of; AddMessages treats a system record the same way.
        """
        record = System.create(system) if isinstance(system, str) else system
        return self.add(record, expected_revision=expected_revision, request_id=request_id)

    def system(self, *, at_revision: int | None = None) -> Steps[System | None]:
        """Read the system record; None if there is none."""
        return self._history.read_system(self.branch_id, at_revision=at_revision)

    def remove(
        self, message_ids: Id | Iterable[Id], *, expected_revision: int | None = None
    ) -> Steps[Written]:
        """Remove one message or many, all or none; raises MessageNotFoundError, SystemRecordFixedError."""
        ids = [message_ids] if isinstance(message_ids, (UUID, str)) else message_ids
        return self._history.remove_messages(self.branch_id, ids, expected_revision=expected_revision)

    def move(self, message_id: Id, index: int, *, expected_revision: int | None = None) -> Steps[Written]:
        """Move a message to another index; raises MessageNotFoundError, SystemRecordFixedError."""
        return self._history.move_message(
            self.branch_id, message_id, index, expected_revision=expected_revision
        )

    def clear(self, *, expected_revision: int | None = None) -> Steps[Written]:
        """Remove every message but the system record."""
        return self._history.clear_messages(self.branch_id, expected_revision=expected_revision)

    def select_view(
        self, message_ids: Iterable[Id], *, expected_revision: int | None = None
    ) -> Steps[Written]:
        """Select an ordered subset as the view; raises ProgressionInvalidError listing what is wrong."""
        return self._history.select_view(self.branch_id, message_ids, expected_revision=expected_revision)

    def clear_view(self, *, expected_revision: int | None = None) -> Steps[Written]:
        """Return to the full order."""
        return self._history.clear_view(self.branch_id, expected_revision=expected_revision)

    def export(
        self, target: FileTarget, *, at_revision: int | None = None, progress: Progress | None = None
    ) -> Steps[int]:
        """Write the branch to a file, as ``HistoryClient.export_branch`` does; return its size in bytes."""
        return self._history.export_branch(self.branch_id, target, at_revision=at_revision, progress=progress)

    def progression(self, *, at_revision: int | None = None) -> Steps[tuple[UUID, ...]]:
        """Read the ids of the selected view, else of the full order. Cost: the ids, not the messages."""
        return self._history.read_order(self.branch_id, at_revision=at_revision)

    def snapshot(
        self, *, progression: Iterable[Id] | None = None, at_revision: int | None = None
    ) -> Steps[SnapshotRecord]:
        """Read a selection whole at one revision, without one the view, else the full order."""
        return self._history.read_snapshot(self.branch_id, progression=progression, at_revision=at_revision)

    def page(
        self,
        *,
        kinds: Iterable[Kind] = (),
        descending: bool = False,
        page_size: int = PAGE,
        page_token: str = "",
        at_revision: int | None = None,
    ) -> Steps[MessagePage]:
        """Read one page of the full order, or of some kinds."""
        return self._history.list_messages(
            self.branch_id,
            kinds=tuple(kinds),
            descending=descending,
            page_size=page_size,
            page_token=page_token,
            at_revision=at_revision,
        )

    def assistant_responses(self, *, at_revision: int | None = None) -> Steps[list[AssistantResponse]]:
        """Read every assistant response, in order."""
        return self._all_of(AssistantResponse, ("assistant_response",), at_revision)

    def instructions(self, *, at_revision: int | None = None) -> Steps[list[Instruction]]:
        """Read every instruction, in order."""
        return self._all_of(Instruction, ("instruction",), at_revision)

    def action_requests(self, *, at_revision: int | None = None) -> Steps[list[ActionRequest]]:
        """Read every action request, in order."""
        return self._all_of(ActionRequest, ("action_request",), at_revision)

    def action_responses(self, *, at_revision: int | None = None) -> Steps[list[ActionResponse]]:
        """Read every action response, in order."""
        return self._all_of(ActionResponse, ("action_response",), at_revision)

    def actions(self, *, at_revision: int | None = None) -> Steps[list[Message]]:
        """Read every action request and response, in order."""
        return self._all_of(Message, ("action_request", "action_response"), at_revision)

    def last_response(self, *, at_revision: int | None = None) -> Steps[AssistantResponse | None]:
        """Read the last assistant response; None if there is none. Cost: constant."""
        return self._last_of(AssistantResponse, "assistant_response", at_revision)

    def last_instruction(self, *, at_revision: int | None = None) -> Steps[Instruction | None]:
        """Read the last instruction; None if there is none. Cost: constant."""
        return self._last_of(Instruction, "instruction", at_revision)

    def to_chat_msgs(
        self, progression: Iterable[Id] | None = None, *, at_revision: int | None = None
    ) -> Steps[list[dict[str, Any] | None]]:
        """Project messages as they are, each through its ``chat_msg``: nothing folded or filtered.

        Without a progression it is the full order; an empty one gives an empty
        list. An id may stand in it twice. A message whose rendering fails gives None.

        Raises:
            ValueError: An id is not in the branch, or no UUID.
        """
        if progression is None:
            messages = yield from self._all_of(Message, (), at_revision)
            return [message.chat_msg for message in messages]
        wanted = [str(message_id) for message_id in progression]
        if not wanted:
            return []
        try:
            snapshot = yield from self.snapshot(progression=dict.fromkeys(wanted), at_revision=at_revision)
        except (ProgressionInvalidError, FieldInvalidError) as error:
            raise ValueError(INVALID_PROGRESSION) from error
        found = {str(message.id): message for message in snapshot.messages}
        return [found[message_id].chat_msg for message_id in wanted]

    def _add_output(self, fields: MessageFields, expected_revision: int | None) -> Steps[Written]:
        if fields.get("action_response") is not None:
            return self.add(updated_response(fields), expected_revision=expected_revision)
        request = fields.get("action_request")
        if not isinstance(request, (ActionRequest, UUID, str)):
            raise ValueError("action_output needs the action_request that it answers")
        check_answer_fields(fields, {"metadata"})
        return self.respond(
            request,
            output=fields.get("action_output"),
            metadata=fields.get("metadata"),
            expected_revision=expected_revision,
        )

    def _all_of(
        self, kind: type[MessageT], kinds: tuple[Kind, ...], at_revision: int | None
    ) -> Steps[list[MessageT]]:
        found: list[MessageT] = []
        token = ""
        while True:
            page = yield from self.page(kinds=kinds, page_token=token, at_revision=at_revision)
            found.extend(message for message in page.items if isinstance(message, kind))
            token = page.next_page_token
            if not token:
                return found

    def _last_of(self, kind: type[MessageT], name: Kind, at_revision: int | None) -> Steps[MessageT | None]:
        page = yield from self.page(kinds=(name,), descending=True, page_size=1, at_revision=at_revision)
        return next((message for message in page.items if isinstance(message, kind)), None)

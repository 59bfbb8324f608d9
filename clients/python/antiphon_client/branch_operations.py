"""What can be done with one branch (ADR-0006 D3), written once for both kinds of client."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack
from uuid import UUID

from antiphon.message.v1 import message_pb2
from antiphon_client.action_draft import copy_call
from antiphon_client.branch_reads import BranchReads
from antiphon_client.factory import (
    MessageFields,
    build_message,
    check_answer_fields,
    check_one_kind,
    is_answer,
    updated_response,
)
from antiphon_client.ids import derived_request_id
from antiphon_client.messages import (
    ActionRequest,
    Block,
    Message,
    Summary,
    System,
    to_proto,
)
from antiphon_client.records import Written
from antiphon_client.rpc import Steps
from antiphon_client.stored_messages import stored_messages
from antiphon_client.wire_values import AnyMessage, Id, given_request_id

CHANGING_TIME = "system_datetime=True is another time at each call; with a request_id, give the time itself"


class BranchOperations(BranchReads):
    """Operations of one branch. Each write is one revision.

    ``expected_revision`` guards a write, ``request_id`` makes it safe to send
    again, both as in ``HistoryClient``. Every operation may raise
    BranchNotFoundError or BranchDeletedError.
    """

    def update_metadata(
        self,
        metadata: Mapping[str, Any],
        *,
        expected_revision: int | None = None,
        request_id: Id | None = None,
    ) -> Steps[Written]:
        """Replace the branch's metadata; ``current_progression`` is reserved (ReservedKeyError)."""
        return self._history.update_branch(
            self.branch_id, metadata, expected_revision=expected_revision, request_id=request_id
        )

    def delete(
        self, *, purge: bool = False, expected_revision: int | None = None, request_id: Id | None = None
    ) -> Steps[Written]:
        """Delete the branch for good; with ``purge`` erase at once what no fork shares."""
        return self._history.delete_branch(
            self.branch_id, purge=purge, expected_revision=expected_revision, request_id=request_id
        )

    def trim(self, before_revision: int) -> Steps[int]:
        """Drop the revisions before one; return the oldest that can be read, as ``trim_history`` does."""
        return self._history.trim_history(self.branch_id, before_revision)

    def add(
        self,
        messages: AnyMessage | Iterable[AnyMessage],
        *,
        allow_unresolved: bool = False,
        expected_revision: int | None = None,
        request_id: Id | None = None,
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
        self,
        *,
        expected_revision: int | None = None,
        request_id: Id | None = None,
        **fields: Unpack[MessageFields],
    ) -> Steps[Message]:
        """Build one message from its fields, add it, and return it as it is stored.

        Which fields are given decides the kind: ``instruction`` (with
        ``context``, ``guidance``, ``images``, ...), ``assistant_response``,
        ``system``, ``action_request`` or ``action_function`` with
        ``action_arguments``, or ``action_output`` together with the
        ``action_request`` it answers. Falsy outputs are outputs. An
        ``action_response`` made before is added as it is, with the output given
        beside it; the service links it to the request it names.

        With a ``request_id`` a message made here gets an id that follows from
        it, and its time from the service, so that the same call repeated is the
        same request. ``system_datetime=True`` would make it another request
        with the next minute, so it takes a time instead: a text or a datetime.

        Raises:
            ValueError: Several kinds are given, an output without its request,
                or ``system_datetime=True`` with a ``request_id``.
        """
        check_one_kind(fields)
        if fields.get("system_datetime") is True and given_request_id(request_id) is not None:
            raise ValueError(CHANGING_TIME)
        if is_answer(fields):
            written = yield from self._add_output(fields, expected_revision, request_id)
        else:
            made = build_message(fields)
            is_given = any(value is made for value in fields.values())
            message = made if is_given else _repeatable(made, request_id)
            written = yield from self.add(message, expected_revision=expected_revision, request_id=request_id)

        def read(message_ids: Sequence[UUID], at_revision: int) -> Steps[Sequence[Message]]:
            return self._history.get_messages(self.branch_id, message_ids, at_revision=at_revision)

        stored = yield from stored_messages(written, read)
        return stored[0]

    def respond(
        self,
        action_request: ActionRequest | Id,
        *,
        output: Any = None,
        error: str | None = None,
        interim: bool = False,
        blocks: Iterable[Block] = (),
        message_id: Id | None = None,
        metadata: Mapping[str, Any] | None = None,
        expected_revision: int | None = None,
        request_id: Id | None = None,
    ) -> Steps[Written]:
        """Answer an action request, with its output or the error it failed with; ``blocks`` go beside it.

        Raises:
            ValueError: Both an output and an error are given.
            ActionRequestUnknownError: There is no such request in the branch.
            ActionAlreadyAnsweredError: It has its final response.
        """
        call = to_proto(action_request) if isinstance(action_request, ActionRequest) else None
        written = yield from self._history.respond_to_action(
            self.branch_id,
            call.id if call is not None else str(action_request),
            output=output,
            error=error,
            interim=interim,
            blocks=blocks,
            message_id=message_id,
            metadata=metadata,
            expected_revision=expected_revision,
            request_id=request_id,
        )
        if call is None:
            return written
        response = message_pb2.Message()
        response.CopyFrom(written.sent[0])
        copy_call(call.action_request, response.action_response)
        return replace(written, sent=(response,))

    def set_system(
        self, system: System | str, *, expected_revision: int | None = None, request_id: Id | None = None
    ) -> Steps[Written]:
        """Make a text or a System the one system record, at index 0; a former one is gone.

        The record keeps its routing, its time and its metadata, which SetSystem
        would not carry all of; AddMessages treats a system record the same way.
        A text's record gets its id and its time as in :meth:`add_message`.
        """
        record = _repeatable(System.create(system), request_id) if isinstance(system, str) else system
        return self.add(record, expected_revision=expected_revision, request_id=request_id)

    def remove(
        self,
        message_ids: Id | Iterable[Id],
        *,
        expected_revision: int | None = None,
        request_id: Id | None = None,
    ) -> Steps[Written]:
        """Remove one message or many, all or none; raises MessageNotFoundError, SystemRecordFixedError."""
        ids = [message_ids] if isinstance(message_ids, (UUID, str)) else message_ids
        return self._history.remove_messages(
            self.branch_id, ids, expected_revision=expected_revision, request_id=request_id
        )

    def move(
        self,
        message_id: Id,
        index: int,
        *,
        expected_revision: int | None = None,
        request_id: Id | None = None,
    ) -> Steps[Written]:
        """Move a message to another index; raises MessageNotFoundError, SystemRecordFixedError."""
        return self._history.move_message(
            self.branch_id, message_id, index, expected_revision=expected_revision, request_id=request_id
        )

    def clear(self, *, expected_revision: int | None = None, request_id: Id | None = None) -> Steps[Written]:
        """Remove every message but the system record."""
        return self._history.clear_messages(
            self.branch_id, expected_revision=expected_revision, request_id=request_id
        )

    def select_view(
        self,
        message_ids: Iterable[Id],
        *,
        expected_revision: int | None = None,
        request_id: Id | None = None,
    ) -> Steps[Written]:
        """Select an ordered subset as the view; raises ProgressionInvalidError listing what is wrong."""
        return self._history.select_view(
            self.branch_id, message_ids, expected_revision=expected_revision, request_id=request_id
        )

    def clear_view(
        self, *, expected_revision: int | None = None, request_id: Id | None = None
    ) -> Steps[Written]:
        """Return to the full order."""
        return self._history.clear_view(
            self.branch_id, expected_revision=expected_revision, request_id=request_id
        )

    def commit_compaction(
        self,
        summary: Summary | str,
        *,
        first_id: Id | None = None,
        last_id: Id | None = None,
        kept: Iterable[Id] = (),
        message_id: Id | None = None,
        planned_revision: int | None = None,
        expected_revision: int | None = None,
        request_id: Id | None = None,
    ) -> Steps[Written]:
        """Put a summary in the place of a stretch; as ``HistoryClient.commit_compaction``."""
        return self._history.commit_compaction(
            self.branch_id,
            summary,
            first_id=first_id,
            last_id=last_id,
            kept=kept,
            message_id=message_id,
            planned_revision=planned_revision,
            expected_revision=expected_revision,
            request_id=request_id,
        )

    def _add_output(
        self, fields: MessageFields, expected_revision: int | None, request_id: Id | None
    ) -> Steps[Written]:
        if fields.get("action_response") is not None:
            response = updated_response(fields)
            return self.add(response, expected_revision=expected_revision, request_id=request_id)
        request = fields.get("action_request")
        if not isinstance(request, (ActionRequest, UUID, str)):
            raise ValueError("action_output needs the action_request that it answers")
        check_answer_fields(fields, {"metadata"})
        return self.respond(
            request,
            output=fields.get("action_output"),
            metadata=fields.get("metadata"),
            expected_revision=expected_revision,
            request_id=request_id,
        )


def _repeatable(message: Message, request_id: Id | None) -> AnyMessage:
    """Return a message made here without what would differ if it were made again for the same request."""
    key = given_request_id(request_id)
    if key is None:
        return message
    wire = to_proto(message)
    wire.id = derived_request_id(key, "message")
    wire.ClearField("created_at")
    return wire

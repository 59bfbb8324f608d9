"""Export of a branch as an OpenAI chat conversation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.errors import UnsupportedContentError
from antiphon_client.messages import Message, to_proto
from antiphon_client.messages.validation import kind_of
from antiphon_client.openai_chat.losses import ExportLoss, losses_of, reason_left_out
from antiphon_client.openai_chat.marks import AFTER, ORPHAN, POSITION, ROLE, read_marks
from antiphon_client.openai_chat.render import (
    FUNCTION_ROLE,
    assistant_message,
    call_id_of,
    function_call_among,
    made_call_id,
    summary_message,
    system_message,
    tool_message,
    unrecorded_tool_call,
    user_message,
)


@dataclass(frozen=True, slots=True)
class ExportedMessages:
    """An exported conversation, and what it does not say.

    Attributes:
        messages: The messages, as `export_messages` gives them.
        losses: What of the records has no place in them, in the records' order;
            none of an OpenAI conversation that was imported and is unchanged.
    """

    messages: list[dict[str, Any]]
    losses: tuple[ExportLoss, ...]


def export_with_losses(
    system: Message | pb.Message | None, messages: Iterable[Message | pb.Message]
) -> ExportedMessages:
    """Export as `export_messages` does, and tell what is lost; same arguments and errors."""
    records = list(map(_as_proto, messages))
    head = [] if system is None else [_as_proto(system)]
    others = [record for record in records if not head or record.id != head[0].id]
    losses = tuple(loss for record in (*head, *others) for loss in losses_of(record))
    return ExportedMessages(export_messages(system, records), losses)


def export_messages(
    system: Message | pb.Message | None, messages: Iterable[Message | pb.Message]
) -> list[dict[str, Any]]:
    """Return a branch's records as an OpenAI chat ``messages`` array.

    An imported conversation comes back JSON-equal, also after the history
    service has stored it. Records written otherwise are mapped like this:

    ==================  =========================================================
    record              message
    ==================  =========================================================
    system              first message, role system
    instruction         role user: its text; its blocks as parts; else, with
                        guidance, context or images, its structured rendering
    assistant response  role assistant; the action requests right after it are
                        its ``tool_calls``
    action request      without a turn before it: an assistant message with
                        content null; no provider id: ``call_`` and its own id;
                        one imported as a ``function_call`` is that again
    summary             role user: its text under the line that marks a summary
    action response     role tool, under the id of its call; a failure is the
                        text "error: ..."; where its call is not among the
                        records, an assistant message with the call precedes it
    ==================  =========================================================

    Generic records, interim responses and records with status EXCLUDED are no
    part of the conversation, and reasoning, signatures, flags of failures and
    parts of other providers have no place in it: `export_with_losses` tells of
    each. Order is the records' order: a call that was never
    answered stays unanswered.

    Args:
        system: The branch's system record; None takes the first one among ``messages``.
        messages: Typed messages or wire records, in order.

    Raises:
        UnsupportedContentError: A record is of a kind this code does not know.
    """
    records = [record for record in map(_as_proto, messages) if reason_left_out(record) is None]
    if system is not None:
        given = _as_proto(system)
        head = given if reason_left_out(given) is None else None
    else:
        head = next((record for record in records if kind_of(record) == "system"), None)
    exported = _Walk(records).run()
    if head is not None:
        exported.insert(_system_index(head, records), system_message(head))
    return exported


def _system_index(head: pb.Message, records: Sequence[pb.Message]) -> int:
    """Return where the system message stands: in its place while all that was before it is there."""
    marks = read_marks(head)
    position = marks.get(POSITION)
    ids = [record.id for record in records]
    if not isinstance(position, int) or position <= 0 or marks.get(AFTER) not in ids:
        return 0
    before = _Walk(list(records[: ids.index(marks[AFTER]) + 1])).run()
    return position if len(before) == position else 0


def _as_proto(message: Message | pb.Message) -> pb.Message:
    return message if isinstance(message, pb.Message) else to_proto(message)


class _Walk:
    """One pass over the records."""

    def __init__(self, records: list[pb.Message]) -> None:
        self._records = [record for record in records if kind_of(record) != "system"]
        self._requests = {
            record.id: record for record in self._records if kind_of(record) == "action_request"
        }
        self._exported: list[dict[str, Any]] = []
        # How many calls with an id were exported and wait for their result.
        self._open_calls: Counter[str] = Counter()
        # Ids of the calls that were exported in the form without one.
        self._function_calls: set[str] = set()

    def run(self) -> list[dict[str, Any]]:
        """Return the messages."""
        index = 0
        while index < len(self._records):
            record = self._records[index]
            kind = kind_of(record)
            index += 1
            if kind == "instruction":
                self._exported.append(user_message(record))
            elif kind == "summary":
                self._exported.append(summary_message(record))
            elif kind == "assistant_response":
                index = self._turn(record, index)
            elif kind == "action_request":
                index = self._turn(None, index - 1)
            elif kind == "action_response":
                self._result(record)
            else:
                raise UnsupportedContentError(f"message {record.id} is of a kind this client does not know")
        return self._exported

    def _turn(self, record: pb.Message | None, start: int) -> int:
        """Export a turn with the calls that begin at ``start``; return where they end."""
        end = start
        while end < len(self._records) and kind_of(self._records[end]) == "action_request":
            end += 1
        calls = self._records[start:end]
        self._open_calls.update(map(call_id_of, calls))
        function = function_call_among(calls)
        if function is not None:
            self._function_calls.add(call_id_of(function))
        self._exported.append(assistant_message(record, calls))
        return end

    def _result(self, record: pb.Message) -> None:
        call_id = self._call_id(record)
        marks = read_marks(record)
        is_orphan = bool(marks.get(ORPHAN))
        is_function = call_id in self._function_calls
        if self._open_calls[call_id]:
            self._open_calls[call_id] -= 1
        elif is_orphan:
            is_function = marks.get(ROLE) == FUNCTION_ROLE
        else:
            is_function = False
            message = assistant_message(None, ())
            message["tool_calls"] = [unrecorded_tool_call(record, call_id)]
            self._exported.append(message)
        self._exported.append(tool_message(record, None if is_function else call_id))

    def _call_id(self, record: pb.Message) -> str:
        response = record.action_response
        if response.HasField("provider_call_id"):
            return response.provider_call_id
        request = self._requests.get(response.action_request_id)
        if request is not None:
            return call_id_of(request)
        return made_call_id(response.action_request_id or record.id)

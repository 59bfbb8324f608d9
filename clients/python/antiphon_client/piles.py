"""Messages a branch is made with, in the forms that ADR-0006 D3 takes them.

A *pile* in its dictionary form holds ``collections``, a list of messages'
dictionary forms, and optionally their order: ``progression``, a list of ids or
``{"order": [ids]}``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias
from uuid import UUID

from antiphon.message.v1 import message_pb2
from antiphon_client.batching import batches
from antiphon_client.errors import AntiphonError, FieldInvalidError, Violation
from antiphon_client.history_operations import HistoryOperations
from antiphon_client.ids import derived_request_id
from antiphon_client.messages import Message, System
from antiphon_client.messages.validation import validate_message
from antiphon_client.records import BranchRecord
from antiphon_client.rpc import Steps
from antiphon_client.wire_values import AnyMessage, Id, given_request_id, wire_message

MessageSource: TypeAlias = Iterable[AnyMessage | Mapping[str, Any] | object] | Mapping[str, Any]
"""Messages, their dictionary forms, or both; or a pile's dictionary form."""

INVALID_ORDER = "The progression must name every message exactly once."
NOT_A_SYSTEM = "System message must be a System instance."
ONE_SYSTEM = "A branch has one system record, several are given."


def pile_to_dict(messages: Iterable[Message]) -> dict[str, Any]:
    """Return the dictionary form of messages in their order; `initial_messages` reads it back."""
    held = list(messages)
    return {
        "collections": [message.to_dict() for message in held],
        "progression": {"order": [str(message.id) for message in held]},
    }


def initial_messages(
    messages: MessageSource | None, progression: Iterable[Id] | None = None, system: System | None = None
) -> list[message_pb2.Message]:
    """Return the wire records that a new branch starts with, in order, checked.

    Args:
        messages: Dictionaries are reconstructed; entries that are no messages
            are ignored.
        progression: Their order, each id once; a pile's own order where absent.
        system: The system record; it stands for any among ``messages``.

    Raises:
        ValueError: ``system`` is no System, there are several system records, a
            dictionary is no message's, the order is not one of the messages, or
            a message breaks the contract.
        TypeError: A dictionary's content has the wrong type.
    """
    if system is not None and not isinstance(system, System):
        raise ValueError(NOT_A_SYSTEM)
    if isinstance(messages, Mapping):
        if progression is None:
            progression = _pile_order(messages)
        messages = messages.get("collections", ())
    found = _ordered([wire_message(entry) for entry in _messages_of(messages or ())], progression)
    if system is not None:
        found = [wire_message(system), *(m for m in found if not m.HasField("system"))]
    if sum(message.HasField("system") for message in found) > 1:
        raise ValueError(ONE_SYSTEM)
    _check(found)
    return found


def create_with(
    history: HistoryOperations,
    records: Sequence[message_pb2.Message],
    *,
    request_id: Id | None = None,
    **fields: Any,
) -> Steps[BranchRecord]:
    """Make a branch that holds these records; ``fields`` are those of ``create_branch``.

    It takes a write for the branch and one for each batch, whose request ids
    follow from ``request_id`` where that is given. When one of these fails, or
    the call is interrupted, the branch is deleted, so that nobody finds half of
    it; its external key is free again, an id of the caller's own is spent. A
    branch that an earlier call under the same request id made is left alone,
    and so is one that another such call has carried further meanwhile.
    """
    key = given_request_id(request_id)
    record = yield from history.create_branch(request_id=key, **fields)
    revision = record.revision
    try:
        for number, batch in enumerate(batches(records) if records else ()):
            own = None if key is None else derived_request_id(key, str(number))
            # A pile may hold a response before its request; the service links them all the same.
            added = yield from history.add_messages(
                record.branch_id, batch, allow_unresolved=True, request_id=own
            )
            revision = added.revision
    except GeneratorExit:
        raise  # Nobody is left to send anything.
    except BaseException as error:
        if key is None:
            yield from _undo(history, record.branch_id, None, error)
        elif not record.replayed:
            yield from _undo(history, record.branch_id, revision, error)
        else:
            error.add_note(f"branch {record.branch_id}, made by an earlier call with this request_id, stays")
        raise
    return record


def _undo(
    history: HistoryOperations, branch_id: UUID, expected_revision: int | None, error: BaseException
) -> Steps[None]:
    """Delete a half-made branch, as far as that goes; tell of the rest in a note on the error.

    ``expected_revision`` is what the failed call has seen of it: only its own
    request id lets others go on with the branch, and what they added stays.
    """
    try:
        yield from history.delete_branch(branch_id, expected_revision=expected_revision)
    except AntiphonError as second:
        error.add_note(f"branch {branch_id} may hold a part and was not deleted: {second}")


def _messages_of(entries: Iterable[object]) -> Iterable[AnyMessage]:
    for entry in entries:
        if isinstance(entry, Mapping):
            yield Message.from_dict(entry)
        elif isinstance(entry, (Message, message_pb2.Message)):
            yield entry


def _pile_order(pile: Mapping[str, Any]) -> Iterable[Id] | None:
    order = pile.get("progression")
    if isinstance(order, Mapping):
        order = order.get("order")
    if order is not None and not (isinstance(order, Sequence) and all(map(_is_id, order))):
        raise ValueError(INVALID_ORDER)
    return order


def _is_id(value: object) -> bool:
    return isinstance(value, (str, UUID))


def _ordered(
    messages: list[message_pb2.Message], progression: Iterable[Id] | None
) -> list[message_pb2.Message]:
    if progression is None:
        return messages
    order = [str(message_id) for message_id in progression]
    by_id = {message.id: message for message in messages}
    if len(order) != len(messages) or by_id.keys() != set(order):
        raise ValueError(INVALID_ORDER)
    return [by_id[message_id] for message_id in order]


def _check(messages: Sequence[message_pb2.Message]) -> None:
    """Refuse what the service would refuse, before there is a branch."""
    violations: list[Violation] = []
    seen: set[str] = set()
    for index, message in enumerate(messages):
        validate_message(message, f"messages[{index}]", violations)
        if message.id in seen:
            violations.append(Violation(f"messages[{index}].id", "stands in the pile before"))
        seen.update([message.id] if message.id else ())
    if violations:
        raise FieldInvalidError.of_all(violations)

"""Writing conversations to the history service so that a repetition changes nothing.

The branch's id, the messages' ids and the request ids are derived from what a
conversation says and from its source id. A second run therefore sends the same
requests, which the service answers again without doing them again; where the
service no longer remembers them, the same messages take their own places.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from antiphon.message.v1 import message_pb2
from antiphon_client.batching import batches
from antiphon_client.cli.formats import IMPORTED_FROM, SOURCES, Format, import_as, recognized
from antiphon_client.cli.sources import Conversation
from antiphon_client.errors import BranchDeletedError, BranchExistsError, FieldInvalidError, Violation
from antiphon_client.history import HistoryClient
from antiphon_client.ids import derived_request_id
from antiphon_client.importing.conversation import ImportNote
from antiphon_client.messages.validation import validate_message


class ImportConflictError(ValueError):
    """The source id belongs to a branch that holds another conversation."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of one conversation.

    Attributes:
        source_id: Its id in the file or the one made for it, and its branch's external key.
        branch_id: Its branch.
        messages: Messages it has in the file.
        records: Records they became; an assistant message with tool calls is
            one record and one more for each call.
        format: The format it was read in.
        repeated: Whether it had been imported before, all of it.
        notes: Remarks on how messages became records; nothing noted is lost.
    """

    source_id: str
    branch_id: UUID
    messages: int
    records: int
    format: Format
    repeated: bool
    notes: tuple[ImportNote, ...]


def import_conversation(
    history: HistoryClient, conversation: Conversation, given: Format | None = None
) -> Imported:
    """Import one conversation into the branch whose external key is its source id.

    Args:
        history: The service.
        conversation: The conversation.
        given: Its format; None recognizes it.

    Raises:
        ValueError: A message is not one of the format, or breaks a rule of the contract.
        ImportConflictError: The source id is another branch's.
        AntiphonError: The service refuses, or cannot be reached.
    """
    chosen = given or recognized(conversation.messages, conversation.system)
    # A deleted branch's id stays taken, so that each deletion moves the import on by one.
    for generation in itertools.count():
        key = (conversation.identity, conversation.source_id, str(generation))
        seed = derived_request_id("messages", *key)
        converted = import_as(chosen, conversation.messages, conversation.system, seed)
        _check(converted.records)
        branch_id = UUID(derived_request_id("branch", *key))
        try:
            _create_branch(history, branch_id, conversation, chosen, key)
        except BranchDeletedError:
            continue
        repeated = _add(history, branch_id, converted.records, key)
        return Imported(
            source_id=conversation.source_id,
            branch_id=branch_id,
            messages=len(conversation.messages),
            records=len(converted.records),
            format=chosen,
            repeated=repeated,
            notes=converted.notes,
        )
    raise AssertionError("the loop above ends by returning")


def _check(records: Sequence[message_pb2.Message]) -> None:
    """Refuse what the service would refuse, before an empty branch takes the source id."""
    violations: list[Violation] = []
    for index, record in enumerate(records):
        validate_message(record, f"records[{index}]", violations)
    if violations:
        raise FieldInvalidError.of_all(violations)


def _create_branch(
    history: HistoryClient, branch_id: UUID, conversation: Conversation, chosen: Format, key: Sequence[str]
) -> None:
    try:
        created = history.create_branch(
            branch_id=branch_id,
            external_key=conversation.source_id,
            metadata={IMPORTED_FROM: SOURCES[chosen], **conversation.metadata},
            request_id=derived_request_id("create", *key),
        )
    except BranchExistsError as error:
        owner = error.metadata.get("branch_id")
        if owner != str(branch_id):
            raise ImportConflictError(
                f"{conversation.source_id!r} is branch {owner}, which holds another conversation: import "
                "this one under another id, or delete that branch first (antiphon delete); "
                "messages that are new are added with Branch.add"
            ) from None
    else:
        if created.replayed:
            history.get_branch(branch_id)  # an old answer does not say whether the branch still lives


def _add(
    history: HistoryClient, branch_id: UUID, records: Sequence[message_pb2.Message], key: Sequence[str]
) -> bool:
    """Add the records; True when every request of it had been answered before."""
    replayed = [
        history.add_messages(
            branch_id,
            batch,
            allow_unresolved=True,
            request_id=derived_request_id("add", *key, str(number)),
        ).replayed
        for number, batch in enumerate(batches(records))
    ]
    return all(replayed)

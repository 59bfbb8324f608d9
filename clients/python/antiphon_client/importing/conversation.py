"""What an import gives: the records of a conversation, and remarks about them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.messages import Message, from_proto


class NoteKind(StrEnum):
    """What an import did that its reader may want to know. Nothing noted is lost."""

    SYSTEM_IN_PLACE = "SYSTEM_IN_PLACE"
    PART_NOT_SHOWN = "PART_NOT_SHOWN"
    ARGUMENTS_NOT_OBJECT = "ARGUMENTS_NOT_OBJECT"
    RESULT_UNCORRELATED = "RESULT_UNCORRELATED"


@dataclass(frozen=True, slots=True)
class ImportNote:
    """One remark.

    Attributes:
        kind: What happened.
        path: Where, such as ``messages[3].tool_calls[0]``.
        detail: In words.
    """

    kind: NoteKind
    path: str
    detail: str


@dataclass(frozen=True, slots=True)
class ImportedConversation:
    """An imported conversation, ready to be added to a branch.

    Attributes:
        system: The branch's system record; None where the conversation has none.
        messages: The other records in order, without times; their ids are set.
        notes: Remarks, in order of the conversation.
    """

    system: pb.Message | None
    messages: tuple[pb.Message, ...]
    notes: tuple[ImportNote, ...]

    @property
    def records(self) -> tuple[pb.Message, ...]:
        """All records in the order in which they are added: the system record first."""
        return self.messages if self.system is None else (self.system, *self.messages)

    @property
    def typed_messages(self) -> list[Message]:
        """The records of ``messages`` as typed messages."""
        return [from_proto(record) for record in self.messages]

"""What the passes work on: frozen values, replaced by each pass, never changed.

Protobuf messages in here are the request's and the snapshot's own and are read
only; everything a pass makes is a plain tuple or frozen record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from antiphon.compiler.v1.compiler_service_pb2 import CompileRequest
from antiphon.message.v1.content_block_pb2 import ImageDetail
from antiphon.message.v1.message_pb2 import Message, Role
from compiler_service.native.items import Entry, Item
from compiler_service.native.turns import Conversation, NativeTurn
from compiler_service.report import Note

if TYPE_CHECKING:
    from compiler_service.folded.history import FoldedHistory
    from compiler_service.folded.outcome import FoldedOutcome


class TurnImage(NamedTuple):
    """One image of a turn: its address and the detail asked of the model."""

    url: str
    detail: ImageDetail.ValueType


class FoldedSections(NamedTuple):
    """What the fold made a guidance of (ADR-0007 D2.4).

    Attributes:
        has_own_guidance: Whether the instruction had guidance of its own.
        system_id: Id of the system record in it; None for none.
        has_context_blocks: Whether the context section is in it.
        summary_id: Id of the summary in it; None for none.
    """

    has_own_guidance: bool
    system_id: str | None
    has_context_blocks: bool
    summary_id: str | None = None


class InstructionTurn(NamedTuple):
    """An instruction on its way to a user turn.

    Attributes:
        message_id: Id of the record; None for the request's own instruction.
        text: What is asked; "" for nothing.
        guidance: Text, or the value of a JSON guidance; None for none.
        context: Context items in order, moved action results last.
        plain_content: Text that replaces all other text when not empty.
        images: Images in order.
        folded: What the guidance was made of, where the fold made it.
    """

    message_id: str | None
    text: str
    guidance: Any
    context: tuple[Any, ...]
    plain_content: str
    images: tuple[TurnImage, ...]
    folded: FoldedSections | None = None


class AssistantTurn(NamedTuple):
    """One assistant response, or a run of them merged.

    Attributes:
        message_ids: Ids of the records, in order.
        text: The text.
        is_calling: A turn that only calls actions: it counts for the order
            rules and adds no text.
    """

    message_ids: tuple[str, ...]
    text: str
    is_calling: bool


class ActionCall(NamedTuple):
    """An action request, of which FOLDED renders nothing."""

    message_id: str


class ActionOutcome(NamedTuple):
    """What FOLDED renders of an action response.

    Attributes:
        message_id: Id of the record.
        request_id: Id of the action request that it answers; "" for none.
        function: The action.
        arguments_json: Its arguments; "" for none.
        output_json: What came of it; None for nothing.
        error: Why it failed; None where it did not.
    """

    message_id: str
    request_id: str
    function: str
    arguments_json: str
    output_json: str | None
    error: str | None


PlainRecord: TypeAlias = InstructionTurn | AssistantTurn | ActionCall | ActionOutcome
"""What a plain message is; an instruction is without the results before it."""

FoldedRecord: TypeAlias = Message | PlainRecord
"""A message, or what a plain one is."""

Record: TypeAlias = tuple[str, Message]
"""The name of a message's content variant, and the message; a named tuple takes four times as long."""

AnyRecord: TypeAlias = tuple[str, Any]
"""A Record, or one of these four names and what a plain message is."""
PLAIN_INSTRUCTION, PLAIN_RESPONSE = "plain_instruction", "plain_response"
PLAIN_CALL, PLAIN_OUTCOME = "plain_call", "plain_outcome"
PLAIN_KINDS: dict[type, str] = {
    InstructionTurn: PLAIN_INSTRUCTION,
    AssistantTurn: PLAIN_RESPONSE,
    ActionCall: PLAIN_CALL,
    ActionOutcome: PLAIN_OUTCOME,
}
"""The names by the types of what plain messages are."""


class CompiledTurn(NamedTuple):
    """One finished turn of FOLDED; a turn with images has its text as the first part.

    ``message_ids`` are those of the records it was made of, in order.
    """

    role: Role.ValueType
    text: str
    images: tuple[TurnImage, ...] = ()
    message_ids: tuple[str, ...] = ()


TurnRow: TypeAlias = tuple[Role.ValueType, str, tuple[TurnImage, ...], tuple[str, ...]]
"""The fields of a CompiledTurn, which is made where somebody looks at it: it takes five times as long."""


@dataclass(frozen=True, slots=True)
class CompileState:
    """The state that passes from pass to pass.

    Attributes:
        request: The turn's request, its fields checked. Read only.
        field_prefix: What stands before the request's field paths in errors.
        system: The branch's system record. Read only.
        messages: The snapshot, then (after select) the selection. Read only.
        records: The selection without what its status leaves out (after screen),
            and then without summaries.
        summary: The summary record that is compiled; None for none.
        message_ids: The selection's ids, where they are known without a look at
            the messages.
        former: What FOLDED made of the selection before.
        plain: The selection with plain messages as turns, for FOLDED; None where there is none.
        folded: FOLDED's outcome.
        entries: NATIVE's records that take part (after read).
        items: NATIVE's rounds and what stands between them (after pair).
        native_turns: NATIVE's retained history (after merge).
        conversation: NATIVE's outcome (after finish).
        notes: The report so far.
    """

    request: CompileRequest
    field_prefix: str
    system: Message | None
    messages: Sequence[Message]
    records: tuple[Record, ...] = ()
    summary: Message | None = None
    message_ids: Sequence[str] | None = None
    former: FoldedHistory | None = None
    plain: Sequence[FoldedRecord] | None = None
    folded: FoldedOutcome | None = None
    entries: tuple[Entry, ...] = ()
    items: tuple[Item, ...] = ()
    native_turns: tuple[NativeTurn, ...] = ()
    conversation: Conversation | None = None
    notes: tuple[Note, ...] = ()

    def having(self, *, notes: Sequence[Note] = (), **changes: Any) -> CompileState:
        """Return the state with fields replaced and notes added to the report."""
        return replace(self, notes=(*self.notes, *notes), **changes)

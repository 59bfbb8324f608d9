"""One compilation, from a snapshot and a request to everything a reply holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from antiphon.compiler.v1.compiler_service_pb2 import CompileRequest
from antiphon.compiler.v1.target_pb2 import ActionName
from antiphon.message.v1.message_pb2 import Message
from antiphon_client.messages.validation import canonicalize_message
from compiler_service.digest import messages_digest
from compiler_service.folded.history import FoldedHistory
from compiler_service.folded.outcome import FoldedOutcome
from compiler_service.neutral import AnyTurn, wire_turns
from compiler_service.profiles import PROFILES
from compiler_service.projection import ProviderRequest, folded_conversation, project
from compiler_service.report import Note
from compiler_service.state import CompileState, FoldedRecord
from compiler_service.texts import system_text
from compiler_service.tokens import ESTIMATE_ONLY, Counters, TokenCounts, count_compilation


@dataclass(frozen=True, slots=True)
class CompileSource:
    """The history to compile.

    Attributes:
        system: The branch's system record; None for none. Read only.
        messages: The messages, in order. Read only.
        revision: The branch's revision; 0 for an inline snapshot.
        incarnation: The branch's incarnation; "" for an inline snapshot.
        message_ids: The messages' ids, where they are known without a look at them.
        former: What FOLDED made of the messages before, for one of these.
        plain: The messages as FOLDED takes them, those that are plain read as
            turns; None where they are all decoded.
    """

    system: Message | None
    messages: Sequence[Message]
    revision: int = 0
    incarnation: str = ""
    message_ids: Sequence[str] | None = None
    former: FoldedHistory | None = None
    plain: Sequence[FoldedRecord] | None = None


@dataclass(frozen=True, slots=True)
class Compilation:
    """The outcome of a compilation; the fields stand for those of ``CompileResponse``.

    ``provider_request`` is None without a target, ``tokens`` without a counter,
    ``folded`` for another profile than FOLDED.
    """

    instruction: Message | None
    turns: Sequence[AnyTurn]
    provider_kwargs_json: str
    history_revision: int
    incarnation: str
    messages_digest: str
    report: tuple[Note, ...]
    system_text: str | None
    provider_request: ProviderRequest | None
    tokens: TokenCounts | None
    folded: FoldedOutcome | None = None

    @property
    def request_digest(self) -> str | None:
        """The digest of the provider's request; None without a target. Cost: linear in the request."""
        return None if self.provider_request is None else self.provider_request.digest()

    @property
    def action_names(self) -> list[ActionName]:
        """The actions that bear another name in the provider's request, as they travel."""
        renamed = () if self.provider_request is None else self.provider_request.action_names
        return [ActionName(name=name, provider_name=other) for name, other in renamed]


def compile_turn(
    request: CompileRequest,
    source: CompileSource,
    *,
    field_prefix: str = "",
    counters: Counters = ESTIMATE_ONLY,
) -> Compilation:
    """Compile a turn: a pure function, the same bytes in every process.

    Args:
        request: The request, its fields checked. Not changed.
        source: The history. Not changed.
        field_prefix: What stands before the request's field paths in errors.
        counters: The token counters there are; the request's is one of them.

    Raises:
        AntiphonError: A rule of the profile's passes is broken, or one of the target's.

    Cost: linear in the selection.
    """
    state = CompileState(
        request=request,
        field_prefix=field_prefix,
        system=source.system,
        messages=source.messages,
        message_ids=source.message_ids,
        former=source.former,
        plain=source.plain,
    )
    for apply in PROFILES[request.profile]:
        state = apply(state)
    outcome = _outcome_of(state)
    projected: ProviderRequest | None = None
    if request.HasField("target"):
        conversation = state.conversation if state.folded is None else folded_conversation(state.folded.turns)
        assert conversation is not None
        projected = project(conversation, request, field_prefix=field_prefix)
    return Compilation(
        instruction=_record_ready(request.instruction) if request.HasField("instruction") else None,
        turns=outcome.turns,
        provider_kwargs_json=request.provider_kwargs_json or "{}",
        history_revision=source.revision,
        incarnation=source.incarnation,
        messages_digest=outcome.digest,
        report=outcome.notes if projected is None else (*outcome.notes, *projected.notes),
        system_text=outcome.system_text,
        provider_request=projected,
        tokens=_tokens_of(request, state, outcome.turns, counters),
        folded=state.folded,
    )


class _Outcome(NamedTuple):
    turns: Sequence[AnyTurn]
    notes: tuple[Note, ...]
    digest: str
    system_text: str | None


def _outcome_of(state: CompileState) -> _Outcome:
    folded, conversation = state.folded, state.conversation
    if folded is not None:
        return _Outcome(folded.turns, folded.notes, folded.digest, None)
    assert conversation is not None, "a profile has an outcome"
    turns, text = conversation.turns, conversation.system_text
    return _Outcome(turns, state.notes, messages_digest(turns, text), text)


def _tokens_of(
    request: CompileRequest, state: CompileState, turns: Sequence[AnyTurn], counters: Counters
) -> TokenCounts | None:
    if not request.HasField("token_counter"):
        return None
    conversation, system = state.conversation, state.system
    if conversation is not None:
        text = conversation.system_text
    else:
        text = None if system is None else system_text(system.system)
    return count_compilation(
        counters.get(request.token_counter),
        request,
        turns=wire_turns(turns),
        system_text=text,
        are_folded=conversation is None,
    )


def _record_ready(instruction: Message) -> Message:
    """Copy the instruction as it may be recorded (ADR-0007 D1).

    A message holds nothing that lasts for one call only; what is left to settle
    is what the content fixes, such as the role.
    """
    copy = Message()
    copy.CopyFrom(instruction)
    canonicalize_message(copy)
    return copy

"""One compilation, from a snapshot and a request to everything a reply holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from antiphon.compiler.v1.compiler_service_pb2 import CompileRequest
from antiphon.message.v1.message_pb2 import Message
from antiphon_client.messages.validation import canonicalize_message
from compiler_service.digest import messages_digest
from compiler_service.profiles import PROFILES
from compiler_service.report import Note
from compiler_service.state import CompiledTurn, CompileState


@dataclass(frozen=True, slots=True)
class CompileSource:
    """The history to compile.

    Attributes:
        system: The branch's system record; None for none. Read only.
        messages: The messages, in order. Read only.
        revision: The branch's revision; 0 for an inline snapshot.
        incarnation: The branch's incarnation; "" for an inline snapshot.
    """

    system: Message | None
    messages: Sequence[Message]
    revision: int = 0
    incarnation: str = ""


@dataclass(frozen=True, slots=True)
class Compilation:
    """The outcome of a compilation; the fields stand for those of ``CompileResponse``."""

    instruction: Message
    turns: tuple[CompiledTurn, ...]
    provider_kwargs_json: str
    history_revision: int
    incarnation: str
    messages_digest: str
    report: tuple[Note, ...]


def compile_turn(request: CompileRequest, source: CompileSource, *, field_prefix: str = "") -> Compilation:
    """Compile a turn: a pure function, the same bytes in every process.

    Args:
        request: The request, its fields checked. Not changed.
        source: The history. Not changed.
        field_prefix: What stands before the request's field paths in errors.

    Raises:
        AntiphonError: A rule of the profile's passes is broken.

    Cost: linear in the selection.
    """
    state = CompileState(
        request=request, field_prefix=field_prefix, system=source.system, messages=source.messages
    )
    for apply in PROFILES[request.profile]:
        state = apply(state)
    return Compilation(
        instruction=_record_ready(request.instruction),
        turns=state.compiled,
        provider_kwargs_json=request.provider_kwargs_json or "{}",
        history_revision=source.revision,
        incarnation=source.incarnation,
        messages_digest=messages_digest(state.compiled),
        report=state.notes,
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

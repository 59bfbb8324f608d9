"""Imported conversations on their way through the compiler, for tests of importers and projections."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from antiphon.compiler.v1.compiled_message_pb2 import CompileNoteKind
from antiphon.compiler.v1.compiler_service_pb2 import PROFILE_NATIVE, CompileRequest, CompileResponse
from antiphon.compiler.v1.target_pb2 import TargetOptions
from antiphon.message.v1.message_pb2 import InstructionContent, Message
from antiphon_client import anthropic_messages, gemini_contents, openai_chat
from antiphon_client.importing.conversation import ImportedConversation
from antiphon_client.messages import from_proto, to_proto
from antiphon_client.messages.validation import canonicalize_message, kind_of, validate_message
from tests.support.compiler import CURRENT_ID, compile_inline

ANTHROPIC = "anthropic.messages"
GEMINI = "gemini.generate_content"
OPENAI = "openai.chat"
SEED = "seed"


def import_request(target: str, body: dict[str, Any]) -> ImportedConversation:
    """Import the conversation of a request's body in the format of a target."""
    if target == ANTHROPIC:
        return anthropic_messages.import_messages(body["messages"], system=body.get("system"), seed=SEED)
    if target == GEMINI:
        return gemini_contents.import_contents(
            body["contents"], system_instruction=body.get("systemInstruction"), seed=SEED
        )
    return openai_chat.import_messages(body["messages"], seed=SEED)


def stored(records: Sequence[Message]) -> list[Message]:
    """Return records as a reader gets them: canonical, timed, linked, through the typed model."""
    answered = {record.action_response.action_request_id: record.id for record in records}
    result = []
    for record in records:
        violations: list[Any] = []
        validate_message(record, "", violations)
        assert violations == []
        kept = Message.FromString(record.SerializeToString())
        canonicalize_message(kept)
        kept.created_at.GetCurrentTime()
        if kind_of(kept) == "action_request" and kept.id in answered:
            kept.action_request.action_response_id = answered[kept.id]
        again = to_proto(from_proto(kept))
        assert again.SerializeToString(deterministic=True) == kept.SerializeToString(deterministic=True)
        result.append(again)
    return result


def compile_imported(
    conversation: ImportedConversation,
    target: str | None,
    *,
    instruction: str | None = None,
    options: dict[str, Any] | None = None,
    kwargs: dict[str, Any] | None = None,
) -> CompileResponse:
    """Compile an imported conversation NATIVE, as the history service gives it back."""
    request = CompileRequest(
        profile=PROFILE_NATIVE,
        target=target,
        target_options=None if options is None else TargetOptions(**options),
        provider_kwargs_json=json.dumps(kwargs) if kwargs else "",
    )
    request.snapshot.SetInParent()
    request.snapshot.messages.extend(stored(conversation.messages))
    if conversation.system is not None:
        request.snapshot.system.CopyFrom(stored([conversation.system])[0])
    if instruction is not None:
        request.instruction.CopyFrom(
            Message(id=CURRENT_ID, instruction=InstructionContent(instruction=instruction))
        )
    return compile_inline(request)


def body_of(response: CompileResponse) -> dict[str, Any]:
    """Return the request's body."""
    body: dict[str, Any] = json.loads(response.provider_request_json)
    return body


def note_kinds(response: CompileResponse) -> list[str]:
    """Return the kinds of a report's notes."""
    return [CompileNoteKind.Name(note.kind).removeprefix("COMPILE_NOTE_KIND_") for note in response.report]


def sorted_keys(value: Any) -> str:
    """Return a JSON value as text, so that 1, 1.0 and true differ and the order of keys does not count."""
    return json.dumps(value, sort_keys=True)

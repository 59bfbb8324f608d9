"""The projection of a conversation on one provider's request."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import NamedTuple

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from antiphon.compiler.v1 import compiler_service_pb2
from antiphon.compiler.v1.compiler_service_pb2 import CompileRequest
from compiler_service.json_values import parse_checked
from compiler_service.native.turns import CallPart, Conversation, NativeTurn, ResultPart
from compiler_service.projection import anthropic, gemini, ollama, openai_chat, openai_responses
from compiler_service.projection.action_names import ActionNames
from compiler_service.projection.answer_forms import write_answer_form
from compiler_service.projection.call_ids import CallIds
from compiler_service.projection.capabilities import TABLE
from compiler_service.projection.keyword_arguments import join_kwargs
from compiler_service.projection.preparation import prepare
from compiler_service.projection.request_target import Target, resolve_target
from compiler_service.projection.schema_refs import Inlining
from compiler_service.projection.splicing import quote
from compiler_service.projection.tool_forms import write_tools
from compiler_service.projection.writing import Writing
from compiler_service.remarks import Remarks
from compiler_service.report import Note

_MAX_TOKENS = "max_tokens"
_MISTRAL_IDS = "mistral_call_ids"
_UNIQUE_IDS = "unique_call_ids"

_TURNS: dict[str, Callable[[Writing], dict[str, str]]] = {
    "anthropic.messages": anthropic.write_turns,
    "gemini.generate_content": gemini.write_turns,
    "ollama.chat": ollama.write_turns,
    "openai.chat": openai_chat.write_turns,
    "openai.responses": openai_responses.write_turns,
}


class ProviderRequest(NamedTuple):
    """A provider's request.

    Attributes:
        request_json: The text of its body, a JSON object.
        notes: What was dropped, converted, mapped or made on the way.
        action_names: Actions that bear another name in it, each with that name.
        capability_version: Version of the table that shaped it.
    """

    request_json: str
    notes: tuple[Note, ...]
    action_names: tuple[tuple[str, str], ...]
    capability_version: str

    def digest(self) -> str:
        """Return the lower-case hexadecimal SHA-256 over the body in UTF-8."""
        return hashlib.sha256(self.request_json.encode()).hexdigest()


def project(
    conversation: Conversation, request: CompileRequest, *, field_prefix: str = ""
) -> ProviderRequest:
    """Return the request of a conversation to the target that a compile request names.

    A pure function: the same bytes in every process. In FOLDED, tools and
    response format stand in the text already and are not written again.

    Args:
        conversation: The turns; not changed.
        request: The compile request, its JSON texts checked; not changed.
        field_prefix: What stands before the request's field paths in errors.

    Raises:
        TargetUnknownError: There is no such target.
        FieldInvalidError: The target's options or the tools break their rules,
            or the conversation cannot end there as it does.
        ReservedKeyError: The keyword arguments hold a key that is written here.

    Cost: linear in the conversation; about 4 µs a turn.
    """
    target = resolve_target(request, field_prefix)
    row = target.row
    losses = Remarks()
    prepared = prepare(conversation, target, losses, field_prefix)
    names = ActionNames(TABLE.name_rules[row.name_rule], _names_in(prepared.turns, target), losses)
    writing = Writing(
        target=target,
        prepared=prepared,
        ids=_call_ids(target, losses),
        names=names,
        losses=losses,
        system_id=conversation.system_id or "",
        system_extras_json=conversation.system_extras_json,
        inlining=Inlining(),
    )
    members: dict[str, str] = {}
    if row.model_key is not None and target.model is not None:
        members[row.model_key] = quote(target.model)
    members |= _TURNS[target.name](writing)
    members |= write_tools(writing)
    if request.profile == compiler_service_pb2.PROFILE_NATIVE and request.HasField("response_format"):
        members |= write_answer_form(request.response_format, writing)
    for name, own in row.foreign_keywords.items():
        if name in target.kwargs:
            losses.add(notes_pb.COMPILE_NOTE_KIND_KEYWORD_NAME_FOREIGN, detail=f"{name} is {own}")
    limit = _made_limit(target)
    if limit is not None:
        members[_MAX_TOKENS] = str(limit)
        losses.add(notes_pb.COMPILE_NOTE_KIND_DEFAULT_APPLIED, detail=f"{_MAX_TOKENS} {limit}")
    return ProviderRequest(
        request_json=join_kwargs(
            members, request.provider_kwargs_json or "{}", row, nulls=() if limit is None else (_MAX_TOKENS,)
        ),
        notes=tuple(losses.notes()),
        action_names=names.mapping(),
        capability_version=TABLE.version,
    )


def _made_limit(target: Target) -> int | None:
    """Return the limit of output tokens to set where one is required and not given; null gives none."""
    row = target.row
    if row.default_max_tokens is None or target.kwargs.get(_MAX_TOKENS, "null") != "null":
        return None
    budget = row.thinking_budget
    given = "null" if budget is None else target.kwargs.get(budget.key, "null")
    if budget is None or not given.startswith("{"):
        return row.default_max_tokens
    tokens = parse_checked(given).get(budget.member)
    return max(row.default_max_tokens, tokens + budget.margin if type(tokens) is int else 0)


def _call_ids(target: Target, losses: Remarks) -> CallIds:
    rule = "mistral" if _MISTRAL_IDS in target.flags else target.row.id_rule
    return CallIds(TABLE.id_rules[rule], unique_in_request=_UNIQUE_IDS in target.flags, losses=losses)


def _names_in(turns: Iterable[NativeTurn], target: Target) -> list[str]:
    """Return every name of an action in the request, the tools' first."""
    names = [tool.name for tool in target.tools]
    names += [
        part.name
        for turn in turns
        if not turn.is_text
        for part in turn.parts
        if type(part) is CallPart or type(part) is ResultPart
    ]
    return names

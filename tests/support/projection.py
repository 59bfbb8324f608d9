"""Conversations, requests for them, and reading what is projected, for tests of projections."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from antiphon.compiler.v1.compiled_message_pb2 import CompileNoteKind
from antiphon.compiler.v1.compiler_service_pb2 import (
    PROFILE_NATIVE,
    CompileRequest,
    ResponseFormat,
    ResponseSchema,
)
from antiphon.compiler.v1.target_pb2 import TargetOptions
from antiphon.message.v1 import message_pb2
from compiler_service.native.turns import (
    CacheMark,
    CallPart,
    Conversation,
    ImagePart,
    NativeTurn,
    Part,
    ResultContent,
    ResultPart,
    TextPart,
)
from compiler_service.projection import TABLE, project
from tests.support.provider_types import check_request

TARGETS = tuple(sorted(TABLE.targets))
MODEL = "some-model"
PNG = b"\x89PNG"
PNG_BASE64 = "iVBORw=="


class Projected(NamedTuple):
    """A request's body as JSON values and as text, and the notes about it."""

    body: dict[str, Any]
    text: str
    notes: list[tuple[str, tuple[str, ...], str]]
    action_names: dict[str, str]

    @property
    def kinds(self) -> set[str]:
        """The kinds of the notes."""
        return {kind for kind, _, _ in self.notes}

    def about(self, kind: str) -> list[tuple[tuple[str, ...], str]]:
        """Return ids and detail of every note of a kind."""
        return [(ids, detail) for noted, ids, detail in self.notes if noted == kind]

    @property
    def turns(self) -> list[dict[str, Any]]:
        """The turns, without a system message."""
        key = next(key for key in ("contents", "input", "messages") if key in self.body)
        return [turn for turn in self.body[key] if turn.get("role") not in ("system", "developer")]


def user(*parts: Part | str, id: str = "u", **fields: Any) -> NativeTurn:
    """Return a user's turn; a text alone makes a text turn."""
    return _turn(message_pb2.ROLE_USER, parts, id, fields)


def assistant(*parts: Part | str, id: str = "a", **fields: Any) -> NativeTurn:
    """Return an assistant's turn."""
    return _turn(message_pb2.ROLE_ASSISTANT, parts, id, fields)


def results(*given: ResultPart) -> list[NativeTurn]:
    """Return the tool turns of results: one each."""
    return [
        NativeTurn(message_pb2.ROLE_TOOL, (result,), (result.message_id,) if result.message_id else ())
        for result in given
    ]


def call(id: str = "call_1", name: str = "look", arguments: str = "{}", **fields: Any) -> CallPart:
    """Return a call; its record's id is its own with a q before it."""
    others = {"arguments_text": None, "thought_signature": None, "message_id": f"q-{id}"} | fields
    return CallPart(id, name, arguments, **others)


def result(
    id: str = "call_1",
    *content: ResultContent | str,
    name: str = "look",
    is_error: bool = False,
    **fields: Any,
) -> ResultPart:
    """Return a result; its record's id is its call's with an r before it."""
    message_id = f"r-{id}"
    parts = tuple([TextPart(item, message_id) if isinstance(item, str) else item for item in content])
    return ResultPart(id, name, parts, is_error, False, message_id, **fields)


def text(value: str, id: str = "t", *, mark: CacheMark | None = None) -> TextPart:
    """Return a text part."""
    return TextPart(value, id, mark)


def png(id: str = "i", *, detail: Any = 0, type: str = "image/png") -> ImagePart:
    """Return an image that is in the record."""
    return ImagePart(type, PNG, None, detail, id)


def linked(url: str, id: str = "i", *, detail: Any = 0, type: str = "") -> ImagePart:
    """Return an image by its address."""
    return ImagePart(type, None, url, detail, id)


def conversation(
    *turns: NativeTurn | list[NativeTurn], system: str | None = None, **fields: Any
) -> Conversation:
    """Return a conversation of turns and lists of turns."""
    flat: list[NativeTurn] = []
    for turn in turns:
        flat += turn if isinstance(turn, list) else [turn]
    return Conversation(system, tuple(flat), **({"system_id": None if system is None else "s"} | fields))


def request(
    target: str,
    *,
    tools: Sequence[str] = (),
    schema: str | None = None,
    example: str | None = None,
    kwargs: str = "",
    options: dict[str, Any] | None = None,
    profile: int = PROFILE_NATIVE,
) -> CompileRequest:
    """Return a compile request for a target; without a source, which no projection reads."""
    built = CompileRequest(
        profile=profile,  # type: ignore[arg-type]
        target=target,
        target_options=TargetOptions(**({"model": MODEL} | (options or {}))),
        tool_schemas_json=tools,
        provider_kwargs_json=kwargs,
    )
    if schema is not None:
        built.response_format.CopyFrom(
            ResponseFormat(schema=ResponseSchema(json_schema=schema, template_json="{}"))
        )
    if example is not None:
        built.response_format.CopyFrom(ResponseFormat(example_json=example))
    return built


def project_for(target: str, given: Conversation, *, check: bool = True, **request_fields: Any) -> Projected:
    """Project a conversation; what comes out is checked against the provider's types."""
    return projected(given, request(target, **request_fields), check=check)


def projected(given: Conversation, compile_request: CompileRequest, *, check: bool = True) -> Projected:
    """Project a conversation for a request."""
    outcome = project(given, compile_request)
    body = json.loads(outcome.request_json)
    if check:
        check_request(compile_request.target, outcome.request_json)
    notes = [
        (CompileNoteKind.Name(note.kind).removeprefix("COMPILE_NOTE_KIND_"), note.message_ids, note.detail)
        for note in outcome.notes
    ]
    return Projected(body, outcome.request_json, notes, dict(outcome.action_names))


def _turn(role: Any, parts: Sequence[Part | str], id: str, fields: dict[str, Any]) -> NativeTurn:
    made = tuple([TextPart(part, id) if isinstance(part, str) else part for part in parts])
    is_text = len(parts) == 1 and isinstance(parts[0], str)
    return NativeTurn(role, made, (id,) if id else (), **({"is_text": is_text} | fields))

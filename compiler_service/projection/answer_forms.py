"""The shape wanted of the answer, in each target's form: a schema where it survives, else a weaker one."""

from __future__ import annotations

from collections.abc import Callable

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from antiphon.compiler.v1.compiler_service_pb2 import ResponseFormat
from compiler_service.projection.capabilities import TABLE
from compiler_service.projection.gemini_schema import clean_schema
from compiler_service.projection.splicing import quote, write_object
from compiler_service.projection.strict_schema import StrictSchema, strict_form
from compiler_service.projection.writing import Writing

_EXAMPLE = "an example is no schema; give a JSON Schema as the response format"
_NOT_STRICT = "sent without strict"
_NOT_SENT = "not sent: say the shape in the instruction"


def write_answer_form(form: ResponseFormat, writing: Writing) -> dict[str, str]:
    """Return the texts of the request's keys that ask for a shape.

    Args:
        form: The shape: a schema, or an example of it.
        writing: The request.
    """
    return _WRITERS[writing.target.name](form, writing)


def _openai_format(form: ResponseFormat, writing: Writing) -> dict[str, str]:
    strict = _strict(form, writing, _NOT_STRICT)
    if strict.text is not None:
        schema = strict.text
    elif form.HasField("schema"):
        schema = form.schema.json_schema
    else:
        schema = f'{{"type":"object","examples":[{form.example_json}]}}'
    is_strict = "false" if strict.text is None else "true"
    return {"name": quote(writing.target.format_name), "schema": schema, "strict": is_strict}


def _openai_chat(form: ResponseFormat, writing: Writing) -> dict[str, str]:
    schema = write_object(_openai_format(form, writing))
    return {"response_format": write_object({"type": '"json_schema"', "json_schema": schema})}


def _openai_responses(form: ResponseFormat, writing: Writing) -> dict[str, str]:
    written = write_object({"type": '"json_schema"', **_openai_format(form, writing)})
    return {"text": write_object({"format": written})}


def _anthropic(form: ResponseFormat, writing: Writing) -> dict[str, str]:
    strict = _strict(form, writing, _NOT_SENT)
    if strict.text is None:
        # There is no weaker form: what is not strict is refused.
        return {}
    written = write_object({"type": '"json_schema"', "schema": strict.text})
    return {"output_config": write_object({"format": written})}


def _gemini(form: ResponseFormat, writing: Writing) -> dict[str, str]:
    members = {"responseMimeType": '"application/json"'}
    if form.HasField("schema"):
        cleaned = clean_schema(form.schema.json_schema, writing.inlining)
        members["responseSchema"] = cleaned.text
        if cleaned.lost:
            _downgrade(writing, f"left out {', '.join(cleaned.lost)}")
    else:
        _downgrade(writing, _EXAMPLE)
    return {"generationConfig": write_object(members)}


def _ollama(form: ResponseFormat, writing: Writing) -> dict[str, str]:
    if form.HasField("schema"):
        return {"format": form.schema.json_schema}
    _downgrade(writing, _EXAMPLE)
    return {"format": '"json"'}


def _strict(form: ResponseFormat, writing: Writing, weaker: str) -> StrictSchema:
    """Return the strict form; where there is none, report why, and what becomes of the shape instead."""
    if form.HasField("schema"):
        rule = TABLE.strict_schemas[writing.target.row.strict_schema or ""]
        strict = strict_form(form.schema.json_schema, rule)
    else:
        strict = StrictSchema(None, _EXAMPLE)
    if strict.text is None:
        _downgrade(writing, f"{strict.reason}; {weaker}")
    return strict


def _downgrade(writing: Writing, detail: str) -> None:
    writing.losses.add(notes_pb.COMPILE_NOTE_KIND_RESPONSE_FORMAT_DOWNGRADED, detail=detail)


_WRITERS: dict[str, Callable[[ResponseFormat, Writing], dict[str, str]]] = {
    "anthropic.messages": _anthropic,
    "gemini.generate_content": _gemini,
    "ollama.chat": _ollama,
    "openai.chat": _openai_chat,
    "openai.responses": _openai_responses,
}

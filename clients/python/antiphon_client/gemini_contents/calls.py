"""Calls and results of Gemini's contents as action requests and action responses."""

from __future__ import annotations

from typing import Any, Final

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.gemini_contents.parts import signature_of
from antiphon_client.importing.calls import link_result
from antiphon_client.importing.conversation import NoteKind
from antiphon_client.importing.fields import required_text
from antiphon_client.importing.forms import BLOCK
from antiphon_client.importing.reading import ImportState, RecordEntry
from antiphon_client.importing.residue import difference
from antiphon_client.json_text import dump_json_text

_BY_ID: Final = "id"
_BY_NAME: Final = "name"
_BY_NAME_ALONE: Final = "name without id"

_TEXT_RESULT: Final = "result"


def read_call(part: dict[str, Any], path: str, state: ImportState, index: int, number: int) -> RecordEntry:
    """Return the action request of a part with a ``functionCall``.

    Args:
        part: The part.
        path: Where it stands.
        state: The import.
        index: Index of its content.
        number: Number of the record among those of the content.

    Raises:
        ValueError: It lacks what calls have.
    """
    call, inner = _object_of(part, path, "functionCall")
    record = state.ids.record(index, number)
    request = record.action_request
    request.function = required_text(call, inner, "name")
    call_id = _id_of(call, inner)
    if call_id is not None:
        request.provider_call_id = call_id
    arguments = call.get("args")
    if not isinstance(arguments, dict | None):
        raise ValueError(f"{inner}.args: must be an object")
    request.arguments_json = dump_json_text(arguments or {})
    written: dict[str, Any] = {
        "functionCall": {"id": call_id or record.id, "name": request.function, "args": arguments or {}}
    }
    signature = signature_of(part, path)
    if signature is not None:
        request.thought_signature = signature
        written["thoughtSignature"] = signature
    change = difference(written, part)
    return RecordEntry(record, {BLOCK: change} if change else {})


def keys_of_call(record: pb.Message) -> list[tuple[str, str]]:
    """Return what the results of a call may find it by."""
    request = record.action_request
    keys = [(_BY_NAME, request.function)]
    if request.HasField("provider_call_id"):
        return [*keys, (_BY_ID, request.provider_call_id)]
    return [*keys, (_BY_NAME_ALONE, request.function)]


def read_result(part: dict[str, Any], path: str, state: ImportState, index: int, number: int) -> RecordEntry:
    """Return the action response of a part with a ``functionResponse``; arguments as in `read_call`.

    A response that is only a text under ``result`` is that text, any other its
    object.

    Raises:
        ValueError: It lacks what results have.
    """
    given, inner = _object_of(part, path, "functionResponse")
    record = state.ids.record(index, number)
    response = record.action_response
    name = required_text(given, inner, "name")
    value = given.get("response")
    if not isinstance(value, dict | None):
        raise ValueError(f"{inner}.response: must be an object")
    if given.get("parts"):
        state.note(
            NoteKind.PART_NOT_SHOWN, f"{inner}.parts", "a result's parts are kept for their own provider only"
        )
    call_id = _id_of(given, inner)
    call = _answered(state, call_id, name)
    if call is None:
        state.note(NoteKind.RESULT_UNCORRELATED, path, "the result answers no open call")
        response.function = name
    else:
        link_result(response, call)
    if call_id is not None:
        response.provider_call_id = call_id
    text = _text_of(value)
    response.output_json = dump_json_text((value or {}) if text is None else text)
    written_id = _written_id(call) or call_id or ""
    written = {"id": written_id, "name": response.function, "response": value or {}}
    change = difference({"functionResponse": written}, part)
    return RecordEntry(record, {BLOCK: change} if change else {})


def _answered(state: ImportState, call_id: str | None, name: str) -> pb.Message | None:
    if call_id is None:
        return state.open_calls.answer((_BY_NAME, name))
    found = state.open_calls.answer((_BY_ID, call_id))
    # A client may make up an id for a call that came without one.
    return found or state.open_calls.answer((_BY_NAME_ALONE, name))


def _written_id(call: pb.Message | None) -> str:
    """Return the id under which a call is compiled."""
    return "" if call is None else call.action_request.provider_call_id or call.id


def _text_of(value: dict[str, Any] | None) -> str | None:
    if value is None or value.keys() != {_TEXT_RESULT} or not isinstance(value[_TEXT_RESULT], str):
        return None
    text: str = value[_TEXT_RESULT]
    return text


def _id_of(given: dict[str, Any], path: str) -> str | None:
    call_id = given.get("id")
    if not isinstance(call_id, str | None):
        raise ValueError(f"{path}.id: must be text")
    return call_id or None


def _object_of(part: dict[str, Any], path: str, name: str) -> tuple[dict[str, Any], str]:
    inner = f"{path}.{name}"
    if not isinstance(part[name], dict):
        raise ValueError(f"{inner}: must be an object")
    return part[name], inner

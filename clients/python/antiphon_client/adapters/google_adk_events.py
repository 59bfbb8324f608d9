"""Events of the Google ADK as records, and back.

=========================  ==========================================================
part of an event           record
=========================  ==========================================================
texts of the user          an instruction
texts and thoughts of      an assistant response; blocks where there are several
an agent
``function_call``          an action request behind it
``function_response``      an action response, linked to its call
``actions.state_delta``    a generic record, which no model is shown
any other                  stands in the metadata alone
=========================  ==========================================================

The ids of an event's records follow from the event, so that one delivered again
takes its own place.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from typing import Any, Final

from google.adk.events import Event
from pydantic import TypeAdapter

from antiphon.message.v1 import content_block_pb2 as block_pb
from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.adapters.unit_reading import value_of_record
from antiphon_client.adapters.units import UnitWriter, call_block, text_block
from antiphon_client.ids import derived_request_id
from antiphon_client.json_text import dump_json_text

METADATA_KEY: Final = "google_adk"

_STATE_PATH: Final = ("actions", "state_delta")
_EVENTS: Final = TypeAdapter(list[Event])
_NANOSECONDS: Final = 1e9


def records_of(event: Event) -> list[pb.Message]:
    """Return the records of an event.

    Raises:
        JsonTextError: The event holds what JSON text cannot.
    """
    item = _without_defaults(event.model_dump(mode="json", exclude_none=True))
    text, numbers = dump_json_text(item), itertools.count()
    writer = UnitWriter(lambda: derived_request_id(METADATA_KEY, text, str(next(numbers))))
    parts = item.get("content", {}).get("parts", [])
    _write_texts(writer, parts, by_user=item.get("author") == "user")
    _write_calls(writer, parts)
    if item.get("actions", {}).get("state_delta"):
        writer.generic(item["actions"]["state_delta"], *_STATE_PATH)
    if not writer.records:
        writer.generic(None)
    return writer.finish(METADATA_KEY, item)


def events_of(text: str) -> list[Event]:
    """Return the events of their JSON forms' text."""
    # Only from text does the framework take base64 text for the bytes of a file. Fields are
    # written under their names: to look for their aliases too takes longer.
    return _EVENTS.validate_json(text, by_alias=False, by_name=True)


def state_deltas(records: Iterable[pb.Message]) -> list[dict[str, Any]]:
    """Return the changes of the state among generic records, in order."""
    values = [value_of_record(record) for record in records if _is_ours(record)]
    return [value for value in values if isinstance(value, dict)]


def dict_of(record: pb.Message, kind: str | None, _entry: str | None) -> dict[str, Any] | None:
    """Return the event that another client's record stands for; None for none."""
    if kind == "instruction":
        return _event(record, "user", {"text": record.instruction.instruction})
    if kind == "summary":
        return _event(record, "user", {"text": record.summary.text})
    if kind == "assistant_response":
        return _event(record, "model", {"text": record.assistant_response.assistant_response})
    if kind == "action_request":
        request = record.action_request
        call = {"id": request.provider_call_id or record.id, "name": request.function}
        return _event(record, "model", {"function_call": {**call, "args": value_of_record(record)}})
    if kind == "action_response":
        answer = record.action_response
        call = {"id": answer.provider_call_id or answer.action_request_id, "name": answer.function}
        output = {"error": answer.error} if answer.HasField("error") else value_of_record(record)
        response = output if isinstance(output, dict) else {"result": output}
        return _event(record, "model", {"function_response": {**call, "response": response}}, role="user")
    return None


def _event(record: pb.Message, author: str, part: dict[str, Any], role: str = "") -> dict[str, Any]:
    time = record.created_at.seconds + record.created_at.nanos / _NANOSECONDS
    content = {"role": role or author, "parts": [part]}
    return {"id": record.id, "timestamp": time, "author": author, "content": content}


def _is_ours(record: pb.Message) -> bool:
    return METADATA_KEY in json.loads(record.metadata_json or "{}")


def _without_defaults(item: dict[str, Any]) -> dict[str, Any]:
    """Leave out the empty objects that every event has."""
    actions = {key: value for key, value in item.pop("actions", {}).items() if value != {}}
    if actions:
        item["actions"] = actions
    if item.get("node_info") == {"path": ""}:
        del item["node_info"]
    return item


def _write_texts(writer: UnitWriter, parts: list[dict[str, Any]], *, by_user: bool) -> None:
    texts = [index for index, part in enumerate(parts) if isinstance(part.get("text"), str)]
    has_calls = any("function_call" in part for part in parts)
    if not texts and not has_calls:
        return
    thoughts = [index for index in texts if parts[index].get("thought")]
    is_plain = len(texts) == 1 and not thoughts
    paths = {index: ("content", "parts", index, "text") for index in texts}
    if is_plain:
        write = writer.instruction if by_user else writer.response
        write(parts[texts[0]]["text"], *paths[texts[0]])
        return
    if by_user and texts:
        writer.instruction(None)
    else:
        writer.response("".join(parts[index]["text"] for index in texts if index not in thoughts))
    for index in texts:
        text = parts[index]["text"]
        thought = block_pb.ContentBlock(thinking=block_pb.Thinking(thinking=text))
        writer.block(thought if index in thoughts and not by_user else text_block(text), *paths[index])


def _write_calls(writer: UnitWriter, parts: list[dict[str, Any]]) -> None:
    turn = writer.records[0] if writer.records else None
    for index, part in enumerate(parts):
        call, response = part.get("function_call"), part.get("function_response")
        if call is not None:
            path = ("content", "parts", index, "function_call", "args")
            request = writer.request(call.get("name", ""), call.get("id"), call.get("args"), *path)
            if turn is not None and turn.HasField("assistant_response"):
                turn.assistant_response.blocks.append(call_block(request))
        elif response is not None:
            path = ("content", "parts", index, "function_response", "response")
            output = response.get("response")
            answer = writer.answer(response.get("name", ""), response.get("id"), output, *path)
            if output is None:
                answer.action_response.ClearField("output_json")

"""Results of Anthropic's messages as action responses."""

from __future__ import annotations

from typing import Any

from antiphon.message.v1 import content_block_pb2 as block_pb
from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.anthropic_messages.blocks import read_block, written_text
from antiphon_client.importing.calls import link_result
from antiphon_client.importing.conversation import NoteKind
from antiphon_client.importing.fields import required_text
from antiphon_client.importing.forms import BLOCK, PARTS
from antiphon_client.importing.reading import (
    ImportState,
    ReadBlock,
    RecordEntry,
    cache_control_of,
    cache_control_value,
)
from antiphon_client.importing.residue import difference
from antiphon_client.json_text import dump_json_text


def read_result(block: dict[str, Any], path: str, state: ImportState, index: int, number: int) -> RecordEntry:
    """Return the action response of a ``tool_result`` block.

    Its text is the output, as text; of a failure it is the reason. A list's
    blocks are kept beside it.

    Args:
        block: The block.
        path: Where it stands.
        state: The import.
        index: Index of its message.
        number: Number of the record among those of the message.

    Raises:
        ValueError: It lacks what results have.
    """
    record = state.ids.record(index, number)
    response = record.action_response
    response.provider_call_id = required_text(block, path, "tool_use_id")
    call = state.open_calls.answer(response.provider_call_id)
    if call is None:
        state.note(NoteKind.RESULT_UNCORRELATED, path, "the result answers no open call")
    else:
        link_result(response, call)
    is_error = block.get("is_error") is True
    written: dict[str, Any] = {"type": "tool_result", "tool_use_id": response.provider_call_id}
    if is_error:
        written["is_error"] = True
    content = block.get("content")
    entry: dict[str, Any] = {}
    if isinstance(content, list) and content:
        entry = _read_list(response, content, path, state, is_error=is_error)
        block = {key: value for key, value in block.items() if key != "content"}
    elif isinstance(content, str | list | None):
        text = content if isinstance(content, str) else ""
        written["content"] = text
        written |= _set_text(response, text, block, is_error=is_error)
    else:
        raise ValueError(f"{path}.content: must be text or a list of blocks")
    change = difference(written, block)
    return RecordEntry(record, {**entry, **({BLOCK: change} if change else {})})


def _set_text(
    response: pb.ActionResponseContent, text: str, block: dict[str, Any], *, is_error: bool
) -> dict[str, Any]:
    """Set what a result says; return the members that a projection writes for it."""
    if is_error:
        response.error = text
        return {}
    response.output_json = dump_json_text(text)
    mark = cache_control_of(block.get("cache_control"))
    if mark is None:
        return {}
    response.blocks.add(text=block_pb.Text(text=text, cache_control=mark))
    return {"cache_control": cache_control_value(mark)}


def _read_list(
    response: pb.ActionResponseContent, content: list[Any], path: str, state: ImportState, *, is_error: bool
) -> dict[str, Any]:
    read: list[ReadBlock] = []
    for number, given in enumerate(content):
        block_path = f"{path}.content[{number}]"
        each = read_block(given, block_path, state)
        if each.block.WhichOneof("block") == "thinking":
            raise ValueError(f"{block_path}.type: a result holds no thinking")
        if each.loss is not None:
            state.note(NoteKind.PART_NOT_SHOWN, block_path, each.loss)
        read.append(each)
    blocks = [each.block for each in read]
    if is_error:
        # The reason comes first in a compiled result; what follows it stays rich.
        if blocks[0].WhichOneof("block") == "text":
            response.error = blocks.pop(0).text.text
            # A reason has no cache mark of its own.
            bare = written_text(block_pb.Text(text=response.error))
            read[0] = read[0]._replace(difference=difference(bare, content[0]))
        else:
            response.error = ""
        response.blocks.extend(blocks)
    else:
        response.blocks.extend(blocks)
        text = "".join(each.text.text for each in blocks if each.WhichOneof("block") == "text")
        response.output_json = dump_json_text(text)
    return {PARTS: True, **state.blocks(read)}

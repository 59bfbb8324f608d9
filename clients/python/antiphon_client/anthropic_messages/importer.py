"""Import of a conversation in Anthropic's format as records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from antiphon.message.v1 import content_block_pb2 as block_pb
from antiphon_client.anthropic_messages.blocks import PROVIDER, read_block, written_text
from antiphon_client.anthropic_messages.results import read_result
from antiphon_client.importing.calls import position_of
from antiphon_client.importing.conversation import ImportedConversation, NoteKind
from antiphon_client.importing.fields import field_of, plain_message, plain_value, required_text
from antiphon_client.importing.forms import BLOCK, PARTS
from antiphon_client.importing.reading import ImportState, ReadBlock, RecordEntry
from antiphon_client.importing.residue import Difference, difference
from antiphon_client.importing.routes import route_from_system, route_to_user
from antiphon_client.json_text import dump_json_text

METADATA_KEY: Final = "anthropic_messages"
"""Where a record's metadata holds what its own fields do not say: see `importing.forms`."""


def import_messages(
    messages: Sequence[Mapping[str, Any]],
    *,
    system: str | Sequence[Mapping[str, Any]] | None = None,
    seed: str | None = None,
) -> ImportedConversation:
    """Return the records of the ``messages`` and the ``system`` of a request to Anthropic.

    ======================  =====================================================
    part of the request     records
    ======================  =====================================================
    system                  the branch's system record; texts of a list joined by
                            blank lines
    user                    an action response for each ``tool_result``, and an
                            instruction for what stands between them: a text goes
                            to ``instruction``, blocks to ``blocks``
    assistant               an assistant response, and an action request for each
                            ``tool_use``; its blocks mark the calls' positions
    system among messages   an instruction in its place, sent by the system
    ======================  =====================================================

    Thinking is signed by "anthropic"; redacted thinking, documents and blocks
    that are not known are kept whole as opaque blocks of "anthropic". A result
    answers the nearest call with its id that has no answer yet; one with
    ``is_error`` is a failure, its first text the reason. Whatever a record has
    no field for travels in its metadata.

    Args:
        messages: The messages, as parsed from JSON with exact integers.
        system: The system text: a text, or a list of text blocks.
        seed: Makes the records' ids depend on it and on the position only, so
            that a repeated import sends the same bytes. None: fresh ids, ordered by time.

    Raises:
        ValueError: Something is not of this format or holds what JSON text
            cannot; the error begins with the path. Nothing is imported then.
    """
    reader = _Reader(seed)
    if system is not None:
        reader.read_system(system)
    for index, message in enumerate(messages):
        reader.read(message, index)
    return reader.state.conversation()


class _Reader:
    """One import."""

    def __init__(self, seed: str | None) -> None:
        self.state = ImportState(METADATA_KEY, PROVIDER, seed)

    def read_system(self, given: Any) -> None:
        """Read the system text."""
        content = plain_value(given, "system")
        if isinstance(content, str):
            self.state.set_system([(content, None)], {PARTS: False}, "system")
            return
        if not isinstance(content, list):
            raise ValueError("system: must be text or a list of text blocks")
        texts: list[tuple[str, Difference | None]] = []
        for number, block in enumerate(content):
            path = f"system[{number}]"
            if required_text(block, path, "type") != "text":
                raise ValueError(f"{path}.type: must be 'text'")
            text = required_text(block, path, "text")
            texts.append((text, difference(written_text(block_pb.Text(text=text)), block)))
        self.state.set_system(texts, {}, "system")

    def read(self, given: Any, index: int) -> None:
        """Read one message."""
        path = f"messages[{index}]"
        message = plain_message(given, path)
        role = required_text(message, path, "role")
        content = field_of(message, path, "content")
        if isinstance(content, list):
            for number, block in enumerate(content):
                required_text(block, f"{path}.content[{number}]", "type")
        elif not isinstance(content, str):
            raise ValueError(f"{path}.content: must be text or a list of blocks")
        beside = {key: value for key, value in message.items() if key != "content"}
        written = {"role": role}
        if role == "assistant":
            records = self._assistant(content, path, index)
        elif role == "user":
            records = self._user(content, path, index)
        elif role == "system":
            records = self._system_in_place(content, path, index)
            beside["role"] = role
        else:
            raise ValueError(f"{path}.role: {role!r} is not a role of a message")
        self.state.add_message(records, beside, written, path)

    def _user(self, content: str | list[Any], path: str, index: int) -> list[RecordEntry]:
        if isinstance(content, str):
            record = self.state.ids.record(index)
            record.instruction.instruction = content
            return [RecordEntry(record, {})]
        records: list[RecordEntry] = []
        said: list[ReadBlock] = []
        for number, block in enumerate(content):
            block_path = f"{path}.content[{number}]"
            if block["type"] == "tool_result":
                if said:
                    records.append(self._instruction(said, index, len(records)))
                    said = []
                records.append(read_result(block, block_path, self.state, index, len(records)))
            elif block["type"] == "tool_use":
                raise ValueError(f"{block_path}.type: a user calls no tools")
            else:
                said.append(self._block(block, block_path))
        if said or not records:
            records.append(self._instruction(said, index, len(records)))
        return records

    def _instruction(self, said: list[ReadBlock], index: int, number: int) -> RecordEntry:
        record = self.state.ids.record(index, number)
        record.instruction.SetInParent()
        record.instruction.blocks.extend(each.block for each in said)
        return RecordEntry(record, {PARTS: True, **self.state.blocks(said)})

    def _system_in_place(self, content: str | list[Any], path: str, index: int) -> list[RecordEntry]:
        records = self._user(content, path, index)
        for record, _ in records:
            # The compiler takes an instruction that the system sends for system text.
            route_from_system(record)
        detail = "system text among the messages is a user's turn in its place"
        self.state.note(NoteKind.SYSTEM_IN_PLACE, path, detail)
        return records

    def _assistant(self, content: str | list[Any], path: str, index: int) -> list[RecordEntry]:
        record = self.state.ids.record(index)
        route_to_user(record)
        turn = record.assistant_response
        turn.SetInParent()
        if isinstance(content, str):
            turn.assistant_response = content
            return [RecordEntry(record, {PARTS: False})]
        said: list[ReadBlock] = []
        calls: list[RecordEntry] = []
        for number, block in enumerate(content):
            block_path = f"{path}.content[{number}]"
            if block["type"] == "tool_use":
                call = self._call(block, block_path, index, len(calls) + 1)
                calls.append(call)
                turn.blocks.append(position_of(call.record.action_request))
            elif block["type"] == "tool_result":
                raise ValueError(f"{block_path}.type: an assistant gives no results")
            else:
                said.append(self._block(block, block_path))
                turn.blocks.append(said[-1].block)
        turn.assistant_response = "".join(
            block.text.text for block in turn.blocks if block.WhichOneof("block") == "text"
        )
        self.state.open_calls.open_round((call, (call.action_request.provider_call_id,)) for call, _ in calls)
        return [RecordEntry(record, self.state.blocks(said)), *calls]

    def _call(self, block: dict[str, Any], path: str, index: int, number: int) -> RecordEntry:
        record = self.state.ids.record(index, number)
        request = record.action_request
        request.function = required_text(block, path, "name")
        request.provider_call_id = required_text(block, path, "id")
        arguments = block.get("input", {})
        if isinstance(arguments, dict):
            request.arguments_json = dump_json_text(arguments)
        else:
            request.arguments_text = dump_json_text(arguments)
            detail = "arguments are kept as text: they are no object"
            self.state.note(NoteKind.ARGUMENTS_NOT_OBJECT, path, detail)
        written = {
            "type": "tool_use",
            "id": request.provider_call_id,
            "name": request.function,
            "input": arguments,
        }
        change = difference(written, block)
        return RecordEntry(record, {BLOCK: change} if change else {})

    def _block(self, block: dict[str, Any], path: str) -> ReadBlock:
        read = read_block(block, path, self.state)
        if read.loss is not None:
            self.state.note(NoteKind.PART_NOT_SHOWN, path, read.loss)
        return read

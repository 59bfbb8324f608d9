"""Import of a conversation in Gemini's format as records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from antiphon_client.gemini_contents.calls import keys_of_call, read_call, read_result
from antiphon_client.gemini_contents.parts import PROVIDER, kind_of_part, read_part
from antiphon_client.gemini_contents.spelling import plain_part
from antiphon_client.importing.calls import position_of
from antiphon_client.importing.conversation import ImportedConversation, NoteKind
from antiphon_client.importing.fields import field_of, plain_message, plain_value
from antiphon_client.importing.forms import MESSAGE
from antiphon_client.importing.reading import ImportState, ReadBlock, RecordEntry
from antiphon_client.importing.residue import Difference, difference
from antiphon_client.importing.routes import route_from_system, route_to_user

METADATA_KEY: Final = "gemini_contents"
"""Where a record's metadata holds what its own fields do not say: see `importing.forms`."""

_USERS: Final = frozenset(("user", "function", "tool", "system"))


def import_contents(
    contents: Sequence[Mapping[str, Any]],
    *,
    system_instruction: str | Mapping[str, Any] | None = None,
    seed: str | None = None,
) -> ImportedConversation:
    """Return the records of the ``contents`` and the ``systemInstruction`` of a request to Gemini.

    ======================  =====================================================
    part of the request     records
    ======================  =====================================================
    systemInstruction       the branch's system record; texts of several parts
                            joined by blank lines
    user, function          an action response for each ``functionResponse``, and
                            an instruction for what stands between them
    model                   an assistant response, and an action request for each
                            ``functionCall``; its blocks mark the calls' positions
    system among contents   an instruction in its place, sent by the system
    ======================  =====================================================

    A signature goes with the call it stands beside; beside a text it becomes
    thinking of "gemini" without words. A result answers the nearest open call
    with its id; without ids, the first open call of its name in the nearest
    round. Members may be spelled in snake case; they come back in camel case.
    Whatever a record has no field for travels in its metadata.

    Args:
        contents: The contents, as parsed from JSON with exact integers.
        system_instruction: The system text: a text, or a content of text parts.
        seed: Makes the records' ids depend on it and on the position only, so
            that a repeated import sends the same bytes. None: fresh ids, ordered by time.

    Raises:
        ValueError: Something is not of this format or holds what JSON text
            cannot; the error begins with the path. Nothing is imported then.
    """
    reader = _Reader(seed)
    if system_instruction is not None:
        reader.read_system(system_instruction)
    for index, content in enumerate(contents):
        reader.read(content, index)
    return reader.state.conversation()


class _Reader:
    """One import."""

    def __init__(self, seed: str | None) -> None:
        self.state = ImportState(METADATA_KEY, PROVIDER, seed)

    def read_system(self, given: Any) -> None:
        """Read the system text."""
        path = "systemInstruction"
        if isinstance(given, str):
            self.state.set_system([(plain_value(given, path), None)], {}, path)
            return
        content = plain_message(given, path)
        texts: list[tuple[str, Difference | None]] = []
        for part, part_path in _parts_of(content, path):
            if kind_of_part(part, part_path) != "text" or not isinstance(part["text"], str):
                raise ValueError(f"{part_path}: must hold a text")
            texts.append((part["text"], difference({"text": part["text"]}, part)))
        change = difference({}, {key: value for key, value in content.items() if key != "parts"})
        self.state.set_system(texts, {MESSAGE: change} if change else {}, path)

    def read(self, given: Any, index: int) -> None:
        """Read one content."""
        path = f"contents[{index}]"
        content = plain_message(given, path)
        role = content.get("role")
        parts = _parts_of(content, path)
        beside = {key: value for key, value in content.items() if key != "parts"}
        written = {"role": "user"}
        if role == "model":
            written = {"role": "model"}
            records = self._model(parts, index)
        elif role is None or role in _USERS:
            records = self._user(parts, index)
        else:
            raise ValueError(f"{path}.role: {role!r} is not a role of a content")
        if role == "system":
            # The API has no such role; the turn is a user's and stays one.
            beside["role"] = "user"
            self._route_from_system(records, path)
        self.state.add_message(records, beside, written, path)

    def _user(self, parts: list[tuple[dict[str, Any], str]], index: int) -> list[RecordEntry]:
        records: list[RecordEntry] = []
        said: list[ReadBlock] = []
        for part, path in parts:
            kind = kind_of_part(part, path)
            if kind == "functionResponse":
                if said:
                    records.append(self._instruction(said, index, len(records)))
                    said = []
                records.append(read_result(part, path, self.state, index, len(records)))
            elif kind == "functionCall":
                raise ValueError(f"{path}.functionCall: a user calls no functions")
            else:
                said += self._blocks(part, kind, path, is_user=True)
        if said or not records:
            records.append(self._instruction(said, index, len(records)))
        return records

    def _instruction(self, said: list[ReadBlock], index: int, number: int) -> RecordEntry:
        record = self.state.ids.record(index, number)
        instruction = record.instruction
        instruction.SetInParent()
        entry = self.state.blocks(said)
        if len(said) == 1 and said[0].block.WhichOneof("block") == "text":
            instruction.instruction = said[0].block.text.text
        else:
            instruction.blocks.extend(each.block for each in said)
        return RecordEntry(record, entry)

    def _route_from_system(self, records: list[RecordEntry], path: str) -> None:
        for record, _ in records:
            # The compiler takes an instruction that the system sends for system text.
            if record.HasField("instruction"):
                route_from_system(record)
        detail = "system text among the contents is a user's turn in its place"
        self.state.note(NoteKind.SYSTEM_IN_PLACE, path, detail)

    def _model(self, parts: list[tuple[dict[str, Any], str]], index: int) -> list[RecordEntry]:
        record = self.state.ids.record(index)
        route_to_user(record)
        turn = record.assistant_response
        turn.SetInParent()
        said: list[ReadBlock] = []
        calls: list[RecordEntry] = []
        for part, path in parts:
            kind = kind_of_part(part, path)
            if kind == "functionCall":
                call = read_call(part, path, self.state, index, len(calls) + 1)
                calls.append(call)
                turn.blocks.append(position_of(call.record.action_request))
            elif kind == "functionResponse":
                raise ValueError(f"{path}.functionResponse: a model gives no results")
            else:
                read = self._blocks(part, kind, path, is_user=False)
                said += read
                turn.blocks.extend(each.block for each in read)
        turn.assistant_response = "".join(
            block.text.text for block in turn.blocks if block.WhichOneof("block") == "text"
        )
        self.state.open_calls.open_round((call, keys_of_call(call)) for call, _ in calls)
        return [RecordEntry(record, self.state.blocks(said)), *calls]

    def _blocks(self, part: dict[str, Any], kind: str, path: str, *, is_user: bool) -> list[ReadBlock]:
        read = read_part(part, kind, path, self.state, is_user=is_user)
        for each in read:
            if each.loss is not None:
                self.state.note(NoteKind.PART_NOT_SHOWN, path, each.loss)
        return read


def _parts_of(content: dict[str, Any], path: str) -> list[tuple[dict[str, Any], str]]:
    parts = field_of(content, path, "parts")
    if not isinstance(parts, list):
        raise ValueError(f"{path}.parts: must be a list")
    paths = [f"{path}.parts[{number}]" for number in range(len(parts))]
    return [(plain_part(part, part_path), part_path) for part, part_path in zip(parts, paths, strict=True)]

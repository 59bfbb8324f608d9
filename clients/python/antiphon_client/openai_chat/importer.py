"""Import of an OpenAI chat conversation as records."""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from antiphon.message.v1 import content_block_pb2 as block_pb
from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.ids import new_id
from antiphon_client.json_text import (
    JsonTextError,
    check_json_text,
    dump_json_text,
)
from antiphon_client.messages.arguments import parse_arguments
from antiphon_client.openai_chat.conversation import ImportedConversation, ImportNote, NoteKind
from antiphon_client.openai_chat.fields import field_of, plain_message, required_text
from antiphon_client.openai_chat.marks import DIFFERENCE, ORPHAN, PARTS, POSITION, ROLE, write_marks
from antiphon_client.openai_chat.parts import read_part, text_of
from antiphon_client.openai_chat.render import (
    FUNCTION_ROLE,
    assistant_message,
    system_message,
    tool_call,
    tool_message,
    user_message,
)
from antiphon_client.openai_chat.residue import difference

_NAMESPACE: Final = uuid.UUID("5b0c1f5e-3c7a-5d0e-9a55-5f0f3c6f4a61")

_SYSTEM_ROUTE: Final = (pb.Address(role=pb.ROLE_SYSTEM), pb.Address(role=pb.ROLE_ASSISTANT))
_TO_USER: Final = pb.Address(role=pb.ROLE_USER)


def import_messages(
    messages: Sequence[Mapping[str, Any]], *, seed: str | None = None
) -> ImportedConversation:
    """Return the records of an OpenAI chat ``messages`` array.

    ======================  =====================================================
    message                 records
    ======================  =====================================================
    first system/developer  the branch's system record
    later system/developer  an instruction in its place, marked with its role
    user                    an instruction: text to ``instruction``, parts to ``blocks``
    assistant               an assistant response, and an action request for
                            each tool call; its blocks mark the calls' positions
    tool, function          an action response; the text is its output, as text.
                            It answers the nearest call with its id that has no
                            answer yet, first in first out within one turn
    ======================  =====================================================

    Arguments are kept as their exact text. Whatever a record has no field for
    (keys we do not model, null or absent contents) travels in its metadata, and
    `export_messages` puts it back.

    Args:
        messages: The messages, as parsed from JSON with exact integers.
        seed: Makes the records' ids depend on it and on the position only, so
            that a repeated import sends the same bytes. None: random ids.

    Raises:
        ValueError: A message is not one of these shapes or holds what JSON text
            cannot; the error begins with the path. Nothing is imported then.
    """
    reader = _Reader(seed)
    for index, message in enumerate(messages):
        reader.read(message, index)
    return ImportedConversation(reader.system, tuple(reader.messages), tuple(reader.notes))


class _Reader:
    """The state of one import."""

    def __init__(self, seed: str | None) -> None:
        self.system: pb.Message | None = None
        self.messages: list[pb.Message] = []
        self.notes: list[ImportNote] = []
        self._seed = seed
        # For each provider id, the unanswered calls of each round, latest round last.
        self._open_calls: dict[str, list[deque[pb.Message]]] = {}

    def read(self, given: Any, index: int) -> None:
        """Read one message."""
        path = f"messages[{index}]"
        message = plain_message(given, path)
        role = message.get("role")
        readers: dict[str, Callable[[dict[str, Any], str, int], None]] = {
            "system": self._system,
            "developer": self._system,
            "user": self._user,
            "assistant": self._assistant,
            "tool": self._tool,
            FUNCTION_ROLE: self._tool,
        }
        if not isinstance(role, str) or role not in readers:
            raise ValueError(f"{path}.role: {role!r} is not a role of a message")
        readers[role](message, path, index)

    def _system(self, message: dict[str, Any], path: str, index: int) -> None:
        role = message["role"]
        if self.system is not None:
            detail = "only the first system text is the system record; this one is a user's turn"
            self._note(NoteKind.SYSTEM_IN_PLACE, path, detail)
            self._instruction(message, path, index, {ROLE: role})
            return
        marks: dict[str, Any] = {} if role == "system" else {ROLE: role}
        if index:
            marks[POSITION] = index
        record = self._record(index)
        record.sender.CopyFrom(_SYSTEM_ROUTE[0])
        record.recipient.CopyFrom(_SYSTEM_ROUTE[1])
        content = _content(message, path)
        if isinstance(content, list):
            content = "\n\n".join(
                text_of([block])
                for block in self._blocks(content, path)
                if block.WhichOneof("block") == "text"
            )
        record.system.system_message = content or ""
        self._finish(record, marks, system_message, message, path)
        self.system = record

    def _user(self, message: dict[str, Any], path: str, index: int) -> None:
        self._instruction(message, path, index, {})

    def _instruction(self, message: dict[str, Any], path: str, index: int, marks: dict[str, Any]) -> None:
        record = self._record(index)
        record.instruction.SetInParent()
        content = _content(message, path)
        if isinstance(content, str):
            record.instruction.instruction = content
        elif content is not None:
            record.instruction.blocks.extend(self._blocks(content, path))
            marks = {**marks, PARTS: True}
        self._finish(record, marks, user_message, message, path)
        self.messages.append(record)

    def _assistant(self, message: dict[str, Any], path: str, index: int) -> None:
        record = self._record(index)
        record.recipient.CopyFrom(_TO_USER)
        turn = record.assistant_response
        turn.SetInParent()
        marks: dict[str, Any] = {}
        content = _content(message, path)
        if isinstance(content, str):
            turn.assistant_response = content
        elif content is not None:
            turn.blocks.extend(self._blocks(content, path))
            turn.assistant_response = text_of(turn.blocks)
            marks[PARTS] = True
        calls = self._calls(message, path, index)
        for call in calls:
            request = call.action_request
            marker = block_pb.ToolCall(id=request.provider_call_id, name=request.function)
            turn.blocks.add(tool_call=marker)
        self._finish(record, marks, lambda turn: assistant_message(turn, calls), message, path)
        self.messages += [record, *calls]
        self._open_round(calls)

    def _calls(self, message: dict[str, Any], path: str, index: int) -> list[pb.Message]:
        given = message.get("tool_calls")
        if given is None:
            return []
        if not isinstance(given, list):
            raise ValueError(f"{path}.tool_calls: must be a list")
        return [
            self._call(call, f"{path}.tool_calls[{number}]", index, number + 1)
            for number, call in enumerate(given)
        ]

    def _call(self, call: Any, path: str, index: int, part: int) -> pb.Message:
        kind = field_of(call, path, "type", default="function")
        if kind not in ("function", "custom"):
            raise ValueError(f"{path}.type: {kind!r} is not a type of tool call")
        # A custom tool's input is free text, kept where other calls' arguments are.
        value, text_key = ("function", "arguments") if kind == "function" else ("custom", "input")
        called = field_of(call, path, value)
        record = self._record(index, part)
        request = record.action_request
        request.function = required_text(called, f"{path}.{value}", "name")
        request.provider_call_id = required_text(call, path, "id")
        self._arguments(request, required_text(called, f"{path}.{value}", text_key), path)
        self._finish(record, {}, tool_call, call, path)
        return record

    def _arguments(self, request: pb.ActionRequestContent, text: str, path: str) -> None:
        try:
            check_json_text(text, require_object=True)
        except JsonTextError as error:
            request.arguments_text = text
            self._note(NoteKind.ARGUMENTS_NOT_OBJECT, path, f"arguments are kept as text: {error}")
            request.arguments_json = _repaired(text)
        else:
            request.arguments_json = text

    def _tool(self, message: dict[str, Any], path: str, index: int) -> None:
        record = self._record(index)
        response = record.action_response
        marks: dict[str, Any] = {}
        if message["role"] == FUNCTION_ROLE:
            marks[ROLE] = FUNCTION_ROLE
            response.function = required_text(message, path, "name")
            call = None
        else:
            response.provider_call_id = required_text(message, path, "tool_call_id")
            call = self._answered_call(response.provider_call_id)
        if call is None:
            marks[ORPHAN] = True
            self._note(NoteKind.RESULT_UNCORRELATED, path, "the result answers no open call")
            name = message.get("name")
            response.function = name if isinstance(name, str) else ""
        else:
            response.action_request_id = call.id
            response.function = call.action_request.function
            response.arguments_json = call.action_request.arguments_json
        content = _content(message, path)
        if isinstance(content, list):
            response.blocks.extend(self._blocks(content, path))
            content = text_of(response.blocks)
            marks[PARTS] = True
        if content is not None:
            response.output_json = dump_json_text(content)
        self._finish(
            record,
            marks,
            lambda result: tool_message(result, result.action_response.provider_call_id),
            message,
            path,
        )
        self.messages.append(record)

    def _open_round(self, calls: list[pb.Message]) -> None:
        this_round: dict[str, deque[pb.Message]] = {}
        for call in calls:
            this_round.setdefault(call.action_request.provider_call_id, deque()).append(call)
        for call_id, waiting in this_round.items():
            self._open_calls.setdefault(call_id, []).append(waiting)

    def _answered_call(self, call_id: str) -> pb.Message | None:
        rounds = self._open_calls.get(call_id, [])
        while rounds and not rounds[-1]:
            rounds.pop()
        return rounds[-1].popleft() if rounds else None

    def _blocks(self, parts: list[Any], path: str) -> list[block_pb.ContentBlock]:
        blocks = []
        for number, part in enumerate(parts):
            part_path = f"{path}.content[{number}]"
            block, loss = read_part(part, part_path)
            if loss is not None:
                self._note(NoteKind.PART_NOT_SHOWN, part_path, loss)
            blocks.append(block)
        return blocks

    def _record(self, index: int, part: int = 0) -> pb.Message:
        if self._seed is None:
            return pb.Message(id=new_id())
        # Length first, so that no seed and position can run into another pair.
        name = f"{len(self._seed)}:{self._seed}:{index}:{part}"
        return pb.Message(id=str(uuid.uuid5(_NAMESPACE, name)))

    def _finish(
        self,
        record: pb.Message,
        marks: dict[str, Any],
        render: Callable[[pb.Message], dict[str, Any]],
        original: dict[str, Any],
        path: str,
    ) -> None:
        """Write the record's marks, with whatever its own fields do not give back."""
        try:
            write_marks(record, marks)
            left = difference(render(record), original)
            if left is not None:
                write_marks(record, {**marks, DIFFERENCE: left})
        except JsonTextError as error:
            raise ValueError(f"{path}: {error}") from error

    def _note(self, kind: NoteKind, path: str, detail: str) -> None:
        self.notes.append(ImportNote(kind, path, detail))


def _content(message: dict[str, Any], path: str) -> str | list[Any] | None:
    content = message.get("content")
    if content is None or isinstance(content, (str, list)):
        return content
    raise ValueError(f"{path}.content: must be text, a list of parts or null")


def _repaired(text: str) -> str:
    """Return the JSON text of what malformed arguments mean; "" where they mean no object."""
    try:
        arguments = parse_arguments(text).value
    except ValueError:
        return ""
    return dump_json_text(arguments) if arguments else ""

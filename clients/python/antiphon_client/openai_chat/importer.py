"""Import of an OpenAI chat conversation as records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from antiphon.message.v1 import content_block_pb2 as block_pb
from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.importing.calls import link_result, position_of
from antiphon_client.importing.conversation import ImportedConversation, ImportNote, NoteKind
from antiphon_client.importing.fields import field_of, plain_message, required_text
from antiphon_client.importing.open_calls import OpenCalls
from antiphon_client.importing.record_ids import RecordIds
from antiphon_client.importing.residue import difference
from antiphon_client.importing.routes import route_from_system, route_to_user
from antiphon_client.json_text import (
    JsonTextError,
    check_json_text,
    dump_json_text,
)
from antiphon_client.messages.arguments import parse_arguments
from antiphon_client.openai_chat.marks import (
    AFTER,
    DIFFERENCE,
    FUNCTION_CALL,
    ORPHAN,
    PARTS,
    POSITION,
    ROLE,
    write_marks,
)
from antiphon_client.openai_chat.parts import read_part, text_of
from antiphon_client.openai_chat.render import (
    FUNCTION_ROLE,
    assistant_message,
    function_call,
    system_message,
    tool_call,
    tool_message,
    user_message,
)


def import_messages(
    messages: Sequence[Mapping[str, Any]], *, seed: str | None = None
) -> ImportedConversation:
    """Return the records of an OpenAI chat ``messages`` array.

    ======================  =====================================================
    message                 records
    ======================  =====================================================
    first system/developer  the branch's system record
    later system/developer  an instruction in its place, sent by the system and
                            marked with its role
    user                    an instruction: text to ``instruction``, parts to ``blocks``
    assistant               an assistant response, and an action request for
                            each tool call and its ``function_call``; its blocks
                            mark the calls' positions. A ``refusal`` without a
                            content is an opaque block, as among parts
    tool, function          an action response; the text is its output, as text.
                            It answers the nearest call with its id, or the
                            nearest ``function_call`` with its name, that has no
                            answer yet, first in first out within one turn
    ======================  =====================================================

    Arguments are kept as their exact text. Whatever a record has no field for
    (keys we do not model, null or absent contents) travels in its metadata, and
    `export_messages` puts it back.

    Args:
        messages: The messages, as parsed from JSON with exact integers.
        seed: Makes the records' ids depend on it and on the position only, so
            that a repeated import sends the same bytes. None: fresh ids, ordered by time.

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
        self._ids = RecordIds(seed)
        self._open_calls = OpenCalls()

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
            # The compiler takes an instruction that the system sends for system text.
            route_from_system(self.messages[-1])
            return
        marks: dict[str, Any] = {} if role == "system" else {ROLE: role}
        if index:
            marks |= {POSITION: index, AFTER: self.messages[-1].id}
        record = self._ids.record(index)
        route_from_system(record)
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
        record = self._ids.record(index)
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
        record = self._ids.record(index)
        route_to_user(record)
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
        refusal = message.get("refusal")
        if not content and isinstance(refusal, str) and refusal:
            turn.blocks.append(self._block({"type": "refusal", "refusal": refusal}, f"{path}.refusal"))
            marks[PARTS] = True
        calls = self._calls(message, path, index)
        for call in calls:
            turn.blocks.append(position_of(call.action_request))
        self._finish(record, marks, lambda turn: assistant_message(turn, calls), message, path)
        self.messages += [record, *calls]
        self._open_calls.open_round((call, (_key_of_call(call),)) for call in calls)

    def _calls(self, message: dict[str, Any], path: str, index: int) -> list[pb.Message]:
        given = message.get("tool_calls")
        if not isinstance(given, list | None):
            raise ValueError(f"{path}.tool_calls: must be a list")
        calls = [
            self._call(call, f"{path}.tool_calls[{number}]", index, number + 1)
            for number, call in enumerate(given or ())
        ]
        function = message.get("function_call")
        if function is not None:
            calls.append(self._function_call(function, f"{path}.function_call", index, len(calls) + 1))
        return calls

    def _function_call(self, called: Any, path: str, index: int, part: int) -> pb.Message:
        record = self._ids.record(index, part)
        request = record.action_request
        request.function = required_text(called, path, "name")
        self._arguments(request, required_text(called, path, "arguments"), path)
        self._finish(record, {FUNCTION_CALL: True}, function_call, called, path)
        return record

    def _call(self, call: Any, path: str, index: int, part: int) -> pb.Message:
        kind = field_of(call, path, "type", default="function")
        if kind not in ("function", "custom"):
            raise ValueError(f"{path}.type: {kind!r} is not a type of tool call")
        # A custom tool's input is free text, kept where other calls' arguments are.
        value, text_key = ("function", "arguments") if kind == "function" else ("custom", "input")
        called = field_of(call, path, value)
        record = self._ids.record(index, part)
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
        record = self._ids.record(index)
        response = record.action_response
        marks: dict[str, Any] = {}
        call_id: str | None = None
        if message["role"] == FUNCTION_ROLE:
            marks[ROLE] = FUNCTION_ROLE
            response.function = required_text(message, path, "name")
            call = self._open_calls.answer((FUNCTION_ROLE, response.function))
        else:
            response.provider_call_id = call_id = required_text(message, path, "tool_call_id")
            call = self._open_calls.answer(call_id)
        if call is None:
            marks[ORPHAN] = True
            self._note(NoteKind.RESULT_UNCORRELATED, path, "the result answers no open call")
            name = message.get("name")
            response.function = name if isinstance(name, str) else ""
        else:
            link_result(response, call)
        content = _content(message, path)
        if isinstance(content, list):
            response.blocks.extend(self._blocks(content, path))
            content = text_of(response.blocks)
            marks[PARTS] = True
        if content is not None:
            response.output_json = dump_json_text(content)
        self._finish(record, marks, lambda result: tool_message(result, call_id), message, path)
        self.messages.append(record)

    def _blocks(self, parts: list[Any], path: str) -> list[block_pb.ContentBlock]:
        return [self._block(part, f"{path}.content[{number}]") for number, part in enumerate(parts)]

    def _block(self, part: Any, path: str) -> block_pb.ContentBlock:
        block, loss = read_part(part, path)
        if loss is not None:
            self._note(NoteKind.PART_NOT_SHOWN, path, loss)
        return block

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


def _key_of_call(call: pb.Message) -> str | tuple[str, str]:
    """Return what a result finds a call by: its id, or the name where its form has no id."""
    request = call.action_request
    has_id = request.HasField("provider_call_id")
    return request.provider_call_id if has_id else (FUNCTION_ROLE, request.function)


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

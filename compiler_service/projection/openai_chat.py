"""OpenAI's Chat Completions API, and the many that speak like it.

A history that came from there goes back as it came: what its importer kept
beside the records is applied again.
"""

from __future__ import annotations

from typing import Any

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from antiphon_client.openai_chat.render import FUNCTION_ROLE
from compiler_service.native.turns import (
    SYSTEM_TEXT_MARK,
    CallPart,
    ImagePart,
    NativeTurn,
    OpaquePart,
    Part,
    ResultPart,
    TextPart,
)
from compiler_service.projection.arguments import arguments_text
from compiler_service.projection.images import detail_of, url_of
from compiler_service.projection.openai_extras import Extras, extras_reader
from compiler_service.projection.part_rules import REASONING_ECHO
from compiler_service.projection.reasoning import reasoning_of
from compiler_service.projection.splicing import Object, as_written, write
from compiler_service.projection.writing import (
    ASSISTANT,
    TOOL,
    Writing,
    result_text,
    texts_of,
)

_MESSAGE_KEYS = frozenset(("role", "content"))
_ASSISTANT_KEYS = _MESSAGE_KEYS | {"tool_calls", "function_call", "reasoning_content"}
_TOOL_KEYS = _MESSAGE_KEYS | {"tool_call_id"}
_FUNCTION_KEYS = _MESSAGE_KEYS | {"name"}
_CALL_KEYS = frozenset(("id", "type", "function"))
_CALLED_KEYS = frozenset(("name", "arguments"))


def write_turns(writing: Writing) -> dict[str, str]:
    """Return the text of ``messages``, the system text among them."""
    return {"messages": write(_Messages(writing).all())}


class _Messages:
    """The messages, while they are written."""

    def __init__(self, writing: Writing) -> None:
        self._writing = writing
        self._ids = writing.ids
        self._names = writing.names
        self._losses = writing.losses
        self._extras = extras_reader()
        # The call of the round that is its message's `function_call`, by its id among the turns.
        self._function_call: str | None = None
        self._echoes = REASONING_ECHO in writing.target.flags

    def all(self) -> list[Object]:
        """Write all turns."""
        prepared = self._writing.prepared
        messages: list[Object] = []
        echoes = self._echoes
        for index, turn in enumerate(prepared.turns):
            if turn.is_text and turn.extras_json is None and not echoes:
                messages.append(_plain_message(turn))
            elif turn.role == TOOL:
                for part in turn.parts:
                    if type(part) is ResultPart:
                        messages.append(self._result(part))
            elif turn.role == ASSISTANT:
                is_current = index >= prepared.current_from
                messages.append(self._one_call(turn) or self._assistant(turn, is_current=is_current))
            else:
                messages.append(self._user(turn))
        if prepared.system_text is not None:
            extras = self._extras.read(self._writing.system_extras_json)
            system = {"role": extras.role or "system", "content": prepared.system_text}
            messages.insert(self._system_index(extras), extras.applied(system, _MESSAGE_KEYS))
        return messages

    def _system_index(self, extras: Extras) -> int:
        """Return where the system message stands: in its place while all that was before it is there."""
        if extras.position <= 0:
            return 0
        # Every turn is one message; a call's results follow it.
        turns = self._writing.prepared.turns
        before, following = turns[: extras.position], turns[extras.position : extras.position + 1]
        is_place = len(before) == extras.position and extras.after in before[-1].message_ids
        if is_place and not (following and following[0].role == TOOL):
            return extras.position
        detail = "system text moved to the front"
        self._losses.add(notes_pb.COMPILE_NOTE_KIND_PART_CONVERTED, self._writing.system_id, detail)
        return 0

    def _user(self, turn: NativeTurn) -> Object:
        extras = self._extras.read(turn.extras_json)
        parts = turn.parts
        if turn.is_system_text and extras.role is not None:
            parts = _without_system_mark(parts)
        content = _user_content(parts, as_parts=extras.has_parts)
        role = extras.role if turn.is_system_text and extras.role is not None else "user"
        return extras.applied({"role": role, "content": content}, _MESSAGE_KEYS)

    def _one_call(self, turn: NativeTurn) -> Object | None:
        """Write a turn of one call and nothing else, as most that call are; None for any other."""
        parts = turn.parts
        if len(parts) != 1 or turn.extras_json is not None or self._echoes:
            return None
        call = parts[0]
        if type(call) is not CallPart or call.extras_json is not None:
            return None
        self._function_call = None
        (call_id,) = self._ids.open_round((call,))
        return {"role": "assistant", "content": None, "tool_calls": [self._call(call, call_id)]}

    def _assistant(self, turn: NativeTurn, *, is_current: bool) -> Object:
        extras = self._extras.read(turn.extras_json)
        texts: list[str] = []
        calls: list[CallPart] = []
        has_others = False
        for part in turn.parts:
            if type(part) is CallPart:
                calls.append(part)
            elif type(part) is TextPart:
                texts.append(part.text)
            elif type(part) is OpaquePart:
                has_others = True
        content: str | list[Object] | None = "\n".join(texts) if texts else None
        if has_others or (extras.has_parts and texts):
            content = [_content_part(part) for part in turn.parts if _is_content(part)]
        message: dict[str, Any] = {"role": "assistant", "content": content}
        if self._echoes and is_current:
            message["reasoning_content"] = reasoning_of(turn.parts)
        if calls:
            self._put_calls(calls, message)
        return extras.applied(message, _ASSISTANT_KEYS)

    def _put_calls(self, calls: list[CallPart], message: dict[str, Any]) -> None:
        """Write a round's calls; a message has one `function_call` at most."""
        function: CallPart | None = None
        tools = calls
        for call in calls:
            if call.extras_json is not None and self._extras.read(call.extras_json).is_function_call:
                function = call
                tools = [each for each in calls if each is not call]
                break
        self._function_call = None if function is None else function.id
        if tools:
            message["tool_calls"] = list(map(self._call, tools, self._ids.open_round(tools)))
        if function is not None:
            extras = self._extras.read(function.extras_json)
            message["function_call"] = extras.applied(self._called(function), _CALLED_KEYS)

    def _call(self, call: CallPart, call_id: str) -> Object:
        written = {"id": call_id, "type": "function", "function": self._called(call)}
        if call.extras_json is None:
            return written
        extras = self._extras.read(call.extras_json)
        # What is kept of a call of the older form is about that form.
        return written if extras.is_function_call else extras.applied(written, _CALL_KEYS)

    def _called(self, call: CallPart) -> dict[str, Any]:
        name = self._names.of(call.name, call.message_id)
        return {"name": name, "arguments": arguments_text(call, self._losses)}

    def _result(self, result: ResultPart) -> Object:
        if result.call_id == self._function_call:
            return self._function_result(result)
        call_id = self._ids.of_result(result)
        if result.extras_json is None:
            return {"role": "tool", "tool_call_id": call_id, "content": result_text(result)}
        extras = self._extras.read(result.extras_json)
        message = {"role": "tool", "tool_call_id": call_id, "content": _result_content(result, extras)}
        return extras.applied(message, _TOOL_KEYS)

    def _function_result(self, result: ResultPart) -> Object:
        extras = self._extras.read(result.extras_json)
        name = self._names.of(result.name, result.message_id)
        message = {"role": FUNCTION_ROLE, "name": name, "content": _result_content(result, extras)}
        return extras.applied(message, _FUNCTION_KEYS)


def _plain_message(turn: NativeTurn) -> Object:
    """Write a turn of one text, as most are."""
    part = turn.parts[0]
    assert type(part) is TextPart
    return {"role": "assistant" if turn.role == ASSISTANT else "user", "content": part.text}


def _without_system_mark(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Take off what marks a user turn as system text: its role says so here."""
    first = parts[0]
    if not isinstance(first, TextPart) or not first.text.startswith(SYSTEM_TEXT_MARK):
        return parts
    return (first._replace(text=first.text[len(SYSTEM_TEXT_MARK) :]), *parts[1:])


def _user_content(parts: tuple[Part, ...], *, as_parts: bool) -> str | list[Object]:
    if as_parts or not all(isinstance(part, TextPart) for part in parts):
        return list(map(_content_part, parts))
    return "\n".join(texts_of(parts))


def _result_content(result: ResultPart, extras: Extras) -> str | list[Object]:
    if extras.has_parts and all(isinstance(part, TextPart) for part in result.content):
        return list(map(_content_part, result.content))
    return result_text(result)


def _is_content(part: Part) -> bool:
    return isinstance(part, (TextPart, OpaquePart))


def _content_part(part: Part) -> Object:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    if isinstance(part, ImagePart):
        image = {"url": url_of(part)}
        detail = detail_of(part)
        if detail is not None:
            image["detail"] = detail
        return {"type": "image_url", "image_url": image}
    assert isinstance(part, OpaquePart)
    return as_written(part.data_json)

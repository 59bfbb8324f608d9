"""Anthropic's Messages API.

Results of a round and the user turns after it are one user message: result
blocks first, then the results' images, then what the user says. A history that
came from there goes back as it came: the forms that its importer kept beside
the records are used again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from antiphon_client.anthropic_messages import METADATA_KEY
from antiphon_client.importing.residue import apply
from antiphon_client.json_text import dump_json_text
from compiler_service.json_values import parse_checked
from compiler_service.native.turns import (
    CacheMark,
    CallPart,
    ImagePart,
    JsonPart,
    NativeTurn,
    OpaquePart,
    Part,
    ResultPart,
    TextPart,
    ThinkingPart,
)
from compiler_service.projection.arguments import arguments_object
from compiler_service.projection.cache_marks import MarkGate, write_within_limit
from compiler_service.projection.images import source_of
from compiler_service.projection.import_entries import EntryReader
from compiler_service.projection.import_forms import (
    BlockForms,
    Forms,
    block_forms,
    message_forms,
    with_difference,
    with_member,
)
from compiler_service.projection.splicing import inside, member_values, quote, write_array, write_object
from compiler_service.projection.writing import (
    ASSISTANT,
    TOOL,
    Writing,
    calls_of,
    result_images,
    result_text,
    results_of,
    spoken_system,
)
from compiler_service.texts import is_blank

_REASONING_IN_INPUT = "reasoning_in_tool_input"
_REASONING_KEY = "reasoning_content"
_MOST_REASONING_ADDED = 4 * 2**20
"""Characters of reasoning that arguments are given in one request: every call repeats that of its turn."""
_CACHE_MARK = "cache_control"


def write_turns(writing: Writing) -> dict[str, str]:
    """Return the texts of ``system`` and ``messages``."""
    return write_within_limit(
        writing.target.row,
        writing.losses,
        lambda gate: _members(_Request(writing._replace(ids=writing.ids.anew()), gate), writing),
    )


def _members(request: _Request, writing: Writing) -> dict[str, str]:
    members: dict[str, str] = {}
    system = spoken_system(writing)
    if system is not None:
        members["system"] = request.system(system)
    members["messages"] = write_array(request.messages())
    return members


class _Request:
    """The system text and the messages, while they are written."""

    def __init__(self, writing: Writing, gate: MarkGate) -> None:
        self._writing = writing
        self._gate = gate
        self._forms = EntryReader(METADATA_KEY, Forms)
        self._adds_reasoning = _REASONING_IN_INPUT in writing.target.flags
        self._reasoning_left = _MOST_REASONING_ADDED
        self._messages: list[str] = []
        self._results: list[ResultPart] = []
        self._result_blocks: list[str] = []
        self._result_images: list[str] = []

    def system(self, text: str) -> str:
        """Write the system text."""
        forms = self._forms.read(self._writing.system_extras_json)
        if forms.has_parts is False:
            return quote(text)
        message_id = self._writing.system_id
        return write_array(
            [self._formed(_text(piece), difference, message_id) for piece, difference in forms.pieces(text)]
        )

    def messages(self) -> list[str]:
        """Write all turns."""
        turns = self._writing.prepared.turns
        for turn in turns:
            if turn.role == TOOL:
                self._add_results(turn)
            elif turn.role == ASSISTANT:
                self._end_results([], None)
                self._add_assistant(turn, is_last=turn is turns[-1])
            else:
                self._add_user(turn)
        self._end_results([], None)
        return self._messages

    def _add_results(self, turn: NativeTurn) -> None:
        for result in results_of(turn):
            self._results.append(result)
            self._result_blocks.append(self._result(result))

    def _add_user(self, turn: NativeTurn) -> None:
        forms = self._forms.read(turn.extras_json)
        part = turn.parts[0]
        if (
            not self._results
            and not forms.has_parts
            and len(turn.parts) == 1
            and isinstance(part, TextPart)
            and part.cache_mark is None
        ):
            self._messages.append(_message("user", quote(part.text), forms))
            return
        taken = block_forms(forms)
        blocks = [self._block(part, taken) for part in turn.parts]
        self._end_results(blocks, forms)

    def _end_results(self, blocks: list[str], forms: Forms | None) -> None:
        """Write a user message of the results that wait, and of a user turn's blocks."""
        if self._results:
            forms = message_forms([self._forms.read(each.extras_json) for each in self._results])
            blocks = [*self._result_blocks, *self._result_images, *blocks]
            self._results, self._result_blocks, self._result_images = [], [], []
        if blocks:
            self._messages.append(_message("user", write_array(blocks), forms))

    def _result(self, result: ResultPart) -> str:
        forms = self._forms.read(result.extras_json)
        call_id = quote(self._writing.ids.of_result(result))
        marks = [mark for part in result.content if (mark := _mark_of(part)) is not None]
        as_parts = forms.has_parts or any(isinstance(part, OpaquePart) for part in result.content)
        # A mark of one text among several stays where it is.
        if as_parts or (marks and len(result.content) > 1):
            content, mark = self._result_blocks_of(result, block_forms(forms)), None
        else:
            content, mark = self._result_text(result), marks[0] if marks else None
            self._result_images += map(_image, result_images((result,)))
        flag = ',"is_error":true' if result.is_error else ""
        written = f'{{"type":"tool_result","tool_use_id":{call_id},"content":{content}{flag}}}'
        return self._formed(written, forms.block, result.message_id, mark)

    def _result_text(self, result: ResultPart) -> str:
        text = result_text(result)
        if is_blank(text) and (needed := self._error_text(result)) is not None:
            text = f"{text}\n{needed}" if text else needed
        return quote(text)

    def _result_blocks_of(self, result: ResultPart, taken: BlockForms) -> str:
        """Write a result's content as blocks; a blank text, which is refused in one, is none."""
        blocks: list[str] = []
        for part in result.content:
            if not isinstance(part, TextPart) or not is_blank(part.text):
                blocks.append(self._block(part, taken))
                continue
            if part.text:
                self._writing.losses.add(notes_pb.COMPILE_NOTE_KIND_EMPTY_PART_DROPPED, result.message_id)
            if part.cache_mark is not None:
                self._writing.losses.add(notes_pb.COMPILE_NOTE_KIND_CACHE_MARK_DROPPED, result.message_id)
        if not blocks and (needed := self._error_text(result)) is not None:
            blocks.append(_text(needed))
        return write_array(blocks)

    def _error_text(self, result: ResultPart) -> str | None:
        """Return the text that a failed result must have that says nothing; None where it need not."""
        needed = self._writing.target.row.empty_error_text
        if not result.is_error or needed is None:
            return None
        detail = "text of a failed result"
        self._writing.losses.add(notes_pb.COMPILE_NOTE_KIND_DEFAULT_APPLIED, result.message_id, detail)
        return needed

    def _add_assistant(self, turn: NativeTurn, *, is_last: bool) -> None:
        parts: Sequence[Part] = turn.parts
        if is_last and self._writing.target.row.trims_continued_text:
            parts = self._trimmed(parts)
        forms = self._forms.read(turn.extras_json)
        part = parts[0]
        if forms.has_parts is False and len(parts) == 1 and isinstance(part, TextPart):
            self._messages.append(_message("assistant", quote(part.text), forms))
            return
        taken = block_forms(forms)
        ids = iter(self._writing.ids.open_round(calls_of(parts)))
        blocks: list[str] = []
        said: list[str] = []
        for part in parts:
            if isinstance(part, CallPart):
                # One text from here on, so that the next calls need not join it again.
                said = ["".join(said)]
                blocks.append(self._call(part, next(ids), said[0]))
                continue
            if isinstance(part, ThinkingPart):
                said.append(part.thinking)
            blocks.append(self._block(part, taken))
        self._messages.append(_message("assistant", write_array(blocks), forms))

    def _call(self, call: CallPart, call_id: str, reasoning: str) -> str:
        """Write a call, with the reasoning before it where the target wants that."""
        name = self._writing.names.of(call.name, call.message_id)
        arguments = arguments_object(call, self._writing.losses)
        if self._adds_reasoning:
            arguments = self._with_reasoning(call, arguments, reasoning)
        written = f'{{"type":"tool_use","id":{quote(call_id)},"name":{quote(name)},"input":{arguments}}}'
        return self._formed(written, self._forms.read(call.extras_json).block, call.message_id)

    def _with_reasoning(self, call: CallPart, arguments: str, reasoning: str) -> str:
        """Add the reasoning to the arguments, unless there is none or they have such a key."""
        if not reasoning or _REASONING_KEY in member_values(arguments):
            return arguments
        if len(reasoning) > self._reasoning_left:
            detail = f"of arguments that want it: more than {_MOST_REASONING_ADDED} characters in one request"
            self._writing.losses.add(notes_pb.COMPILE_NOTE_KIND_THINKING_DROPPED, call.message_id, detail)
            return arguments
        self._reasoning_left -= len(reasoning)
        detail = f"reasoning put into the arguments, under {_REASONING_KEY}"
        self._writing.losses.add(notes_pb.COMPILE_NOTE_KIND_PART_CONVERTED, call.message_id, detail)
        return write_object({}, inside(arguments), f"{quote(_REASONING_KEY)}:{quote(reasoning)}")

    def _block(self, part: Part, taken: BlockForms) -> str:
        """Write any part but a call or a result."""
        return self._formed(_block(part), taken.take(part), part.message_id, _mark_of(part))

    def _formed(self, block: str, difference: Any, message_id: str, mark: CacheMark | None = None) -> str:
        """Return a block as it was imported, with its cache mark where the mark may stay."""
        if difference is None:
            if mark is None or not self._gate.takes(mark.type, mark.ttl, message_id):
                return block
            return with_member(block, _mark(mark))
        value = apply(parse_checked(block if mark is None else with_member(block, _mark(mark))), difference)
        kept = value.get(_CACHE_MARK) if isinstance(value, dict) else None
        if kept is not None:
            type, ttl = (kept.get("type"), kept.get("ttl")) if isinstance(kept, dict) else (None, None)
            if not self._gate.takes(type, ttl, message_id):
                del value[_CACHE_MARK]
        return dump_json_text(value)

    def _trimmed(self, parts: Sequence[Part]) -> Sequence[Part]:
        """Take white space off the end of a turn that is to be continued: it is refused there."""
        last = parts[-1]
        if not isinstance(last, TextPart) or last.text == last.text.rstrip():
            return parts
        detail = "white space at the end of a turn to be continued"
        self._writing.losses.add(notes_pb.COMPILE_NOTE_KIND_PART_CONVERTED, last.message_id, detail)
        return [*parts[:-1], last._replace(text=last.text.rstrip())]


def _message(role: str, content: str, forms: Forms | None) -> str:
    if forms is None or forms.message is None:
        return f'{{"role":"{role}","content":{content}}}'
    return with_member(with_difference(f'{{"role":"{role}"}}', forms.message), f'"content":{content}')


def _block(part: Part) -> str:
    """Write a part without its cache mark."""
    if isinstance(part, TextPart):
        return _text(part.text)
    if isinstance(part, JsonPart):
        return _text(part.value_json)
    if isinstance(part, ImagePart):
        return _image(part)
    if isinstance(part, ThinkingPart):
        signature = quote(part.signature or "")
        return f'{{"type":"thinking","thinking":{quote(part.thinking)},"signature":{signature}}}'
    assert isinstance(part, OpaquePart)
    return part.data_json


def _text(text: str) -> str:
    return f'{{"type":"text","text":{quote(text)}}}'


def _mark_of(part: Part) -> CacheMark | None:
    return part.cache_mark if isinstance(part, TextPart) else None


def _mark(mark: CacheMark) -> str:
    ttl = "" if mark.ttl is None else f',"ttl":{quote(mark.ttl)}'
    return f'"{_CACHE_MARK}":{{"type":{quote(mark.type)}{ttl}}}'


def _image(image: ImagePart) -> str:
    source = source_of(image)
    if source.url is not None:
        written = f'{{"type":"url","url":{quote(source.url)}}}'
    else:
        data = quote(source.base64_text or "")
        written = f'{{"type":"base64","media_type":{quote(source.media_type)},"data":{data}}}'
    return f'{{"type":"image","source":{written}}}'

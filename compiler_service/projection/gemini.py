"""Gemini's generateContent.

Results of a round are alone in their content, exactly as many as the calls;
their images, and what the user says, come in the content after it. Only the
first of parallel calls carries a signature. A history that came from there goes
back as it came: the forms that its importer kept beside the records are used
again.
"""

from __future__ import annotations

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from antiphon_client.gemini_contents import METADATA_KEY
from compiler_service.native.turns import (
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
from compiler_service.projection.images import source_of
from compiler_service.projection.import_entries import EntryReader
from compiler_service.projection.import_forms import (
    Forms,
    block_forms,
    is_joined,
    message_forms,
    with_difference,
    with_member,
)
from compiler_service.projection.splicing import quote, write_array
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


def write_turns(writing: Writing) -> dict[str, str]:
    """Return the texts of ``systemInstruction`` and ``contents``."""
    request = _Request(writing)
    members: dict[str, str] = {}
    system = spoken_system(writing)
    if system is not None:
        members["systemInstruction"] = request.system(system)
    members["contents"] = write_array(request.contents())
    return members


class _Request:
    """The system text and the contents, while they are written."""

    def __init__(self, writing: Writing) -> None:
        self._writing = writing
        self._forms = EntryReader(METADATA_KEY, Forms)
        self._contents: list[str] = []
        self._results: list[ResultPart] = []
        self._responses: list[str] = []

    def system(self, text: str) -> str:
        """Write the system text."""
        forms = self._forms.read(self._writing.system_extras_json)
        parts = [
            with_difference(f'{{"text":{quote(piece)}}}', difference)
            for piece, difference in forms.pieces(text)
        ]
        return with_member(with_difference("{}", forms.message), f'"parts":{write_array(parts)}')

    def contents(self) -> list[str]:
        """Write all turns."""
        for turn in self._writing.prepared.turns:
            if turn.role == TOOL:
                for result in results_of(turn):
                    self._results.append(result)
                    self._responses.append(self._response(result))
            elif turn.role == ASSISTANT:
                self._end_results([], None)
                self._contents.append(self._model(turn))
            else:
                forms = self._forms.read(turn.extras_json)
                parts = [_user_part(part) for part in turn.parts]
                if forms.blocks:
                    taken = block_forms(forms)
                    parts = [
                        with_difference(written, taken.take(part))
                        for written, part in zip(parts, turn.parts, strict=True)
                    ]
                self._end_results(parts, forms)
        self._end_results([], None)
        return self._contents

    def _end_results(self, parts: list[str], forms: Forms | None) -> None:
        """Write the results that wait, then a content of their images and of a user turn's parts."""
        if self._results:
            of_results = message_forms([self._forms.read(each.extras_json) for each in self._results])
            self._contents.append(_content("user", self._responses, of_results))
            parts = [*map(_image, result_images(self._results)), *parts]
            self._results, self._responses = [], []
        if parts:
            self._contents.append(_content("user", parts, forms))

    def _model(self, turn: NativeTurn) -> str:
        forms = self._forms.read(turn.extras_json)
        taken = block_forms(forms)
        calls = calls_of(turn.parts)
        ids = iter(self._writing.ids.open_round(calls))
        parts: list[str] = []
        for part in turn.parts:
            if isinstance(part, CallPart):
                parts.append(self._call(part, next(ids), is_first=part is calls[0]))
                continue
            difference = taken.take(part)
            if parts and isinstance(part, ThinkingPart) and is_joined(difference):
                parts[-1] = with_member(parts[-1], _signature(part.signature or ""))
            else:
                parts.append(with_difference(_model_part(part), difference))
        return _content("model", parts, forms)

    def _call(self, call: CallPart, call_id: str, *, is_first: bool) -> str:
        signature = ""
        if call.thought_signature is not None and is_first:
            signature = f",{_signature(call.thought_signature)}"
        elif call.thought_signature is not None:
            detail = "not the first of parallel calls"
            self._writing.losses.add(notes_pb.COMPILE_NOTE_KIND_SIGNATURE_DROPPED, call.message_id, detail)
        name = quote(self._writing.names.of(call.name, call.message_id))
        arguments = arguments_object(call, self._writing.losses)
        function_call = f'{{"id":{quote(call_id)},"name":{name},"args":{arguments}}}'
        written = f'{{"functionCall":{function_call}{signature}}}'
        return with_difference(written, self._forms.read(call.extras_json).block)

    def _response(self, result: ResultPart) -> str:
        call_id = quote(self._writing.ids.of_result(result))
        name = quote(self._writing.names.of(result.name, result.message_id))
        written = f'{{"functionResponse":{{"id":{call_id},"name":{name},"response":{_response_of(result)}}}}}'
        return with_difference(written, self._forms.read(result.extras_json).block)


def _response_of(result: ResultPart) -> str:
    """Return a lone JSON object as it is, anything else as the text under ``result``."""
    content = [part for part in result.content if not isinstance(part, ImagePart)]
    if len(content) == 1 and isinstance(content[0], JsonPart):
        value = content[0].value_json
        if value.lstrip().startswith("{"):
            return value
    return f'{{"result":{quote(result_text(result))}}}'


def _content(role: str, parts: list[str], forms: Forms | None) -> str:
    if forms is None or forms.message is None:
        return f'{{"role":"{role}","parts":{write_array(parts)}}}'
    beside = with_difference(f'{{"role":"{role}"}}', forms.message)
    return with_member(beside, f'"parts":{write_array(parts)}')


def _user_part(part: Part) -> str:
    if isinstance(part, TextPart):
        return f'{{"text":{quote(part.text)}}}'
    if isinstance(part, ImagePart):
        return _image(part)
    assert isinstance(part, OpaquePart)
    return part.data_json


def _model_part(part: Part) -> str:
    if isinstance(part, ThinkingPart):
        # A signature may come on a part that says nothing; that part is no thought.
        thought = ',"thought":true' if part.thinking else ""
        return f'{{"text":{quote(part.thinking)}{thought},{_signature(part.signature or "")}}}'
    return _user_part(part)


def _signature(signature: str) -> str:
    return f'"thoughtSignature":{quote(signature)}'


def _image(image: ImagePart) -> str:
    source = source_of(image)
    media_type = f'"mimeType":{quote(source.media_type)},' if source.media_type else ""
    if source.url is not None:
        return f'{{"fileData":{{{media_type}"fileUri":{quote(source.url)}}}}}'
    return f'{{"inlineData":{{{media_type}"data":{quote(source.base64_text or "")}}}}}'

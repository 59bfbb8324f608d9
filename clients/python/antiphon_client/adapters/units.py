"""One thing of a framework (a message, an item, an event) as records, and back.

Most things are one record. A model's turn with calls is several: its text, then
each call. The first record's metadata has an entry under the framework's name
that gives the framework's exact JSON back; the others have their number there::

    {"langchain": {"item": {"type": "human", "data": {"content": null}}, "at": [[0, "data", "content"]]}}
    {"langchain": 1}

``item`` is the framework's JSON with a null in the place of every value that a
record holds; ``at`` says what goes there, so that nothing is stored twice and a
record that was changed since gives its new text. A place is a source and the
path to it. The source is the record's number for its text; ``[number, "value"]``
for its JSON value (arguments, output, generic content); ``[number, index]`` for
one of its blocks.

An adapter may leave the entry away where the record alone says everything, and
may shorten it to a text; what they then mean is the adapter's to know. Reading is
:mod:`antiphon_client.adapters.unit_reading`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeAlias

from antiphon.message.v1 import content_block_pb2 as block_pb
from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.ids import new_ordered_id
from antiphon_client.importing.routes import route_from_system, route_to_user
from antiphon_client.json_text import JsonTextError, check_json_text, dump_json_text

Path: TypeAlias = tuple[str | int, ...]
Part: TypeAlias = Literal["value"] | int | None
"""What of a record: None is its text, "value" its JSON value, a number one of its blocks."""


class UnitWriter:
    """Collects the records of one thing, and where its values went.

    Args:
        new_id: Gives each record its id.
    """

    def __init__(self, new_id: Callable[[], str] = new_ordered_id) -> None:
        self.records: list[pb.Message] = []
        self._new_id = new_id
        self._places: list[list[Any]] = []
        self._paths: list[Path] = []

    def instruction(self, text: str | None, *path: str | int, by_system: bool = False) -> pb.Message:
        """Add a user's turn; the compiler takes one that the system sends for system text."""
        record = self._new()
        record.instruction.SetInParent()
        if by_system:
            route_from_system(record)
        if text is not None:
            record.instruction.instruction = text
            self.place(path)
        return record

    def response(self, text: str, *path: str | int) -> pb.Message:
        """Add a model's turn; without a path its text is made from its blocks and stands nowhere else."""
        record = self._new()
        route_to_user(record)
        record.assistant_response.assistant_response = text
        if path:
            self.place(path)
        return record

    def request(self, function: str, call_id: str | None, arguments: Any, *path: str | int) -> pb.Message:
        """Add a call. Arguments are the provider's text, kept as it is, or an object; None is {}."""
        record = self._new()
        request = record.action_request
        request.function = function
        if call_id is not None:
            request.provider_call_id = call_id
        if isinstance(arguments, str):
            _put_arguments(request, arguments)
            self.place(path)
        elif arguments is not None:
            request.arguments_json = dump_json_text(arguments)
            self.place(path, "value")
        return record

    def answer(
        self, function: str, call_id: str | None, output: Any, *path: str | int, failed: bool = False
    ) -> pb.Message:
        """Add a call's outcome: its output, any JSON value, or with ``failed`` the text it failed with."""
        record = self._new()
        response = record.action_response
        response.function = function
        if call_id is not None:
            response.provider_call_id = call_id
        if failed and isinstance(output, str):
            response.error = output
            self.place(path)
        else:
            response.output_json = dump_json_text(output)
            self.place(path, "value")
        return record

    def generic(self, value: Any, *path: str | int) -> pb.Message:
        """Add a record that no model is shown, with a JSON value; without a path with none."""
        record = self._new()
        record.generic.value_json = dump_json_text(value) if path else ""
        if path:
            self.place(path, "value")
        return record

    def block(self, block: block_pb.ContentBlock, *path: str | int) -> None:
        """Add a block to the last record; with a path, it holds the value that stands there."""
        record = self.records[-1]
        is_turn = record.WhichOneof("content") == "assistant_response"
        blocks = record.assistant_response.blocks if is_turn else record.instruction.blocks
        blocks.append(block)
        if path:
            self.place(path, len(blocks) - 1)

    def place(self, path: Path, part: Part = None) -> None:
        """Say that the last record, or a part of it, holds the value at a path of the thing's JSON."""
        number = len(self.records) - 1
        self._places.append([number if part is None else [number, part], *path])
        self._paths.append(path)

    def finish(self, key: str, item: Any) -> list[pb.Message]:
        """Write the entries that give ``item`` back, and return the records.

        Raises:
            JsonTextError: The item holds what JSON text cannot.
        """
        entry = {"item": _with_nulls(item, self._paths), "at": self._places}
        self.records[0].metadata_json = dump_json_text({key: entry})
        for number, record in enumerate(self.records[1:], 1):
            record.metadata_json = dump_json_text({key: number})
        return self.records

    def _new(self) -> pb.Message:
        record = pb.Message(id=self._new_id())
        self.records.append(record)
        return record


def opaque_block(provider: str, kind: str, part: Any) -> block_pb.ContentBlock:
    """Return a part that is kept whole and that no other provider is shown."""
    return block_pb.ContentBlock(
        opaque=block_pb.Opaque(provider=provider, kind=kind, data_json=dump_json_text(part))
    )


def text_block(text: str) -> block_pb.ContentBlock:
    """Return a text block."""
    return block_pb.ContentBlock(text=block_pb.Text(text=text))


def call_block(call: pb.Message) -> block_pb.ContentBlock:
    """Return the block that marks the position of a call in its turn."""
    request = call.action_request
    return block_pb.ContentBlock(
        tool_call=block_pb.ToolCall(id=request.provider_call_id, name=request.function)
    )


def _with_nulls(item: Any, paths: Iterable[Path]) -> Any:
    """Return a copy of the containers of a JSON value, with null at some paths."""
    copied = _copy(item)
    for path in paths:
        if not path:
            return None
        inner = copied
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = None
    return copied


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_copy(inner) for inner in value]
    return value


def _put_arguments(request: pb.ActionRequestContent, text: str) -> None:
    try:
        check_json_text(text, require_object=True)
    except JsonTextError:
        request.arguments_text = text
    else:
        request.arguments_json = text

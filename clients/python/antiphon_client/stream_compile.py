"""Putting a streamed compilation together again (``CompilerService.StreamCompile``)."""

from __future__ import annotations

from antiphon.compiler.v1 import compiled_message_pb2
from antiphon.compiler.v1 import compiler_service_pb2 as pb
from antiphon_client.errors import StreamIncompleteError


class CompiledStream:
    """Collects the frames of one StreamCompile stream into a CompileResponse."""

    def __init__(self) -> None:
        self._messages: list[compiled_message_pb2.CompiledMessage] = []
        self._open: _OpenMessage | None = None
        self._report: list[compiled_message_pb2.CompileNote] = []
        self._request: list[str] = []
        self._system_text: str | None = None
        self._last: pb.Result | None = None

    def feed(self, frame: pb.StreamCompileResponse) -> bool:
        """Take the next frame; True after the last one.

        Raises:
            StreamIncompleteError: The frame has no place here.
        """
        kind = frame.WhichOneof("frame")
        if kind == "message_start":
            self._start(frame.message_start)
        elif kind == "text_chunk":
            self._current().texts.append(frame.text_chunk.text)
        elif kind == "part_chunk":
            self._current().add_part(frame.part_chunk)
        elif kind == "message_end":
            self._end(frame.message_end)
        elif kind == "request_chunk":
            self._request.append(frame.request_chunk.text)
        elif kind == "result":
            self._take_result(frame.result)
        else:
            raise StreamIncompleteError("the compilation has a frame of an unknown kind")
        return self._last is not None

    def result(self) -> pb.CompileResponse:
        """Return the compilation as Compile would have answered it.

        Raises:
            StreamIncompleteError: The stream ended before its last result, or messages are missing.
        """
        last = self._last
        if last is None or self._open is not None:
            raise StreamIncompleteError("the compilation ended before its last result")
        if last.message_count != len(self._messages):
            raise StreamIncompleteError(
                f"{len(self._messages)} compiled messages arrived of {last.message_count} sent"
            )
        return pb.CompileResponse(
            instruction=last.instruction if last.HasField("instruction") else None,
            messages=self._messages,
            provider_kwargs_json=last.provider_kwargs_json,
            history_revision=last.history_revision,
            incarnation=last.incarnation,
            messages_digest=last.messages_digest,
            report=self._report,
            provider_request_json="".join(self._request) if last.HasField("request_digest") else None,
            request_digest=last.request_digest if last.HasField("request_digest") else None,
            capability_version=last.capability_version if last.HasField("capability_version") else None,
            system_text=self._system_text,
            tokens=last.tokens if last.HasField("tokens") else None,
            action_names=last.action_names,
        )

    def _take_result(self, result: pb.Result) -> None:
        self._report.extend(result.report)
        if result.HasField("system_text"):
            self._system_text = result.system_text
        self._last = result if result.last else None

    def _start(self, start: pb.MessageStart) -> None:
        if self._open is not None or start.index != len(self._messages):
            raise StreamIncompleteError(f"compiled message {start.index} begins out of turn")
        self._open = _OpenMessage(start)

    def _end(self, end: pb.MessageEnd) -> None:
        current = self._current()
        if end.index != current.start.index:
            raise StreamIncompleteError(f"compiled message {end.index} ends out of turn")
        self._messages.append(current.message())
        self._open = None

    def _current(self) -> _OpenMessage:
        if self._open is None:
            raise StreamIncompleteError("the compilation has a frame outside of a message")
        return self._open


class _OpenMessage:
    """One message whose chunks are arriving."""

    def __init__(self, start: pb.MessageStart) -> None:
        self.start = start
        self.texts: list[str] = []
        self._parts: list[list[pb.PartChunk]] = []

    def add_part(self, chunk: pb.PartChunk) -> None:
        if chunk.part_index == len(self._parts):
            self._parts.append([])
        elif chunk.part_index != len(self._parts) - 1:
            raise StreamIncompleteError(f"part {chunk.part_index} of a compiled message comes out of turn")
        self._parts[-1].append(chunk)

    def message(self) -> compiled_message_pb2.CompiledMessage:
        message = compiled_message_pb2.CompiledMessage(role=self.start.role)
        if self._parts:
            message.parts.parts.extend(_joined(chunks) for chunks in self._parts)
        else:
            message.text = "".join(self.texts)
        return message


def _joined(chunks: list[pb.PartChunk]) -> compiled_message_pb2.Part:
    part = compiled_message_pb2.Part()
    if chunks[0].HasField("whole"):
        if len(chunks) > 1:
            raise StreamIncompleteError("a whole part of a compiled message comes twice")
        part.CopyFrom(chunks[0].whole)
    elif chunks[0].HasField("image_url"):
        part.image_url.detail = chunks[0].image_url.detail
        part.image_url.url = "".join(chunk.image_url.url for chunk in chunks)
    else:
        part.text.text = "".join(chunk.text for chunk in chunks)
    return part

"""Every alternative of every oneof is known to the code that reads or writes it.

The alternatives are those of the descriptors: one that is added is tried as well, and fails where
no code knows it. A oneof that is added fails until it has a converter here.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any, get_args

import pytest
from google.protobuf.descriptor import OneofDescriptor
from google.protobuf.message import Message as ProtoMessage
from pydantic import BaseModel

from antiphon.compiler.v1 import compiled_message_pb2 as compiled_pb
from antiphon.compiler.v1 import compiler_service_pb2 as compiler_pb
from antiphon.compiler.v1 import provider_pb2
from antiphon.history.v1 import exchange_service_pb2 as exchange_pb
from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.message.v1 import content_block_pb2 as block_pb
from antiphon.message.v1 import message_pb2
from antiphon_client.action_draft import draft_response
from antiphon_client.compile_sources import InlineSnapshot, put_source
from antiphon_client.compiled_codec import compiled_message
from antiphon_client.errors import Violation
from antiphon_client.exchange import Exchange
from antiphon_client.exchange_records import DeadLetter
from antiphon_client.history_operations import HistoryOperations
from antiphon_client.messages import UnknownMessage, from_proto, to_proto
from antiphon_client.messages.address import address_from_proto, address_to_proto
from antiphon_client.messages.block_codec import block_from_proto, block_to_proto
from antiphon_client.messages.blocks import UnknownBlock, block_from_dict, block_to_dict
from antiphon_client.messages.content_codec import decode_content, encode_content
from antiphon_client.messages.validation import validate_message
from antiphon_client.provider_streams.reducer import Reducer
from antiphon_client.response_format import response_format_to_proto
from antiphon_client.snapshot import SnapshotAssembler
from antiphon_client.snapshot_delta import apply_delta
from antiphon_client.stream_compile import CompiledStream
from antiphon_client.watching import Operation, OperationName, WatchPosition
from compiler_service.digest import messages_digest
from compiler_service.native.turns import (
    CallPart,
    ImagePart,
    JsonPart,
    NativeTurn,
    OpaquePart,
    ResultPart,
    TextPart,
    ThinkingPart,
)
from compiler_service.native.turns import Part as TurnPart
from compiler_service.part_encoding import encode_part
from history_service.branch_file.proto_json import fill
from history_service.branch_file.text import message_line, record_of
from tests.contract.wire_fixtures import declared_types
from tests.polyglot import digests
from tests.support.descriptors import messages
from tests.support.history import instruction, uuid_of
from tests.support.wire_samples import samples, written_oneofs

ONEOFS: dict[str, OneofDescriptor] = {
    oneof.full_name: oneof for type_ in declared_types() for oneof in written_oneofs(type_)
}
BRANCH = uuid_of(1)


def filled(oneof: str, variant: str) -> Any:
    """Return a message with an alternative that is filled."""
    for name, sample in samples(ONEOFS[oneof].containing_type):
        if name.startswith("full") and sample.WhichOneof(ONEOFS[oneof].name) == variant:
            return sample
    raise AssertionError(f"no sample has {variant}")


def encoded(message: ProtoMessage) -> bytes:
    """Encode a message."""
    return message.SerializeToString(deterministic=True)


# Messages: the SDK's typed classes, the service's rules, the lines of a branch file


def content(variant: str) -> None:
    """Take a content through all that handles messages."""
    for message in messages(variant, 1, 1000):
        violations: list[Violation] = []
        validate_message(message, "message", violations)
        assert violations == []
        typed = from_proto(message)
        assert not isinstance(typed, UnknownMessage)
        assert encoded(to_proto(typed)) == encoded(message)
        typed.wire_origin = None
        again = to_proto(typed)
        assert again.WhichOneof("content") == variant
        assert from_proto(again) == typed
        kind, record = record_of(message_line(encoded(message)).removesuffix(b"\n"))
        read = message_pb2.Message()
        fill(read, record[kind], kind)
        assert read == message
    assert f"MESSAGE_KIND_{variant.upper()}" in pb.MessageKind.keys()  # noqa: SIM118  # not a dictionary


def address(variant: str) -> None:
    """Take an address to the SDK's and back; unset is an absent one."""
    wire = filled("antiphon.message.v1.Address.state", variant)
    again = address_to_proto(address_from_proto(wire))
    assert again == (None if variant == "unset" else wire)


def guidance(variant: str) -> None:
    """Take guidance to the SDK's value and back."""
    wire = filled("antiphon.message.v1.InstructionContent.guidance_value", variant)
    again = message_pb2.InstructionContent()
    encode_content("instruction", decode_content("instruction", wire), again, None)
    assert again.WhichOneof("guidance_value") == variant
    assert decode_content("instruction", again) == decode_content("instruction", wire)


def block(variant: str) -> None:
    """Take a block to the SDK's class and back, and to its dictionary and back."""
    check_block(filled("antiphon.message.v1.ContentBlock.block", variant))


def image(variant: str) -> None:
    """Take an image as a block is taken."""
    check_block(block_pb.ContentBlock(image=filled("antiphon.message.v1.Image.source", variant)))


def check_block(wire: block_pb.ContentBlock) -> None:
    """Check that a block loses nothing."""
    typed = block_from_proto(wire)
    assert not isinstance(typed, UnknownBlock)
    assert block_to_proto(typed) == wire
    assert block_from_dict(block_to_dict(typed)) == typed


# The history service's requests and streams


def outcome(variant: str) -> None:
    """Draft the response, as the service does, from what the SDK sends."""
    given: dict[str, dict[str, Any]] = {"output_json": {"output": [1]}, "error": {"error": "no"}}
    steps = HistoryOperations().respond_to_action(BRANCH, uuid_of(2), **given[variant])
    request = next(steps).request  # type: ignore[union-attr]
    assert request.WhichOneof("outcome") == variant
    assert getattr(draft_response(request).action_response, variant) == getattr(request, variant) != ""


def snapshot_frame(variant: str) -> None:
    """Give the assembler a frame where it may stand."""
    assembler = SnapshotAssembler()
    if variant not in ("header", "joined"):
        assembler.feed(pb.ReadSnapshotResponse(header=pb.SnapshotHeader()))
    assembler.feed(filled("antiphon.history.v1.ReadSnapshotResponse.frame", variant))


def snapshot_run(variant: str) -> None:
    """Apply a delta of one run."""
    held, sent = encoded(instruction(1)), encoded(instruction(2))
    runs = {
        "kept": (pb.SnapshotRun(kept=pb.KeptRun(start=0, count=1)), [], held),
        "sent": (pb.SnapshotRun(sent=1), [sent], sent),
    }
    run, new, expected = runs[variant]
    assert apply_delta([run], new, (uuid_of(1),), (held,), len(held)).messages == (expected,)


def branch_change(*operations: pb.BranchOperation, kind: Any = pb.BRANCH_CHANGE_KIND_MEMBERSHIP) -> Any:
    """Make a change."""
    change = pb.BranchChange(revision=2, incarnation=uuid_of(3), kind=kind, operations=operations)
    change.position.writer_id = uuid_of(4)
    return change


def watch_frame(variant: str) -> None:
    """Give a watch a frame; tell what became of it."""
    frames = {
        "change": (branch_change(), (True, False)),
        "caught_up": (pb.WatchCaughtUp(revision=2), (False, True)),
        "heartbeat": (pb.WatchHeartbeat(revision=2), (False, False)),
    }
    frame, expected = frames[variant]
    position = WatchPosition(from_proto(instruction(1)).id, 1, follow=False)
    change = position.take(pb.WatchBranchResponse(**{variant: frame}))
    assert (change is not None, position.ended) == expected


def operation(variant: str) -> None:
    """Read a step of a change: its name, and every field that it has."""
    step = filled("antiphon.history.v1.BranchOperation.operation", variant)
    position = WatchPosition(from_proto(instruction(1)).id, 1, follow=False)
    change = position.take(pb.WatchBranchResponse(change=branch_change(step)))
    assert change is not None
    (read,) = change.operations
    assert read.name == variant
    assert variant in get_args(OperationName)
    given = getattr(step, variant)
    assert {field.name for field in given.DESCRIPTOR.fields} <= {field.name for field in fields(Operation)}
    for field, value in given.ListFields():
        assert str(getattr(read, field.name)) == str(value)


def import_part(variant: str) -> None:
    """Look for a part among those that the SDK sends."""
    call: Any = next(HistoryOperations().import_branch(io.BytesIO(b"a file")))
    assert variant in [part.WhichOneof("part") for part in call.parts]


class OneFrame:
    """A client whose every stream has one frame, and its own transport."""

    def __init__(self, frame: ProtoMessage) -> None:
        self._frame = frame

    def _transport_of(self, stub_class: type) -> OneFrame:
        return self

    def frames(self, method: str, request: ProtoMessage) -> Iterator[ProtoMessage]:
        """Yield the frame, and then what must not be asked for after the end."""
        yield self._frame
        yield exchange_pb.WatchInboxResponse(delivery=delivery(2))


def delivery(number: int) -> exchange_pb.Delivery:
    """Make a delivery."""
    return exchange_pb.Delivery(message=instruction(number), sequence=number)


def inbox_frame(variant: str) -> None:
    """Give a watch of an inbox a frame; tell the deliveries that it yields."""
    frames: dict[str, tuple[Any, list[int]]] = {
        "delivery": (delivery(1), [1, 2]),
        "caught_up": (exchange_pb.InboxCaughtUp(), []),
        "heartbeat": (exchange_pb.InboxHeartbeat(), [2]),
    }
    frame, expected = frames[variant]
    client: Any = OneFrame(exchange_pb.WatchInboxResponse(**{variant: frame}))
    watch = Exchange(client, "agents").watch(uuid_of(9), follow=False)
    assert [each.sequence for each in watch] == expected


# The compiler's requests, answers and streams


def compiled_content(variant: str) -> None:
    """Read a compiled message's content."""
    wire = filled("antiphon.compiler.v1.CompiledMessage.content", variant)
    read = compiled_message(wire).content
    expected: dict[str, Any] = {"text": wire.text, "parts": len(wire.parts.parts)}
    assert (read if isinstance(read, str) else len(read)) == expected[variant]


TURN_PARTS: dict[str, TurnPart] = {
    "text": TextPart("text", ""),
    "image_url": ImagePart("", None, "https://example.org/a.png", block_pb.IMAGE_DETAIL_LOW, ""),
    "thinking": ThinkingPart("thought", "signature", "provider", None, ""),
    "tool_call": CallPart("call", "name", "{}", None, None, BRANCH),
    "tool_result": ResultPart("call", "name", (TextPart("out", ""),), False, True, BRANCH),
    "image": ImagePart("image/png", b"data", None, block_pb.IMAGE_DETAIL_UNSPECIFIED, ""),
    "opaque": OpaquePart("provider", "model", "kind", "{}", ""),
    "json": JsonPart("[1]", ""),
}
"""The compiler's own form of every part."""


def part(variant: str) -> None:
    """Write a part as the compiler does, read it as the SDK does, and hash it as both do."""
    for wire in (
        compiled_pb.Part.FromString(encode_part(TURN_PARTS[variant])),
        filled("antiphon.compiler.v1.Part.part", variant),
    ):
        assert wire.WhichOneof("part") == variant
        message = message_of(wire)
        (read,) = list(compiled_message(message).content)
        assert isinstance(read, dict)
        assert read["type"] == variant
        given = {field.name for field, _ in getattr(wire, variant).ListFields()}
        assert given <= (read | read.get("image_url", {})).keys()
        hashed = digests.messages_digest([message], None)
    turn = NativeTurn(message_pb2.ROLE_USER, (TURN_PARTS[variant],), ())
    own = message_of(compiled_pb.Part.FromString(encode_part(TURN_PARTS[variant])))
    assert messages_digest([turn]) == digests.messages_digest([own], None) != hashed


def message_of(part: compiled_pb.Part) -> compiled_pb.CompiledMessage:
    """Make a message of one part."""
    return compiled_pb.CompiledMessage(role=message_pb2.ROLE_USER, parts=compiled_pb.Parts(parts=[part]))


def source_of(request: Callable[[], Any]) -> Callable[[str], None]:
    """Return the check of a request's source."""

    def source(variant: str) -> None:
        sources: dict[str, Any] = {
            "branch": BRANCH,
            "snapshot": InlineSnapshot([from_proto(instruction(1))]),
        }
        made = request()
        put_source(made, sources[variant], None)
        assert made.WhichOneof("source") == variant
        assert getattr(made, variant).ByteSize() > 0

    return source


class Answer(BaseModel):
    """What an answer may look like."""

    depth: int


def response_format(variant: str) -> None:
    """Write a response format from what a caller gives."""
    formats: dict[str, Any] = {"example_json": {"depth": 1}, "schema": Answer}
    made = response_format_to_proto(formats[variant])
    assert made.WhichOneof("format") == variant
    assert "depth" in str(getattr(made, variant))


def compile_frame(variant: str) -> None:
    """Give the assembler of a compilation a frame where it may stand."""
    frame = filled("antiphon.compiler.v1.StreamCompileResponse.frame", variant)
    stream = CompiledStream()
    if variant in ("text_chunk", "part_chunk", "message_end"):
        stream.feed(compiler_pb.StreamCompileResponse(message_start=compiler_pb.MessageStart()))
    if variant in ("message_start", "message_end"):
        getattr(frame, variant).index = 0
    elif variant == "part_chunk":
        frame.part_chunk.part_index = 0
    stream.feed(frame)


def piece(variant: str) -> None:
    """Put a message of one piece together."""
    chunk = filled("antiphon.compiler.v1.PartChunk.piece", variant)
    chunk.part_index = 0
    frames: list[dict[str, Any]] = [
        {"message_start": {"role": message_pb2.ROLE_USER}},
        {"part_chunk": chunk},
        {"message_end": {}},
        {"result": {"last": True, "message_count": 1}},
    ]
    stream = CompiledStream()
    for frame in frames:
        stream.feed(compiler_pb.StreamCompileResponse(**frame))
    (joined,) = stream.result().messages[0].parts.parts
    pieces = {"text": joined.text.text, "image_url": joined.image_url, "whole": joined}
    assert pieces[variant] == getattr(chunk, variant)


def delta(variant: str) -> None:
    """Reduce a response with a delta and without it."""
    made = filled("antiphon.compiler.v1.ProviderDelta.delta", variant)
    if variant == "tool_call_end":
        made.tool_call_end = "call"
    elif variant in ("tool_call_arguments", "tool_call_arguments_complete"):
        getattr(made, variant).id = "call"
    start = provider_pb2.ProviderDelta(tool_call_start=provider_pb2.ToolCallStart(id="call", name="name"))
    with_it, without = Reducer(), Reducer()
    for reducer in (with_it, without):
        reducer.add(start)
    with_it.add(made)
    assert repr(with_it.result()) != repr(without.result())


CONVERTERS: dict[str, Callable[[str], None]] = {
    "antiphon.message.v1.Message.content": content,
    "antiphon.message.v1.Address.state": address,
    "antiphon.message.v1.InstructionContent.guidance_value": guidance,
    "antiphon.message.v1.ContentBlock.block": block,
    "antiphon.message.v1.Image.source": image,
    "antiphon.history.v1.RespondToActionRequest.outcome": outcome,
    "antiphon.history.v1.ReadSnapshotResponse.frame": snapshot_frame,
    "antiphon.history.v1.SnapshotRun.source": snapshot_run,
    "antiphon.history.v1.WatchBranchResponse.frame": watch_frame,
    "antiphon.history.v1.BranchOperation.operation": operation,
    "antiphon.history.v1.ImportBranchRequest.part": import_part,
    "antiphon.history.v1.WatchInboxResponse.frame": inbox_frame,
    "antiphon.compiler.v1.CompiledMessage.content": compiled_content,
    "antiphon.compiler.v1.Part.part": part,
    "antiphon.compiler.v1.CompileRequest.source": source_of(compiler_pb.CompileRequest),
    "antiphon.compiler.v1.PlanWindowRequest.source": source_of(compiler_pb.PlanWindowRequest),
    "antiphon.compiler.v1.PlanCompactionRequest.source": source_of(compiler_pb.PlanCompactionRequest),
    "antiphon.compiler.v1.ResponseFormat.format": response_format,
    "antiphon.compiler.v1.StreamCompileResponse.frame": compile_frame,
    "antiphon.compiler.v1.PartChunk.piece": piece,
    "antiphon.compiler.v1.ProviderDelta.delta": delta,
}
"""For each oneof, what takes one of its alternatives through the code that is for it."""

VARIANTS = [(name, field.name) for name, oneof in ONEOFS.items() for field in oneof.fields]


def test_every_oneof_has_its_converter() -> None:
    assert CONVERTERS.keys() == ONEOFS.keys()


@pytest.mark.parametrize(("oneof", "variant"), VARIANTS, ids=lambda part: part.removeprefix("antiphon."))
def test_every_alternative_is_converted(oneof: str, variant: str) -> None:
    CONVERTERS[oneof](variant)


@pytest.mark.parametrize("kind", [number for number in pb.BranchChangeKind.values() if number])
def test_every_kind_of_change_is_known_to_a_watch(kind: pb.BranchChangeKind.ValueType) -> None:
    position = WatchPosition(from_proto(instruction(1)).id, 1, follow=False)
    change = position.take(pb.WatchBranchResponse(change=branch_change(kind=kind)))
    assert change is not None
    assert f"BRANCH_CHANGE_KIND_{change.kind.upper()}" == pb.BranchChangeKind.Name(kind)


@pytest.mark.parametrize("reason", [number for number in exchange_pb.DeadLetterReason.values() if number])
def test_every_reason_of_a_dead_letter_has_its_name(reason: exchange_pb.DeadLetterReason.ValueType) -> None:
    wire = exchange_pb.DeadLetter(dead_letter_id=BRANCH, message=instruction(1), reason=reason)
    name = exchange_pb.DeadLetterReason.Name(reason).removeprefix("DEAD_LETTER_REASON_")
    assert DeadLetter.from_proto(wire).reason == name.lower()

"""Reading requests: size, syntax, unknown fields."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.compiler.v1 import compiler_service_pb2 as compiler_pb
from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.message.v1.message_pb2 import Message
from antiphon_client.edge.methods import methods_of
from antiphon_client.errors import MalformedRequestError, SizeLimitExceededError, UnknownFieldError
from compiler_service.server import OPAQUE
from tests.fuzz.fields import paths_of
from tests.fuzz.generate import Generator
from tests.fuzz.mutate import unknown_field
from tests.fuzz.values import World

HISTORY = pb.DESCRIPTOR.services_by_name["HistoryService"]
COMPILER = compiler_pb.DESCRIPTOR.services_by_name["CompilerService"]
ADD = methods_of(HISTORY)[f"/{HISTORY.full_name}/AddMessages"]
COMPILE = methods_of(COMPILER, OPAQUE)[f"/{COMPILER.full_name}/Compile"]
STREAM_COMPILE = methods_of(COMPILER, OPAQUE)[f"/{COMPILER.full_name}/StreamCompile"]
UNKNOWN = b"\xa0\x06\x01"
LIMIT = 10_000


def newer_message() -> Message:
    """Make a message with content of a kind this version does not know."""
    return Message.FromString(b"\xca\x06\x02\x0a\x00")


def test_a_table_has_every_method_once() -> None:
    assert sorted(methods_of(HISTORY)) == sorted(
        f"/{HISTORY.full_name}/{each.name}" for each in HISTORY.methods
    )


def test_size_is_judged_before_anything_is_parsed() -> None:
    with pytest.raises(SizeLimitExceededError):
        ADD.read(b"\xff" * (LIMIT + 1), LIMIT)
    with pytest.raises(MalformedRequestError):
        ADD.read(b"\xff" * LIMIT, LIMIT)


@given(seed=st.integers(0, 2**32))
def test_a_request_without_unknown_fields_is_read_as_it_is_and_one_with_is_refused(seed: int) -> None:
    rng = Random(seed)
    world = World(["b"], ["m"], ["a"], ["r"])
    method = rng.choice(HISTORY.methods)
    focus = rng.choice(paths_of(method))
    request = Generator(rng, world).request(method.input_type, focus, hostile=False)
    entry = methods_of(HISTORY)[f"/{HISTORY.full_name}/{method.name}"]
    assert entry.read(request.SerializeToString(), 10**7) == request
    with pytest.raises(UnknownFieldError) as caught:
        entry.read(unknown_field(rng, request), 10**7)
    assert caught.value.metadata == {"violation_count": "1"}
    assert len(caught.value.violations) == 1


def test_an_unknown_field_is_found_behind_an_encoding_that_grows() -> None:
    # Role -1 in five bytes is ten in protobuf's own spelling: the sizes before and after must not cancel out.
    short_negative = b"\x18\xff\xff\xff\xff\x0f"
    body = short_negative + b"\xaa\x06\x02ab"
    raw = b"\x12" + bytes([len(body)]) + body
    with pytest.raises(UnknownFieldError) as caught:
        ADD.read(raw, LIMIT)
    assert [violation.field for violation in caught.value.violations] == ["messages[0].101"]


def test_stored_messages_of_a_newer_kind_reach_the_compiler_whole() -> None:
    request = compiler_pb.CompileRequest()
    request.snapshot.messages.append(newer_message())
    request.snapshot.system.CopyFrom(newer_message())
    raw = request.SerializeToString()
    read = COMPILE.read(raw, LIMIT)
    assert read.SerializeToString() == raw
    wrapped = compiler_pb.StreamCompileRequest(request=request).SerializeToString()
    assert STREAM_COMPILE.read(wrapped, LIMIT).SerializeToString() == wrapped


@pytest.mark.parametrize(
    ("place", "path"), [("request", "100"), ("snapshot", "snapshot.100"), ("instruction", "instruction.100")]
)
def test_other_unknown_fields_of_a_compile_request_are_refused(place: str, path: str) -> None:
    request = compiler_pb.CompileRequest()
    request.snapshot.messages.append(newer_message())
    target = request if place == "request" else getattr(request, place)
    target.MergeFromString(UNKNOWN)
    with pytest.raises(UnknownFieldError) as caught:
        COMPILE.read(request.SerializeToString(), LIMIT)
    assert [violation.field for violation in caught.value.violations] == [path]

"""Messages read from their encoding compile to what they compile to decoded."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from antiphon.compiler.v1.compiler_service_pb2 import CompileRequest
from antiphon.message.v1 import content_block_pb2, message_pb2
from antiphon.message.v1.message_pb2 import Address, Message
from antiphon_client.errors import AntiphonError, SnapshotTruncatedError
from antiphon_client.limits import DEFAULT_LIMITS
from antiphon_client.messages.validation import canonicalize_message
from compiler_service.compilation import CompileSource, compile_turn
from compiler_service.encoding import encode_response
from compiler_service.folded import plain as plain_messages
from compiler_service.folded.plain import read_records
from compiler_service.state import (
    ActionCall,
    ActionOutcome,
    AssistantTurn,
    FoldedRecord,
    InstructionTurn,
)
from tests.support.compile_cache import question
from tests.support.compiler_strategies import requests
from tests.support.history import action_result, assistant, call_action, instruction

SEPARATOR = b"\xff\xff\xff\xff"
MEMBER = Address(member_id="01000000-0000-4000-8000-00000000000a")
ADDRESSES = st.sampled_from(
    [
        MEMBER,
        Address(role=message_pb2.ROLE_USER),
        Address(name="anna"),
        Address(unset=message_pb2.Unset()),
        Address(broadcast=message_pb2.Broadcast()),
    ]
)
SECONDS = st.sampled_from([0, 1, 1_700_000_000, 2**34, 2**35, -1]) | st.integers(0, 2**36)
NANOSECONDS = st.sampled_from([0, 1, 128, 20_000, 3_000_000, 999_999_999])
FAR = [
    pytest.param(lambda m: m.MergeFrom(Message(channel="c")), id="channel"),
    pytest.param(lambda m: m.MergeFrom(Message(metadata_json='{"a":1}')), id="metadata"),
    pytest.param(lambda m: m.MergeFrom(Message(sender=Address(name="anna"))), id="named sender"),
    pytest.param(lambda m: m.MergeFrom(Message(status=message_pb2.MESSAGE_STATUS_EXCLUDED)), id="excluded"),
    pytest.param(lambda m: m.MergeFrom(Message(status=message_pb2.MESSAGE_STATUS_INTERRUPTED)), id="cut off"),
    pytest.param(lambda m: m.MergeFromString(b"\xf8\x07\x01"), id="unknown field"),
]


@pytest.fixture(params=["compiled", "python"], autouse=True)
def _both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "python":
        monkeypatch.setattr(plain_messages, "_compiled", None)
    elif plain_messages._compiled is None:
        pytest.skip("no part was compiled: the machine has no C compiler, or no headers of Python")


@pytest.fixture
def reads_actions() -> bool:
    """Whether calls and results of actions are read, too."""
    return plain_messages._compiled is not None


def stored(message: Message, seconds: int = 1_700_000_000, nanos: int = 123_456_789) -> Message:
    """Return a message as a history service keeps it."""
    kept = Message()
    kept.CopyFrom(message)
    canonicalize_message(kept)
    kept.created_at.seconds, kept.created_at.nanos = seconds, nanos
    return kept


def encoded(messages: Sequence[Message]) -> list[bytes]:
    return [message.SerializeToString(deterministic=True) for message in messages]


def read(messages: Sequence[Message]) -> list[FoldedRecord]:
    return read_records([message.id for message in messages], encoded(messages), 0)


def compiled(
    request: CompileRequest, messages: Sequence[Message], plain: Sequence[FoldedRecord] | None
) -> object:
    """Return the encoded reply, or what makes an error."""
    system = request.snapshot.system if request.snapshot.HasField("system") else None
    ids = [message.id for message in messages]
    try:
        outcome = compile_turn(request, CompileSource(system, messages, message_ids=ids, plain=plain))
    except AntiphonError as error:
        return error.reason, error.message, dict(error.metadata)
    return encode_response(outcome, DEFAULT_LIMITS)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(requests(), st.data())
def test_both_ways_give_the_same_bytes(request: CompileRequest, data: st.DataObject) -> None:
    messages = []
    for message in request.snapshot.messages:
        kept = stored(message, data.draw(SECONDS), data.draw(NANOSECONDS))
        for side in (kept.sender, kept.recipient):
            if data.draw(st.booleans()):
                side.CopyFrom(data.draw(ADDRESSES))
        messages.append(kept)
    assert compiled(request, messages, read(messages)) == compiled(request, messages, None)


@pytest.mark.parametrize("text", ["ask", "naïve 東京 🙂", "a\nb\0c\x01", "x" * 127, "é" * 64, "y" * 20_000])
@pytest.mark.parametrize("nanos", [0, 1, 1_000, 100_000, 123_456_789])
def test_a_text_alone_is_not_decoded(text: str, nanos: int) -> None:
    asked, answered = stored(instruction(1, text), nanos=nanos), stored(assistant(2, text), nanos=nanos)
    asked.sender.CopyFrom(MEMBER)
    asked.recipient.role = message_pb2.ROLE_ASSISTANT
    assert read([asked, answered]) == [
        InstructionTurn(asked.id, text, None, (), "", ()),
        AssistantTurn((answered.id,), text, False),
    ]


@pytest.mark.parametrize("change", FAR)
@pytest.mark.parametrize("kind", [instruction, assistant])
def test_anything_more_is_decoded(
    kind: Callable[[int, str], Message], change: Callable[[Message], None], reads_actions: bool
) -> None:
    message, beside = stored(kind(1, "text")), stored(assistant(2, "beside"))
    change(message)
    call, result = stored(call_action(3)), stored(action_result(4, 3))
    found = read([message, beside, call, result])
    assert found[0] == message
    assert isinstance(found[1], AssistantTurn)
    assert found[2:] == ([ActionCall(call.id), outcome_of(result)] if reads_actions else [call, result])


def outcome_of(message: Message) -> ActionOutcome:
    result = message.action_response
    return ActionOutcome(
        message.id,
        result.action_request_id,
        result.function,
        result.arguments_json,
        result.output_json if result.HasField("output_json") else None,
        result.error if result.HasField("error") else None,
    )


@pytest.mark.parametrize("change", FAR)
@pytest.mark.parametrize("action", [call_action(1), action_result(1, 2)])
def test_an_action_with_anything_more_is_decoded(action: Message, change: Callable[[Message], None]) -> None:
    message = stored(action)
    change(message)
    assert read([message]) == [message]


IDS = st.none() | st.sampled_from(["", "call-1", MEMBER.member_id, "né"])
OUTCOMES = st.builds(
    message_pb2.ActionResponseContent,
    function=st.sampled_from(["", "f", "suche_flüge"]),
    arguments_json=st.sampled_from(["", "{}", '{"a":"b"}', '{"a":"é"}']),
    output_json=st.none() | st.sampled_from(["", "1", "null", '{"a": [1]}', '"東京"', "x" * 300]),
    error=st.none() | st.sampled_from(["", "failed", "né"]),
    action_request_id=IDS,
    provider_call_id=IDS,
    state=st.sampled_from(message_pb2.ActionResponseState.values()),
)


@given(OUTCOMES, st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_outcome_is_that_of_the_decoded_result(
    content: message_pb2.ActionResponseContent, with_block: bool
) -> None:
    if with_block:
        content.blocks.add().text.text = "b"
    message = Message(id=MEMBER.member_id, role=message_pb2.ROLE_ACTION, action_response=content)
    (found,) = read([message])
    assert found == (message if isinstance(found, Message) else outcome_of(message))
    if isinstance(found, ActionOutcome):
        assert content.state == message_pb2.ACTION_RESPONSE_STATE_FINAL
        assert not with_block


@given(requests(), st.randoms(use_true_random=False))
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_bytes_are_read_as_they_are_decoded(request: CompileRequest, random: Random) -> None:
    """A message that is plain to either reader is one that decodes, to the same."""
    for message in map(stored, request.snapshot.messages):
        damaged = bytearray(encoded([message])[0])
        for _ in range(random.randint(0, 2)):
            damaged[random.randrange(len(damaged))] = random.choice([0, 1, 2, 0x0A, 0x38, 0x80, 0xC3, 0xFF])
        cut = bytes(damaged[: random.choice([len(damaged), random.randrange(len(damaged) + 1)])])
        try:
            (found,) = read_records([message.id], [cut], 0)
        except SnapshotTruncatedError:
            continue
        again = Message.FromString(cut)
        assert again.id == message.id
        assert attempted([again], [found]) == attempted([again], None)


def attempted(messages: Sequence[Message], plain: Sequence[FoldedRecord] | None) -> object:
    """Return what ``compiled`` does; of a JSON text that is none, which no stored message has, the error."""
    try:
        return compiled(question(""), messages, plain)
    except json.JSONDecodeError as error:
        return str(error)


def test_more_within_the_content_is_decoded() -> None:
    asked = stored(instruction(1, "ask"))
    asked.instruction.guidance = "8\3"
    pictured = stored(instruction(2, "ask"))
    pictured.instruction.images.append("https://example.com/a.png")
    answered = stored(assistant(3, "answer"))
    answered.assistant_response.blocks.add().text.text = "answer"
    blank = stored(instruction(4, "ask"))
    blank.instruction.ClearField("image_detail")
    blank.instruction.plain_content = ""
    messages = [asked, pictured, answered, blank]
    assert read(messages) == messages


@pytest.mark.parametrize("results", [1, 2])
def test_results_go_into_a_plain_instruction(results: int) -> None:
    rounds = [instruction(1, "ask"), call_action(2), *[action_result(3 + n, 2) for n in range(results)]]
    messages = [*map(stored, [*rounds, assistant(10), instruction(11, "go on"), assistant(12)])]
    request = question("")
    reply = compiled(request, messages, read(messages))
    assert reply == compiled(request, messages, None)
    assert isinstance(reply, bytes)
    assert b"Instruction: go on\nContext:\n- function:" in reply


def test_a_text_that_looks_like_fields_stays_a_text() -> None:
    inside = encoded([stored(assistant(7, "inner"))])[0].decode("latin-1")
    asked, answered = stored(instruction(1, inside + "8\3")), stored(assistant(2, inside))
    first, second = read([asked, answered])
    assert isinstance(first, InstructionTurn)
    assert first.text == inside + "8\3"
    assert isinstance(second, AssistantTurn)
    assert second.text == inside


def test_a_message_within_another_is_not_taken_for_the_next() -> None:
    """Bytes of an image may be anything, such as another message after what parts messages here."""
    forged = SEPARATOR + encoded([stored(assistant(2, "forged"))])[0]
    pictured = stored(instruction(1, ""))
    image = pictured.instruction.blocks.add().image
    image.data, image.mime_type = forged, "image/png"
    image.detail = content_block_pb2.IMAGE_DETAIL_AUTO
    real = stored(assistant(2, "real"))
    first, second = read([pictured, real])
    assert first == pictured
    assert second in (real, AssistantTurn((real.id,), "real", False))


def test_what_is_no_message_or_another_is_refused_by_its_index() -> None:
    messages = [stored(instruction(1, "ask")), stored(call_action(2)), stored(assistant(3, "answer"))]
    ids = [message.id for message in messages]
    good = encoded(messages)
    for index in range(len(good)):
        cut = [*good[:index], good[index][:-1], *good[index + 1 :]]
        with pytest.raises(SnapshotTruncatedError, match=f"message {5 + index} is not an encoded Message"):
            read_records(ids, cut, 5)
        others = [*ids[:index], ids[0][:-2] + "ff", *ids[index + 1 :]]
        with pytest.raises(SnapshotTruncatedError, match=f"message {5 + index} is not the one"):
            read_records(others, good, 5)
    with pytest.raises(SnapshotTruncatedError, match="message 0 is not an encoded Message"):
        read_records(ids[2:], [good[2].replace(b"answer", b"answ\xc3r")], 0)

"""Typed messages over the wire: nothing is lost, nothing is respelled."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from antiphon.message.v1 import content_block_pb2 as block_pb
from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.json_text import JsonTextError
from antiphon_client.messages import (
    UNSET,
    ActionRequest,
    ActionResponse,
    AssistantResponse,
    Instruction,
    Message,
    MessageRole,
    MessageStatus,
    System,
    UnknownBlock,
    UnknownMessage,
    from_proto,
    to_proto,
)
from antiphon_client.messages.validation import validate_message

ID = "6f1c5ad0-6c2d-4a51-9a3c-0f4e2c1b7d11"
OTHER_ID = "0a1b2c3d-6c2d-4a51-9a3c-0f4e2c1b7d11"

# Spellings that a parse and a dump would not give back.
ODD_OBJECT = '{ "z":1.0e1,"a":9007199254740993, "n":-0.0,"u":"\\u00e9\\u0041" }'
ODD_VALUES = ["1.0e1", " null ", '"\\u0041"', "-0.0", "[1 ,2]", "123456789012345678901234567890", ODD_OBJECT]


def round_trip(wire: pb.Message) -> pb.Message:
    return to_proto(from_proto(wire))


def encoded(wire: pb.Message) -> bytes:
    return wire.SerializeToString(deterministic=True)


json_texts = st.sampled_from(ODD_VALUES)
optional_texts = st.none() | st.text(max_size=5)
uuids = st.uuids().map(str)
addresses = st.one_of(
    st.none(),
    st.builds(pb.Address, unset=st.just(pb.Unset())),
    st.builds(pb.Address, member_id=uuids),
    st.builds(pb.Address, role=st.sampled_from([pb.ROLE_SYSTEM, pb.ROLE_USER, pb.ROLE_ACTION])),
    st.builds(pb.Address, name=st.sampled_from(["alice", "user", "unset", ID, ID.upper(), " "])),
)
recipients = addresses | st.builds(pb.Address, broadcast=st.just(pb.Broadcast()))
details = st.none() | st.sampled_from(block_pb.ImageDetail.values())
blocks = st.lists(
    st.one_of(
        st.builds(block_pb.Text, text=st.text(max_size=5)).map(lambda part: block_pb.ContentBlock(text=part)),
        st.builds(
            block_pb.Text,
            text=st.text(max_size=5),
            cache_control=st.builds(block_pb.CacheControl, type=st.just("ephemeral"), ttl=optional_texts),
        ).map(lambda part: block_pb.ContentBlock(text=part)),
        json_texts.map(lambda text: block_pb.ContentBlock(json=block_pb.Json(value_json=text))),
        st.builds(
            block_pb.Thinking, thinking=st.text(max_size=5), signature=optional_texts, model=optional_texts
        ).map(lambda part: block_pb.ContentBlock(thinking=part)),
        st.builds(
            block_pb.ToolCall,
            id=st.text(max_size=5),
            arguments_json=st.just(ODD_OBJECT),
            thought_signature=optional_texts,
        ).map(lambda part: block_pb.ContentBlock(tool_call=part)),
        st.builds(
            block_pb.Image,
            mime_type=st.just("image/png"),
            data=st.binary(min_size=1, max_size=5),
            detail=details,
        ).map(lambda part: block_pb.ContentBlock(image=part)),
        st.builds(block_pb.Image, url=st.just("https://example.com/a.png"), detail=details).map(
            lambda part: block_pb.ContentBlock(image=part)
        ),
        st.builds(block_pb.Opaque, provider=st.just("p"), data_json=json_texts).map(
            lambda part: block_pb.ContentBlock(opaque=part)
        ),
    ),
    max_size=3,
)
objects = st.sampled_from(["", "{}", ODD_OBJECT])
contents: dict[str, st.SearchStrategy[Any]] = {
    "system": st.builds(pb.SystemContent, system_message=st.text(max_size=5), system_datetime=optional_texts),
    "instruction": st.one_of(
        [
            st.builds(
                pb.InstructionContent,
                instruction=optional_texts,
                prompt_context_json=st.lists(json_texts, max_size=3),
                plain_content=optional_texts,
                images=st.lists(st.sampled_from(["aGk=", "https://example.com/a.png"]), max_size=2),
                image_detail=details,
                blocks=blocks,
                **guidance,
            )
            for guidance in ({}, {"guidance": st.text(max_size=5)}, {"guidance_json": json_texts})
        ]
    ),
    "assistant_response": st.builds(
        pb.AssistantResponseContent, assistant_response=st.text(max_size=5), blocks=blocks
    ),
    "action_request": st.builds(
        pb.ActionRequestContent,
        function=st.text(max_size=5),
        arguments_json=objects,
        arguments_text=optional_texts,
        action_response_id=st.none() | uuids,
        provider_call_id=optional_texts,
        thought_signature=optional_texts,
    ),
    "action_response": st.builds(
        pb.ActionResponseContent,
        function=st.text(max_size=5),
        arguments_json=objects,
        output_json=st.none() | json_texts,
        error=optional_texts,
        action_request_id=st.none() | uuids,
        provider_call_id=optional_texts,
        state=st.sampled_from(pb.ActionResponseState.values()),
        blocks=blocks,
    ),
    "summary": st.builds(
        pb.SummaryContent,
        text=st.text(max_size=5),
        first_id=uuids,
        last_id=uuids,
        summary_ref=optional_texts,
    ),
    "generic": st.builds(pb.GenericContent, value_json=st.just("") | json_texts),
}


@st.composite
def wire_messages(draw: st.DrawFn) -> pb.Message:
    kind = draw(st.sampled_from(sorted(contents)))
    wire = pb.Message(
        id=draw(uuids),
        role=draw(st.sampled_from(pb.Role.values())),
        sender=draw(addresses),
        recipient=draw(recipients),
        channel=draw(optional_texts),
        metadata_json=draw(objects),
        status=draw(st.sampled_from(pb.MessageStatus.values())),
        **{kind: draw(contents[kind])},
    )
    if draw(st.booleans()):
        wire.created_at.seconds = draw(st.integers(-62_135_596_800, 253_402_300_799))
        wire.created_at.nanos = draw(st.integers(0, 999_999_999))
    return wire


@given(wire_messages())
def test_an_untouched_message_gives_the_same_bytes(wire: pb.Message) -> None:
    before = encoded(wire)
    assert encoded(round_trip(wire)) == before
    assert encoded(wire) == before


@given(wire_messages())
def test_a_clone_keeps_the_content_and_address_bytes(wire: pb.Message) -> None:
    twin = to_proto(from_proto(wire).clone())
    assert json.loads(twin.metadata_json)["clone_from"] == wire.id
    assert twin.id != wire.id
    for name in ("id", "created_at", "metadata_json"):
        twin.ClearField(name)
        wire.ClearField(name)
    assert encoded(twin) == encoded(wire)


@given(wire_messages())
def test_the_dictionary_form_keeps_every_value(wire: pb.Message) -> None:
    message = from_proto(wire)
    plain = message.to_dict()
    # The dictionary form writes addresses as text: there a name that spells a role is that role.
    ambiguous = {"user", "unset", ID, ID.upper()}
    assume(wire.sender.name not in ambiguous and wire.recipient.name not in ambiguous)
    again = Message.from_dict(json.loads(json.dumps(plain)))
    assert again.to_dict() == plain
    assert again.content == message.content
    assert again.is_broadcast == message.is_broadcast


def request_wire() -> pb.Message:
    content = pb.ActionRequestContent(function="f", arguments_json=ODD_OBJECT)
    return pb.Message(id=ID, metadata_json=ODD_OBJECT, action_request=content)


def test_a_changed_value_is_written_anew_and_nothing_else() -> None:
    message = from_proto(request_wire())
    message.metadata["seen"] = True
    wire = to_proto(message)
    assert wire.metadata_json == '{"z":10.0,"a":9007199254740993,"n":-0.0,"u":"éA","seen":true}'
    assert wire.action_request.arguments_json == ODD_OBJECT


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"z": 10}, '{"z":10,"a":9007199254740993,"n":-0.0,"u":"éA"}'),
        ({"n": 0.0}, '{"z":10.0,"a":9007199254740993,"n":0.0,"u":"éA"}'),
        ({"z": 10.0}, ODD_OBJECT),
    ],
)
def test_a_change_of_number_type_or_sign_is_a_change(change: dict[str, Any], text: str) -> None:
    message = from_proto(request_wire())
    message.content.arguments.update(change)
    assert to_proto(message).action_request.arguments_json == text


def test_a_change_of_key_order_or_of_true_to_one_is_a_change() -> None:
    wire = pb.Message(id=ID, generic=pb.GenericContent(value_json='{"a": true, "b": 2}'))
    message = from_proto(wire)
    message.content = {"b": 2, "a": True}
    assert to_proto(message).generic.value_json == '{"b":2,"a":true}'
    message.content = {"a": True, "c": 2}
    assert to_proto(message).generic.value_json == '{"a":true,"c":2}'
    message.content = {"a": 1, "b": 2}
    assert to_proto(message).generic.value_json == '{"a":1,"b":2}'
    message.content = {"a": True, "b": 2}
    assert to_proto(message).generic.value_json == '{"a": true, "b": 2}'


def test_extending_the_context_keeps_the_text_of_the_former_items() -> None:
    content = pb.InstructionContent(instruction="q", prompt_context_json=["1.0e1", "-0.0"])
    message = from_proto(pb.Message(id=ID, instruction=content))
    message.update(context=2.5, handle_context="extend")
    assert list(to_proto(message).instruction.prompt_context_json) == ["1.0e1", "-0.0", "2.5"]
    message.update(context=["first", *message.content.prompt_context])
    assert list(to_proto(message).instruction.prompt_context_json) == ['"first"', "1.0e1", "-0.0", "2.5"]
    message.update(context=[-0.0, 0.0, 10])
    assert list(to_proto(message).instruction.prompt_context_json) == ["-0.0", "0.0", "10"]


def test_context_items_of_one_value_keep_their_own_spelling() -> None:
    content = pb.InstructionContent(instruction="q", prompt_context_json=["1.0e1", "10.0", "10.00"])
    message = from_proto(pb.Message(id=ID, instruction=content))
    message.update(context=3, handle_context="extend")
    assert list(to_proto(message).instruction.prompt_context_json) == ["1.0e1", "10.0", "10.00", "3"]


def test_the_text_that_arguments_were_given_as_is_the_text_on_the_wire() -> None:
    request = ActionRequest.create("f", ODD_OBJECT)
    assert to_proto(request).action_request.arguments_json == ODD_OBJECT
    request.update(provider_call_id="c")
    assert to_proto(request).action_request.arguments_json == ODD_OBJECT
    request.arguments["z"] = 11
    assert to_proto(request).action_request.arguments_json.startswith('{"z":11,')
    repaired = to_proto(ActionRequest.create("f", "{'a': 1}")).action_request
    assert (repaired.arguments_json, repaired.arguments_text) == ('{"a":1}', "{'a': 1}")


def test_new_messages_pass_the_contract() -> None:
    request = ActionRequest.create("f", {"a": 1})
    fresh = [
        Message({"a": 1}, recipient=None),
        Message(None),
        System.create(""),
        Instruction.create("q", guidance=["g"], context=[None], images=["aGk="], image_detail="low"),
        Instruction(),
        AssistantResponse.from_response({"content": [{"type": "thinking", "thinking": ""}]}),
        request,
        ActionResponse.create(request, {"b": 2**70}),
    ]
    for message in fresh:
        wire = to_proto(message)
        violations: list[Any] = []
        validate_message(wire, "", violations)
        assert violations == []
        assert from_proto(wire) == message
        assert wire.WhichOneof("content") == message.kind


def test_routing_states_on_the_wire() -> None:
    assert not to_proto(Message("x")).HasField("recipient")
    assert to_proto(Message("x", recipient=None)).recipient.HasField("broadcast")
    assert to_proto(Message("x", recipient="user")).recipient.role == pb.ROLE_USER
    assert to_proto(Message("x", recipient=ID.upper())).recipient.member_id == ID
    assert to_proto(Message("x", recipient="alice")).recipient.name == "alice"
    assert not to_proto(Message("x", sender=None)).HasField("sender")


def test_a_changed_address_is_written_and_a_cleared_one_removed() -> None:
    message = from_proto(pb.Message(id=ID, recipient=pb.Address(name="user"), generic=pb.GenericContent()))
    assert (message.recipient, type(message.recipient)) == ("user", str)
    message.recipient = "user"
    assert message.recipient is MessageRole.USER
    assert to_proto(message).recipient.role == pb.ROLE_USER
    message.recipient = UNSET
    assert not to_proto(message).HasField("recipient")
    message.recipient = None
    assert to_proto(message).recipient.HasField("broadcast")


@pytest.mark.parametrize(
    "address", [pb.Address(), pb.Address(name=""), pb.Address(role=pb.ROLE_TOOL), pb.Address(member_id="x")]
)
def test_an_address_without_meaning_is_an_error(address: pb.Address) -> None:
    with pytest.raises(ValueError, match=r"Invalid sender or recipient|badly formed"):
        from_proto(pb.Message(id=ID, sender=address, generic=pb.GenericContent()))


def test_times() -> None:
    wire = to_proto(Message("x", created_at=1_700_000_000.123456))
    assert (wire.created_at.seconds, wire.created_at.nanos) == divmod(
        round(1_700_000_000.123456 * 1e9), 10**9
    )
    assert from_proto(wire).created_at == 1_700_000_000.123456
    assert to_proto(Message("x", created_at=1.0000000006)).created_at.nanos == 1
    before = to_proto(Message("x", created_at=-0.25))
    assert (before.created_at.seconds, before.created_at.nanos) == (-1, 750_000_000)
    absent = from_proto(pb.Message(id=ID, generic=pb.GenericContent()))
    assert absent.created_at is None
    assert not to_proto(absent).HasField("created_at")


def test_a_message_without_an_id_gets_one() -> None:
    message = from_proto(pb.Message(instruction=pb.InstructionContent(instruction="q")))
    assert to_proto(message).id == str(message.id)


def newer_kind(envelope: pb.Message) -> bytes:
    # A field that no version has: what a later kind of content looks like.
    return envelope.SerializeToString(deterministic=True) + b"\x82\x01\x02\x0a\x00"


def test_a_newer_kind_is_kept_as_bytes_and_never_generic() -> None:
    data = newer_kind(pb.Message(id=ID, channel="ops", metadata_json=ODD_OBJECT))
    message = from_proto(pb.Message.FromString(data))
    assert type(message) is UnknownMessage
    assert (str(message.id), message.channel, message.role) == (ID, "ops", UNSET)
    assert message.chat_msg is None
    assert encoded(to_proto(message)) == data
    again = Message.from_dict(json.loads(json.dumps(message.to_dict())))
    assert type(again) is UnknownMessage
    message.channel = "dev"
    assert encoded(to_proto(message)) == newer_kind(
        pb.Message(id=ID, channel="dev", metadata_json=ODD_OBJECT)
    )


def test_fields_of_a_newer_contract_survive() -> None:
    envelope = pb.Message(id=ID, instruction=pb.InstructionContent(instruction="q"))
    data = envelope.SerializeToString(deterministic=True) + b"\xa2\x01\x02hi"  # field 20
    message = from_proto(pb.Message.FromString(data))
    assert encoded(to_proto(message)) == data
    message.update(instruction="r")
    assert encoded(to_proto(message)).endswith(b"\xa2\x01\x02hi")


def test_a_newer_block_is_kept_as_bytes() -> None:
    block = block_pb.ContentBlock.FromString(b"\x72\x02hi")
    wire = pb.Message(id=ID, assistant_response=pb.AssistantResponseContent(blocks=[block]))
    message = from_proto(wire)
    assert message.content.blocks == [UnknownBlock(b"\x72\x02hi")]
    message.update(assistant_response="changed")
    assert to_proto(message).assistant_response.blocks[0] == block


def test_status_on_the_wire() -> None:
    assert to_proto(Message("x", status="excluded")).status == pb.MESSAGE_STATUS_EXCLUDED
    assert from_proto(to_proto(Message("x", status="interrupted"))).status is MessageStatus.INTERRUPTED
    wire = to_proto(Message("x"))
    wire.status = 9  # type: ignore[assignment]
    with pytest.raises(ValueError, match="unknown message status 9"):
        from_proto(wire)


def test_json_errors_name_the_field() -> None:
    message = Instruction.create("q", context=["a", {1, 2}])
    with pytest.raises(JsonTextError, match=r"^prompt_context\[1\]: "):
        to_proto(message)
    broken = pb.Message(id=ID, action_request=pb.ActionRequestContent(arguments_json="{"))
    with pytest.raises(JsonTextError, match=r"^arguments_json: "):
        from_proto(broken)


def test_the_wire_record_is_copied() -> None:
    wire = request_wire()
    message = from_proto(wire)
    wire.action_request.function = "changed"
    wire.metadata_json = "{}"
    assert encoded(to_proto(message)) == encoded(request_wire())

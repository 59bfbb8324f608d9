"""No field of the contract is forgotten on the way through the typed messages."""

from __future__ import annotations

import pytest

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.errors import Violation
from antiphon_client.messages import UnknownMessage, from_proto, to_proto
from antiphon_client.messages.validation import validate_message
from tests.support.descriptors import ROLES, fields_below, fields_set, messages

ALL = [message for kind in ROLES for message in messages(kind, 1, 1000)]


def test_every_kind_is_generated() -> None:
    assert ROLES.keys() == {f.name for f in pb.Message.DESCRIPTOR.oneofs_by_name["content"].fields}


def test_the_generated_messages_set_every_field_there_is_and_are_legal() -> None:
    missing = fields_below(pb.Message.DESCRIPTOR) - set().union(*map(fields_set, ALL))
    assert missing == set()
    for message in ALL:
        violations: list[Violation] = []
        validate_message(message, "message", violations)
        assert violations == []


@pytest.mark.parametrize("message", ALL, ids=lambda m: f"{m.WhichOneof('content')}-{m.id[-2:]}")
def test_every_field_survives_the_typed_message_byte_for_byte(message: pb.Message) -> None:
    typed = from_proto(message)
    assert not isinstance(typed, UnknownMessage)
    assert to_proto(typed).SerializeToString(deterministic=True) == message.SerializeToString(
        deterministic=True
    )


@pytest.mark.parametrize("message", ALL, ids=lambda m: f"{m.WhichOneof('content')}-{m.id[-2:]}")
def test_every_value_survives_without_the_wire_record(message: pb.Message) -> None:
    """The typed values alone hold everything but the spelling of JSON texts and the output-only role."""
    typed = from_proto(message)
    again = type(typed).from_dict(typed.to_dict())
    assert again.wire_origin is None
    expected = fields_set(message) - {"antiphon.message.v1.Message.role"}
    unset = {"antiphon.message.v1.Address.unset"}
    if message.recipient.HasField("unset"):
        unset.add("antiphon.message.v1.Message.recipient")
    if message.sender.HasField("unset"):
        unset.add("antiphon.message.v1.Message.sender")
    assert expected - fields_set(to_proto(again)) <= unset
    assert from_proto(to_proto(again)) == again

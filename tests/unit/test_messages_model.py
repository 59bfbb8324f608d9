"""The envelope: identity, role, routing, update, clone, dictionary form."""

from __future__ import annotations

import re
import warnings
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

import antiphon_client.messages as messages
from antiphon_client.errors import UnsupportedContentError
from antiphon_client.json_text import JsonTextError
from antiphon_client.messages import (
    UNSET,
    ActionRequest,
    ActionResponse,
    AssistantResponse,
    GenericContent,
    Instruction,
    Message,
    MessageRole,
    MessageStatus,
    Sendable,
    Summary,
    System,
    UnknownMessage,
)

MEMBER = "6f1c5ad0-6c2d-4a51-9a3c-0f4e2c1b7d11"


def one_of_each() -> list[Message]:
    request = ActionRequest.create("search", {"q": "x", "n": 2**70}, provider_call_id="c1")
    return [
        Message({"a": [1, None, "é"]}, sender=MEMBER, recipient=None, channel="ops"),
        System.create("Be brief.", system_datetime="2026-01-02T03:04+00:00"),
        Instruction.create("Why?", guidance={"tone": "dry"}, context=["c", {"k": 1}], images=["aGk="]),
        AssistantResponse.create(
            "Because.", blocks=[{"type": "thinking", "thinking": "hm", "signature": ""}]
        ),
        request,
        ActionResponse.create(
            request, error="", blocks=[{"type": "image", "mime_type": "image/png", "data": "aGk="}]
        ),
        Summary.create("So far.", first_id=request, last_id=MEMBER, summary_ref="s3:1"),
    ]


@pytest.mark.parametrize(
    ("cls", "role"),
    [
        (Message, "unset"),
        (System, "system"),
        (Instruction, "user"),
        (AssistantResponse, "assistant"),
        (ActionRequest, "action"),
        (ActionResponse, "action"),
        (Summary, "user"),
    ],
)
def test_the_class_fixes_the_role(cls: type[Message], role: str) -> None:
    message = cls(role="system" if role != "system" else "user")
    assert message.role == MessageRole(role)
    assert message.to_dict()["role"] == role
    spoofed = {**message.to_dict(), "role": "assistant"}
    assert Message.from_dict(spoofed).role == MessageRole(role)
    with pytest.raises(AttributeError):
        message.role = MessageRole.SYSTEM  # type: ignore[misc]


@pytest.mark.parametrize("message", one_of_each(), ids=lambda message: message.kind)
def test_the_dictionary_form_reads_back(message: Message) -> None:
    again = Message.from_dict(message.to_dict())
    assert type(again) is type(message)
    assert again == message
    assert again.content == message.content
    assert type(message).from_dict(message.to_dict()) == message


def test_the_dictionary_form_shares_nothing_with_the_message() -> None:
    message = Instruction.create("q", context=[{"k": []}], metadata={"m": []})
    plain = message.to_dict()
    plain["content"]["prompt_context"][0]["k"].append(1)
    plain["metadata"]["m"].append(1)
    assert message.content.prompt_context == [{"k": []}]
    assert message.metadata == {"m": []}


def test_a_dictionary_of_another_kind_or_with_unknown_keys_is_refused() -> None:
    plain = System().to_dict()
    with pytest.raises(ValueError, match="kind 'system' is not a Instruction"):
        Instruction.from_dict(plain)
    with pytest.raises(ValueError, match="kind 'poem' is not a Message"):
        Message.from_dict({**plain, "kind": "poem"})
    with pytest.raises(ValueError, match="unknown key of a message: 'colour'"):
        Message.from_dict({**plain, "colour": "red"})


def test_a_subclass_of_an_application_does_not_replace_its_base() -> None:
    class Question(Instruction):
        pass

    question = Question.create("q")
    assert type(Message.from_dict(question.to_dict())) is Instruction
    assert type(Question.from_dict({"content": {"instruction": "q"}})) is Question


def test_without_kind_the_called_class_decides() -> None:
    assert type(Instruction.from_dict({"content": {"instruction": "q"}})) is Instruction
    assert type(Message.from_dict({"content": {"instruction": "q"}})) is Message


@pytest.mark.parametrize(
    ("given", "broadcast", "direct", "text"),
    [
        ({}, False, False, "unset"),
        ({"recipient": UNSET}, False, False, "unset"),
        ({"recipient": None}, True, False, None),
        ({"recipient": MEMBER}, False, True, MEMBER),
        ({"recipient": "user"}, False, True, "user"),
        ({"recipient": "alice"}, False, True, "alice"),
    ],
)
def test_the_five_routing_states(
    given: dict[str, Any], broadcast: bool, direct: bool, text: str | None
) -> None:
    message = Message("x", **given)
    assert (message.is_broadcast, message.is_direct) == (broadcast, direct)
    plain = message.to_dict()
    assert plain["recipient"] == text
    again = Message.from_dict(plain)
    assert again.recipient == message.recipient
    assert (again.is_broadcast, again.is_direct) == (broadcast, direct)


def test_objects_with_an_id_become_their_uuid() -> None:
    member = UUID(MEMBER)
    assert Message(recipient=SimpleNamespace(id=member)).recipient == member
    assert Message(sender=SimpleNamespace(id=MEMBER)).sender == member
    assert Message(sender=Message("x", id=MEMBER)).sender == member
    with pytest.raises(ValueError, match="Invalid sender or recipient"):
        Message(sender=SimpleNamespace(id=5))


def test_a_sender_of_none_is_unset() -> None:
    message = Message("x", sender=None)
    assert message.sender is UNSET
    message.sender = "alice"
    message.sender = None
    assert message.sender is UNSET


def test_default_routes() -> None:
    assert (System().sender, System().recipient) == (MessageRole.SYSTEM, MessageRole.ASSISTANT)
    assert (AssistantResponse().sender, AssistantResponse().recipient) == (UNSET, MessageRole.USER)
    assert (Instruction().sender, Instruction().recipient) == (UNSET, UNSET)
    assert AssistantResponse(recipient=UNSET).recipient is UNSET


def test_update_changes_routing_only_for_truthy_values() -> None:
    message = Message("x", sender="alice", recipient="bob")
    for falsy in (None, ""):
        message.update(sender=falsy, recipient=falsy)
        assert (message.sender, message.recipient) == ("alice", "bob")
    message.update(sender="carol", recipient=MEMBER)
    assert (message.sender, message.recipient) == ("carol", UUID(MEMBER))


def test_update_rebuilds_the_content() -> None:
    message = Instruction.create("q", context=["a"])
    before = message.content
    message.update(instruction="r")
    assert message.content is not before
    assert (before.instruction, message.content.instruction) == ("q", "r")
    assert message.content.prompt_context == ["a"]


@pytest.mark.parametrize("name", ["context", "prompt_context"])
def test_handle_context(name: str) -> None:
    message = Instruction.create("q", context=["a"])
    message.update(handle_context="extend", **{name: "b"})
    assert message.content.prompt_context == ["a", "b"]
    message.update(handle_context="replace", **{name: {"c": 1}})
    assert message.content.prompt_context == [{"c": 1}]
    with pytest.raises(ValueError, match="handle_context must be either 'extend' or 'replace'"):
        message.update(handle_context="merge", **{name: "d"})


def test_a_failing_update_changes_nothing() -> None:
    message = Instruction.create("q", sender="alice")
    before = message.to_dict()
    mistakes: list[dict[str, Any]] = [
        {"sender": "bob", "recipient": 5},
        {"sender": "bob", "colour": 1},
        {"instruction": 5, "sender": "bob"},
    ]
    for wrong in mistakes:
        with pytest.raises((ValueError, TypeError)):
            message.update(**wrong)
        assert message.to_dict() == before
    with pytest.raises(TypeError, match="generic content has no fields"):
        Message("x").update(instruction="q")


def test_ids_grow_with_time() -> None:
    """Whoever stores the messages appends to one end of an index by id."""
    made = [Instruction() for _ in range(20)]
    ids = [message.id for message in (*made, *(message.clone() for message in made))]
    assert ids == sorted(ids)
    assert {message_id.version for message_id in ids} == {7}


def test_clone_has_a_new_identity_and_names_its_source() -> None:
    for message in one_of_each():
        message.metadata["m"] = {"deep": []}
        twin = message.clone()
        assert type(twin) is type(message)
        assert twin.id != message.id
        assert twin.metadata == {"m": {"deep": []}, "clone_from": str(message.id)}
        assert "clone_from" not in message.metadata
        assert twin.content == message.content
        assert (twin.sender, twin.recipient, twin.channel) == (
            message.sender,
            message.recipient,
            message.channel,
        )
        twin.metadata["m"]["deep"].append(1)
        assert message.metadata["m"] == {"deep": []}


def test_a_clone_shares_no_content() -> None:
    message = Instruction.create("q", context=[{"k": []}])
    message.clone().content.prompt_context[0]["k"].append(1)
    assert message.content.prompt_context == [{"k": []}]


def test_identity_is_fixed() -> None:
    message = Message("x", id=MEMBER.upper(), created_at=1.5)
    assert (message.id, message.created_at) == (UUID(MEMBER), 1.5)
    for name in ("id", "created_at"):
        with pytest.raises(AttributeError):
            setattr(message, name, None)
    with pytest.raises(ValueError, match="badly formed"):
        Message("x", id="nope")


@pytest.mark.parametrize(
    ("value", "error"), [("now", TypeError), (True, TypeError), (float("nan"), ValueError)]
)
def test_a_time_must_be_finite_seconds(value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="created_at"):
        Message("x", created_at=value)


def test_generic_content_is_any_json() -> None:
    values: list[Any] = [None, 0, False, "", [], {"a": [1.5, None]}, 2**80]
    for value in values:
        assert Message(value).content == value
        assert Message(GenericContent(value)).content == value
    mistakes: list[Any] = [object(), {1: 2}, float("nan"), "\ud800", {"a": {1, 2}}]
    for wrong in mistakes:
        with pytest.raises(JsonTextError):
            Message(wrong)


@pytest.mark.parametrize("cls", [System, Instruction, AssistantResponse, ActionRequest, ActionResponse])
def test_typed_content_is_its_class_a_dictionary_or_none(cls: type[Message]) -> None:
    empty = cls(None)
    assert cls(empty.content).content is empty.content
    assert cls({}).content == empty.content
    mistakes: list[Any] = ["text", 5, [], GenericContent()]
    for wrong in mistakes:
        with pytest.raises(TypeError, match="content must be dict or"):
            cls(wrong)


def test_rendered_and_chat_msg() -> None:
    assert Message(None).rendered == ""
    assert Message("x").chat_msg == {"role": "unset", "content": "x"}
    assert System.create("p").chat_msg == {"role": "system", "content": "p"}
    assert Instruction.create("q").chat_msg == {"role": "user", "content": "Instruction: q"}
    parts = Instruction.create("q", images=["https://example.com/a.png"]).rendered
    assert isinstance(parts, list)
    assert [part["type"] for part in parts] == ["text", "image_url"]


def test_chat_msg_is_none_when_rendering_fails() -> None:
    message = ActionRequest.create("f", {"a": 1})
    message.content.arguments = object()
    with pytest.raises(Exception, match=re.compile(".")):
        _ = message.rendered
    assert message.chat_msg is None


def test_sendable_is_a_protocol_with_both_addresses() -> None:
    assert isinstance(Message("x"), Sendable)
    assert isinstance(SimpleNamespace(sender=None, recipient=None), Sendable)
    assert not isinstance(SimpleNamespace(sender=None), Sendable)


def test_roled_message_is_an_old_name() -> None:
    with pytest.warns(DeprecationWarning, match="RoledMessage"):
        assert messages.RoledMessage is Message
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert messages.Message is Message
    with pytest.raises(AttributeError, match="NoSuchName"):
        _ = messages.NoSuchName


def test_status() -> None:
    assert Message("x").status is MessageStatus.ACTIVE
    message = Message("x", status="interrupted")
    assert Message.from_dict(message.to_dict()).status is MessageStatus.INTERRUPTED
    with pytest.raises(ValueError, match="lost"):
        Message("x", status="lost")


def test_equality_is_of_class_and_all_fields() -> None:
    first = Instruction.create("q", id=MEMBER, created_at=1.0)
    assert first == Instruction.create("q", id=MEMBER, created_at=1.0)
    assert hash(first) == hash(Instruction.create("q", id=MEMBER, created_at=1.0))
    assert first != Instruction.create("r", id=MEMBER, created_at=1.0)
    assert first != first.to_dict()


def test_an_unknown_message_is_no_prompt() -> None:
    message = UnknownMessage(b"")
    assert message.role is UNSET
    assert message.chat_msg is None
    with pytest.raises(UnsupportedContentError):
        _ = message.rendered
    with pytest.raises(TypeError, match="bytes of a wire record"):
        UnknownMessage("text")  # type: ignore[arg-type]

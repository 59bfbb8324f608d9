"""Requests by their descriptors: each reaches a chosen field, with good values or with one hostile one."""

from __future__ import annotations

from random import Random
from typing import Any, cast

from google.protobuf.descriptor import Descriptor, FieldDescriptor, OneofDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from tests.fuzz.fields import Path
from tests.fuzz.values import World, good_value, hostile_value

# What a field of type Message must hold, where one kind is asked for.
_CONTENT = {"instruction": "instruction", "system": "system"}
_MESSAGE = "antiphon.message.v1.Message"
# Members that spoil most requests: a broadcast sender, a second system record.
_SELDOM = ("broadcast", "system")
_WHOLE = (
    "google.protobuf.Timestamp",
    "antiphon.message.v1.Json",
    "antiphon.message.v1.Opaque",
    "antiphon.message.v1.Image",
    "antiphon.message.v1.CacheControl",
    "antiphon.message.v1.SystemContent",
    "antiphon.message.v1.SummaryContent",
    "antiphon.compiler.v1.ContextBlock",
    "antiphon.compiler.v1.ResponseSchema",
    "antiphon.compiler.v1.StreamCompileRequest",
)
_REQUIRED = {
    "antiphon.message.v1.Message.id",
    "antiphon.message.v1.ActionResponseContent.action_request_id",
    "antiphon.compiler.v1.CompileRequest.instruction",
    "antiphon.compiler.v1.Snapshot.messages",
    "antiphon.history.v1.AddMessagesRequest.messages",
    "antiphon.history.v1.RespondToActionRequest.action_request_id",
    "antiphon.history.v1.SetSystemRequest.system",
    "antiphon.history.v1.MoveMessageRequest.message_id",
    "antiphon.history.v1.CommitCompactionRequest.summary",
}
_GUARDS = ("expected_revision", "at_revision", "planned_revision")


class Generator:
    """Makes requests; the same random source gives the same requests."""

    def __init__(self, rng: Random, world: World) -> None:
        self._rng = rng
        self._world = world

    def request(self, kind: Descriptor, focus: Path, *, hostile: bool) -> Message:
        """Make a request that has the field at the end of ``focus`` set.

        With ``hostile``, that field gets a hostile value if it is a scalar; a
        repeated one also gets more entries than anybody needs, now and then.
        """
        request = GetMessageClass(kind)()
        self._fill(request, focus, hostile, content=None)
        return request

    def _fill(self, message: Message, focus: Path, hostile: bool, content: str | None) -> None:
        aim = focus[0] if focus else None
        for field in self._chosen(cast("Descriptor", message.DESCRIPTOR), aim, content):
            below = focus[1:] if field is aim else ()
            if field.is_repeated:
                self._fill_repeated(message, field, below, hostile and field is aim)
            elif field.type == FieldDescriptor.TYPE_MESSAGE:
                child = getattr(message, field.name)
                child.SetInParent()
                self._fill(child, below, hostile and field is aim, _content_of(field))
            else:
                setattr(message, field.name, self._scalar(field, hostile and field is aim))

    def _fill_repeated(self, message: Message, field: FieldDescriptor, below: Path, hostile: bool) -> None:
        items: Any = getattr(message, field.name)
        count = self._rng.randrange(1, 4)
        if hostile and not below and self._rng.random() < 0.1:
            count = 1100
        for index in range(count):
            aimed = index == count - 1
            if field.type == FieldDescriptor.TYPE_MESSAGE:
                self._fill(items.add(), below if aimed else (), hostile and aimed, None)
            else:
                items.append(self._scalar(field, hostile and aimed))

    def _chosen(
        self, kind: Descriptor, aim: FieldDescriptor | None, content: str | None
    ) -> list[FieldDescriptor]:
        """Choose the fields to set: the aim, one member of every oneof, about half of the others."""
        chosen = []
        members = {oneof.name: self._member(oneof, aim, content) for oneof in _oneofs(kind)}
        for field in kind.fields:
            oneof = field.containing_oneof
            if oneof is not None and oneof.name in members:
                wanted = members[oneof.name] is field
            else:
                wanted = field is aim or self._rng.random() < _likelihood(kind, field)
            if wanted:
                chosen.append(field)
        return chosen

    def _member(
        self, oneof: OneofDescriptor, aim: FieldDescriptor | None, content: str | None
    ) -> FieldDescriptor | None:
        if aim is not None and aim.containing_oneof is oneof:
            return aim
        if content is not None and oneof.name == "content":
            return next(field for field in oneof.fields if field.name == content)
        usual = [field for field in oneof.fields if field.name not in _SELDOM]
        return self._rng.choice(usual if self._rng.random() < 0.9 else oneof.fields)

    def _scalar(self, field: FieldDescriptor, hostile: bool) -> object:
        return hostile_value(self._rng, field) if hostile else good_value(self._rng, self._world, field)


def _oneofs(kind: Descriptor) -> list[OneofDescriptor]:
    """List the oneofs a proto declares, without those that stand for ``optional``."""
    return [each for each in kind.oneofs if len(each.fields) > 1]


def _content_of(field: FieldDescriptor) -> str | None:
    if field.message_type is not None and field.message_type.full_name == _MESSAGE:
        return _CONTENT.get(field.name)
    return None


def _likelihood(kind: Descriptor, field: FieldDescriptor) -> float:
    """Return how often a field is set that nobody aims at.

    What makes a request miss its branch (guards, other branches) is rare, what
    a request cannot do without is there; the rest is tossed.
    """
    if field.name in _GUARDS or field.name in ("parent_branch_id", "progression"):
        return 0.05
    if (
        field.full_name in _REQUIRED
        or field.name == "branch_id"
        or kind.full_name in _WHOLE
        or field.name == "message_ids"
    ):
        return 1.0
    if field.name in ("action_response_id", "sender", "recipient", "page_token", "message_id"):
        return 0.2
    return 0.5

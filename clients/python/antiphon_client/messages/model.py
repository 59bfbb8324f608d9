"""The one envelope of every record (ADR-0006 D1).

A `Message` has identity, routing, grouping, status and content. Its class
fixes its role and the type of its content; a role given by a caller or found
in a dictionary is ignored. The base class is routed traffic: any JSON content,
role unset, never a provider turn.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Mapping
from typing import Any, ClassVar, Final, Protocol, Self, runtime_checkable
from uuid import UUID

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.ids import new_ordered_id
from antiphon_client.json_text import dump_json_text
from antiphon_client.messages.address import (
    Address,
    address_to_text,
    normalize_recipient,
    normalize_sender,
)
from antiphon_client.messages.content_base import MessageContent
from antiphon_client.messages.contents import GenericContent
from antiphon_client.messages.rendering import render_generic
from antiphon_client.messages.role import UNSET, MessageRole, MessageStatus

DEFAULT: Final[Any] = object()
"""Marks an argument that was not given, where None has a meaning of its own."""

_DICT_KEYS: Final = frozenset(
    ("id", "created_at", "metadata", "content", "sender", "recipient", "channel", "status")
)
_IGNORED_KEYS: Final = frozenset(("role", "kind", "embedding"))


@runtime_checkable
class Sendable(Protocol):
    """Whatever can be routed: it has a sender and a recipient."""

    @property
    def sender(self) -> Address:
        """Who speaks."""

    @property
    def recipient(self) -> Address:
        """Whom it is for; None is everybody."""


class Message:
    """One record of a conversation or one routed item.

    Args:
        content: Any JSON value; in a subclass its content class, a dictionary
            of its fields, or None for an empty content.
        sender: Who speaks; None is unset.
        recipient: Whom it is for; None is broadcast, left out is unset.
        channel: Grouping label; never affects delivery.
        metadata: The writer's own data, a JSON object; copied.
        status: Whether the record takes part in compilation.
        id: Identity; a new UUID, ordered by time, when left out.
        created_at: Seconds since the epoch; now when left out.
        role: Ignored: the class decides.

    Raises:
        ValueError: An address, the id or a content field is invalid.
        TypeError: The content is of another type.
    """

    __slots__ = (
        "_content",
        "_created_at",
        "_id",
        "_recipient",
        "_sender",
        "channel",
        "metadata",
        "status",
        "wire_origin",
    )

    kind: ClassVar[str] = "generic"
    _role: ClassVar[MessageRole] = MessageRole.UNSET
    _content_type: ClassVar[type[MessageContent]] = GenericContent
    _default_sender: ClassVar[Address] = UNSET
    _default_recipient: ClassVar[Address] = UNSET
    _classes: ClassVar[dict[str, type[Message]]] = {}

    def __init__(
        self,
        content: Any = None,
        *,
        sender: Any = DEFAULT,
        recipient: Any = DEFAULT,
        channel: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        status: MessageStatus | str = MessageStatus.ACTIVE,
        id: UUID | str | None = None,
        created_at: float | None = None,
        role: object = None,
    ) -> None:
        self._id = _fresh_id() if id is None else _uuid(id)
        self._created_at: float | None = time.time() if created_at is None else _epoch(created_at)
        self._content = self._coerce(content)
        self._sender = normalize_sender(self._default_sender if sender is DEFAULT else sender)
        self._recipient = normalize_recipient(self._default_recipient if recipient is DEFAULT else recipient)
        self.channel = channel
        self.metadata: dict[str, Any] = copy.deepcopy(dict(metadata or {}))
        self.status = MessageStatus(status)
        self.wire_origin: pb.Message | None = None
        """The wire record this was read from, never changed: it keeps the exact text of JSON fields."""

    def __init_subclass__(cls) -> None:
        # An application's own subclass has its base's kind and does not replace it.
        if "kind" in cls.__dict__:
            Message._classes[cls.kind] = cls

    @property
    def id(self) -> UUID:
        """Identity, fixed for life."""
        return self._id

    @property
    def created_at(self) -> float | None:
        """Seconds since the epoch; None only in a record read from a wire form without a time."""
        return self._created_at

    @property
    def role(self) -> MessageRole:
        """The role that the class fixes."""
        return self._role

    @property
    def content(self) -> Any:
        """The content: typed in a subclass, the JSON value itself in the base class."""
        return self._content

    @content.setter
    def content(self, value: Any) -> None:
        self._content = self._coerce(value)

    @property
    def sender(self) -> Address:
        """Who speaks. Assigning normalizes; None is unset."""
        return self._sender

    @sender.setter
    def sender(self, value: Any) -> None:
        self._sender = normalize_sender(value)

    @property
    def recipient(self) -> Address:
        """Whom it is for. Assigning normalizes; None is broadcast."""
        return self._recipient

    @recipient.setter
    def recipient(self, value: Any) -> None:
        self._recipient = normalize_recipient(value)

    @property
    def is_broadcast(self) -> bool:
        """Whether it is for everybody."""
        return self._recipient is None

    @property
    def is_direct(self) -> bool:
        """Whether it is for a member, a role or a name. Unset is neither direct nor broadcast."""
        return self._recipient is not None and self._recipient is not UNSET

    @property
    def rendered(self) -> str | list[dict[str, Any]]:
        """The content as a model sees it; None is the empty text."""
        return render_generic(self._content)

    @property
    def chat_msg(self) -> dict[str, Any] | None:
        """``{"role", "content"}``, or None when the content cannot be rendered."""
        try:
            return {"role": self.role.value, "content": self.rendered}
        except Exception:  # the projection contains every failure (ADR-0006 D1)
            return None

    def update(
        self, *, sender: Any = None, recipient: Any = None, content: Any = DEFAULT, **fields: Any
    ) -> None:
        """Change routing and content.

        Args:
            sender: The new sender; a falsy value changes nothing.
            recipient: The new recipient; a falsy value changes nothing, so an
                update cannot make a broadcast.
            content: The whole new content, where given.
            **fields: Fields of a typed content; the content is rebuilt, never
                mutated.

        Raises:
            ValueError: An address or a field is invalid; nothing is changed then.
            TypeError: A field has the wrong type; nothing is changed then.
        """
        renewed = self._content if content is DEFAULT else self._coerce(content)
        if fields:
            if not isinstance(renewed, MessageContent):
                raise TypeError("generic content has no fields to update")
            renewed = renewed.updated(fields)
        new_sender = normalize_sender(sender) if sender else self._sender
        self._recipient = normalize_recipient(recipient) if recipient else self._recipient
        self._sender, self._content = new_sender, renewed

    def clone(self) -> Self:
        """Return a copy with a new identity and time; ``metadata["clone_from"]`` names this record."""
        twin = self._bare_copy()
        twin._id = _fresh_id()
        twin._created_at = time.time()
        twin.metadata["clone_from"] = str(self._id)
        return twin

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that `from_dict` reads back.

        ``kind`` names the class; ``role`` is for readers and ignored on input.
        A broadcast recipient is None, an unset one the text "unset". JSON
        values are kept, their spelling (1.0e1) only in the wire form.
        """
        return {
            "id": str(self._id),
            "created_at": self._created_at,
            "metadata": copy.deepcopy(self.metadata),
            "content": self._content_to_plain(),
            "sender": address_to_text(self._sender),
            "recipient": address_to_text(self._recipient),
            "channel": self.channel,
            "status": self.status.value,
            "kind": self.kind,
            "role": self.role.value,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Build a message from its dictionary form.

        On the base class ``kind`` decides the class; without one the record is
        generic. On a subclass ``kind`` may be left out.

        Raises:
            ValueError: ``kind`` is unknown or not this class, a key is unknown,
                or a value is invalid.
            TypeError: The content has the wrong type.
        """
        kind = data.get("kind", cls.kind)
        found: type[Any] | None = cls if kind == cls.kind else Message._classes.get(kind)
        if found is None or not issubclass(found, cls):
            raise ValueError(f"kind {kind!r} is not a {cls.__name__}")
        unknown = data.keys() - _DICT_KEYS - _IGNORED_KEYS
        if unknown:
            raise ValueError(f"unknown key of a message: {min(unknown)!r}")
        given = {key: value for key, value in data.items() if key in _DICT_KEYS}
        if "status" in given and given["status"] is None:
            del given["status"]
        given["content"] = found._content_from_plain(given.get("content"))
        message: Self = found(**given)
        if "created_at" in data and data["created_at"] is None:
            message._created_at = None
        return message

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message):
            return NotImplemented
        return type(self) is type(other) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self._id)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(id={str(self._id)!r}, content={self._content!r})"

    def _bare_copy(self) -> Self:
        twin = object.__new__(type(self))
        twin._id, twin._created_at = self._id, self._created_at
        twin._content = copy.deepcopy(self._content)
        twin._sender, twin._recipient = self._sender, self._recipient
        twin.channel, twin.status = self.channel, self.status
        twin.metadata = copy.deepcopy(self.metadata)
        twin.wire_origin = self.wire_origin
        return twin

    @classmethod
    def _coerce(cls, content: Any) -> Any:
        expected = cls._content_type
        if expected is GenericContent:
            value = content.value if isinstance(content, GenericContent) else content
            dump_json_text(value)  # raises for what could never be stored
            return value
        if content is None:
            return expected()
        if isinstance(content, expected):
            return content
        if isinstance(content, Mapping):
            return expected.from_dict(content)
        raise TypeError(f"content must be dict or {expected.__name__} instance")

    def _content_to_plain(self) -> Any:
        content = self._content
        return content.to_dict() if isinstance(content, MessageContent) else copy.deepcopy(content)

    @classmethod
    def _content_from_plain(cls, content: Any) -> Any:
        return content


def _fresh_id() -> UUID:
    # Ordered by time, as the stores' indexes like it.
    return UUID(new_ordered_id())


def _uuid(value: UUID | str) -> UUID:
    return value if isinstance(value, UUID) else UUID(value)


def _epoch(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError("created_at must be seconds since the epoch")
    if not math.isfinite(value):
        raise ValueError("created_at must be finite")
    return float(value)

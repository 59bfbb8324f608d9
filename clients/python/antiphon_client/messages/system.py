"""The branch's system record."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar, Self

from antiphon_client.messages.address import Address
from antiphon_client.messages.content_base import MessageContent
from antiphon_client.messages.contents import SystemContent
from antiphon_client.messages.model import DEFAULT, Message
from antiphon_client.messages.role import MessageRole


class System(Message):
    """System policy. Routes from system to assistant unless told otherwise."""

    __slots__ = ()

    kind: ClassVar[str] = "system"
    _role: ClassVar[MessageRole] = MessageRole.SYSTEM
    _content_type: ClassVar[type[MessageContent]] = SystemContent
    _default_sender: ClassVar[Address] = MessageRole.SYSTEM
    _default_recipient: ClassVar[Address] = MessageRole.ASSISTANT

    @classmethod
    def create(
        cls,
        system_message: str | None = None,
        *,
        system_datetime: bool | str | datetime | None = None,
        sender: Any = DEFAULT,
        recipient: Any = DEFAULT,
        **envelope: Any,
    ) -> Self:
        """Build a system record; see `SystemContent` for the fields.

        Args:
            system_message: The policy; left out, the default text.
            system_datetime: True is the current UTC time at minute precision.
            sender: As in `Message`.
            recipient: As in `Message`.
            **envelope: Further arguments of `Message`.
        """
        content = {"system_message": system_message, "system_datetime": system_datetime}
        return cls(content, sender=sender, recipient=recipient, **envelope)

    @property
    def rendered(self) -> str:
        """The optional time and the policy text."""
        content: SystemContent = self._content
        return content.rendered

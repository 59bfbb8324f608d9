"""A model's turn."""

from __future__ import annotations

import copy
from typing import Any, ClassVar, Self

from antiphon_client.messages.address import Address
from antiphon_client.messages.content_base import MessageContent
from antiphon_client.messages.contents import AssistantResponseContent
from antiphon_client.messages.model import DEFAULT, Message
from antiphon_client.messages.provider_response import plain_response, response_blocks, response_text
from antiphon_client.messages.role import MessageRole

MODEL_RESPONSE_KEY = "model_response"
"""Metadata key of the provider's original answer."""


class AssistantResponse(Message):
    """What a model answered. For the user unless told otherwise."""

    __slots__ = ()

    kind: ClassVar[str] = "assistant_response"
    _role: ClassVar[MessageRole] = MessageRole.ASSISTANT
    _content_type: ClassVar[type[MessageContent]] = AssistantResponseContent
    _default_recipient: ClassVar[Address] = MessageRole.USER

    @classmethod
    def create(
        cls,
        assistant_response: str = "",
        *,
        blocks: Any = None,
        sender: Any = DEFAULT,
        recipient: Any = DEFAULT,
        **envelope: Any,
    ) -> Self:
        """Build a model's turn from its text and, where there are any, its parts."""
        content = {"assistant_response": assistant_response, "blocks": blocks}
        return cls(content, sender=sender, recipient=recipient, **envelope)

    @classmethod
    def from_response(
        cls, response: Any, *, sender: Any = DEFAULT, recipient: Any = DEFAULT, **envelope: Any
    ) -> Self:
        """Build a model's turn from a provider's answer.

        The display text is taken from the shapes `provider_response` knows;
        thinking, tool calls and provider-only parts are kept as blocks, in
        order; the answer itself goes to ``metadata["model_response"]``.

        Args:
            response: Text, an object, a pydantic model, or a list of these.
            sender: As in `Message`.
            recipient: As in `Message`.
            **envelope: Further arguments of `Message`.

        Raises:
            JsonTextError: A part holds a value that JSON cannot.
        """
        payload = plain_response(response)
        message = cls.create(
            response_text(payload),
            blocks=response_blocks(payload),
            sender=sender,
            recipient=recipient,
            **envelope,
        )
        message.metadata[MODEL_RESPONSE_KEY] = copy.deepcopy(payload)
        return message

    @property
    def response(self) -> str:
        """The display text."""
        content: AssistantResponseContent = self._content
        return content.assistant_response

    @property
    def model_response(self) -> Any:
        """The provider's original answer, or None where there is none."""
        return self.metadata.get(MODEL_RESPONSE_KEY)

    @property
    def rendered(self) -> str:
        """The display text."""
        return self.response

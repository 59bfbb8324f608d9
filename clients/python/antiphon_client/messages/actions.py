"""Calls of actions and their outcomes, correlated by ids (ADR-0006 D2)."""

from __future__ import annotations

import copy
from typing import Any, ClassVar, Self

from antiphon_client.messages.content_base import MessageContent
from antiphon_client.messages.contents import ActionRequestContent, ActionResponseContent
from antiphon_client.messages.model import DEFAULT, Message
from antiphon_client.messages.role import MessageRole


class ActionRequest(Message):
    """A call of an action."""

    __slots__ = ()

    kind: ClassVar[str] = "action_request"
    _role: ClassVar[MessageRole] = MessageRole.ACTION
    _content_type: ClassVar[type[MessageContent]] = ActionRequestContent

    @classmethod
    def create(
        cls,
        function: Any,
        arguments: Any = None,
        *,
        provider_call_id: str | None = None,
        thought_signature: str | None = None,
        sender: Any = DEFAULT,
        recipient: Any = DEFAULT,
        **envelope: Any,
    ) -> Self:
        """Build a call.

        Args:
            function: A name, a callable (its ``__name__``) or an object with ``function``.
            arguments: An object, or text that is parsed and, if malformed, repaired.
            provider_call_id: The id that the model provider gave the call.
            thought_signature: The provider's signature over the thought behind it.
            sender: As in `Message`.
            recipient: As in `Message`.
            **envelope: Further arguments of `Message`.

        Raises:
            ValueError: The function has no name, or the arguments cannot be made an object.
        """
        content = {
            "function": function,
            "arguments": arguments,
            "provider_call_id": provider_call_id,
            "thought_signature": thought_signature,
        }
        return cls(content, sender=sender, recipient=recipient, **envelope)

    @property
    def function(self) -> str:
        """Name of the action."""
        content: ActionRequestContent = self._content
        return content.function

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments."""
        content: ActionRequestContent = self._content
        return content.arguments

    @property
    def is_responded(self) -> bool:
        """Whether the history service has linked a final response."""
        content: ActionRequestContent = self._content
        return content.action_response_id is not None

    @property
    def rendered(self) -> str:
        """Function and arguments as minimal YAML."""
        content: ActionRequestContent = self._content
        return content.rendered


class ActionResponse(Message):
    """The outcome of a call."""

    __slots__ = ()

    kind: ClassVar[str] = "action_response"
    _role: ClassVar[MessageRole] = MessageRole.ACTION
    _content_type: ClassVar[type[MessageContent]] = ActionResponseContent

    @classmethod
    def create(
        cls,
        action_request: ActionRequest,
        output: Any = None,
        *,
        error: str | None = None,
        state: str = "final",
        blocks: Any = None,
        sender: Any = DEFAULT,
        recipient: Any = DEFAULT,
        **envelope: Any,
    ) -> Self:
        """Build the outcome of a call: function, arguments and ids are the request's.

        The reciprocal link is the history service's: it is set when the
        response is added to the request's branch.

        Args:
            action_request: The request this answers.
            output: The output; falsy values are outputs like any other.
            error: Why the call failed.
            state: final, or interim for news on the way.
            blocks: Rich output beside ``output``.
            sender: As in `Message`.
            recipient: As in `Message`.
            **envelope: Further arguments of `Message`.

        Raises:
            TypeError: ``action_request`` is not an `ActionRequest`.
        """
        if not isinstance(action_request, ActionRequest):
            raise TypeError("action_request must be an ActionRequest")
        asked: ActionRequestContent = action_request.content
        content = {
            "function": asked.function,
            "arguments": copy.deepcopy(asked.arguments),
            "output": output,
            "error": error,
            "state": state,
            "blocks": blocks,
            "action_request_id": str(action_request.id),
            "provider_call_id": asked.provider_call_id,
        }
        return cls(content, sender=sender, recipient=recipient, **envelope)

    @property
    def success(self) -> bool:
        """Whether the call succeeded: exactly when there is no error."""
        content: ActionResponseContent = self._content
        return content.success

    @property
    def output(self) -> Any:
        """The output."""
        content: ActionResponseContent = self._content
        return content.output

    @property
    def summary(self) -> str:
        """The outcome in a word or a line."""
        content: ActionResponseContent = self._content
        return content.summary

    @property
    def rendered(self) -> str:
        """Function, arguments and output as minimal YAML."""
        content: ActionResponseContent = self._content
        return content.rendered

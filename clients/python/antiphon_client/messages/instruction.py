"""A user's turn."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from antiphon_client.messages.content_base import MessageContent
from antiphon_client.messages.content_fields import context_list
from antiphon_client.messages.contents import InstructionContent
from antiphon_client.messages.model import DEFAULT, Message
from antiphon_client.messages.role import MessageRole


class Instruction(Message):
    """What a user asks: durable parts only (ADR-0007 D1)."""

    __slots__ = ()

    kind: ClassVar[str] = "instruction"
    _role: ClassVar[MessageRole] = MessageRole.USER
    _content_type: ClassVar[type[MessageContent]] = InstructionContent

    @classmethod
    def create(
        cls,
        instruction: str | None = None,
        *,
        guidance: Any = None,
        context: Any = None,
        prompt_context: Any = None,
        plain_content: str | None = None,
        images: Any = None,
        image_detail: str | None = None,
        blocks: Any = None,
        sender: Any = DEFAULT,
        recipient: Any = DEFAULT,
        **envelope: Any,
    ) -> Self:
        """Build an instruction; see `InstructionContent` for the fields.

        Args:
            instruction: What is asked.
            guidance: How to go about it.
            context: Compatibility name of ``prompt_context``; at most one is given.
            prompt_context: Context items; a single value becomes a list of one.
            plain_content: Replaces the structured rendering.
            images: URLs, image data URLs or raw base64.
            image_detail: low, high or auto.
            blocks: Ordered parts.
            sender: As in `Message`.
            recipient: As in `Message`.
            **envelope: Further arguments of `Message`.

        Raises:
            ValueError: ``context`` and ``prompt_context`` are both given, or a
                value breaks its field's rule.
        """
        content = {
            "instruction": instruction,
            "guidance": guidance,
            "plain_content": plain_content,
            "images": images,
            "image_detail": image_detail,
            "blocks": blocks,
        }
        # Only given keys: both names at once are refused where contents are built.
        for name, value in (("context", context), ("prompt_context", prompt_context)):
            if value is not None:
                content[name] = value
        return cls(content, sender=sender, recipient=recipient, **envelope)

    @property
    def rendered(self) -> str | list[dict[str, Any]]:
        """The sections Guidance, Instruction and Context; parts where there are images."""
        content: InstructionContent = self._content
        return content.rendered

    def update(
        self,
        *,
        sender: Any = None,
        recipient: Any = None,
        content: Any = DEFAULT,
        handle_context: str = "replace",
        **fields: Any,
    ) -> None:
        """Change routing and content as `Message.update` does.

        Args:
            sender: The new sender; a falsy value changes nothing.
            recipient: The new recipient; a falsy value changes nothing.
            content: The whole new content, where given.
            handle_context: What a given context does to the present one:
                "replace" or "extend".
            **fields: Fields of `InstructionContent`, also ``context``.

        Raises:
            ValueError: ``handle_context`` is neither, or as `Message.update`.
        """
        if handle_context not in ("extend", "replace"):
            raise ValueError("handle_context must be either 'extend' or 'replace'")
        if handle_context == "extend":
            base = self._content if content is DEFAULT else self._coerce(content)
            for name in ("context", "prompt_context"):
                if name in fields:
                    fields[name] = [*base.prompt_context, *context_list(fields[name])]
        super().update(sender=sender, recipient=recipient, content=content, **fields)

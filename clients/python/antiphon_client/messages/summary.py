"""What stands for a compacted stretch of a branch."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from antiphon_client.messages.content_base import MessageContent
from antiphon_client.messages.contents import SummaryContent
from antiphon_client.messages.model import Message
from antiphon_client.messages.role import MessageRole


class Summary(Message):
    """A summary that takes the place of older messages in a branch's view.

    ``Branch.compact`` and ``Branch.commit_compaction`` write it; adding one by
    hand selects no view.
    """

    __slots__ = ()

    kind: ClassVar[str] = "summary"
    _role: ClassVar[MessageRole] = MessageRole.USER
    _content_type: ClassVar[type[MessageContent]] = SummaryContent

    @classmethod
    def create(
        cls, text: str, *, first_id: Any, last_id: Any, summary_ref: str | None = None, **envelope: Any
    ) -> Self:
        """Build a summary.

        Args:
            text: The summary.
            first_id: The first message of the stretch it stands for, or its id.
            last_id: The last message of it, or its id.
            summary_ref: A reference to where the summarized material is kept.
            **envelope: Further arguments of `Message`.
        """
        content = {"text": text, "first_id": first_id, "last_id": last_id, "summary_ref": summary_ref}
        return cls(content, **envelope)

    @property
    def rendered(self) -> str:
        """The summary under a line that says what it is."""
        content: SummaryContent = self._content
        return content.rendered

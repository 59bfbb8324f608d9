"""One conversation, kept as a branch of the history service.

Each write names the revision it was decided at, so that of two turns at once
one is refused (409); and a request id that follows from the turn, so that a
write that is sent again is done once.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Self
from uuid import UUID

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client import (
    ActionRequest,
    AssistantResponse,
    AsyncBranch,
    AsyncHistoryClient,
    Message,
    Summary,
)
from antiphon_client.batching import batches
from antiphon_client.ids import derived_request_id, new_id
from antiphon_client.messages import to_proto
from antiphon_client.messages.role import MessageStatus
from antiphon_gateway.alignment import ChatMessage, held_count, repeats_end
from antiphon_gateway.errors import invalid
from antiphon_gateway.records import as_records, chat_messages

CONVERSATION_HEADER: Final = "x-antiphon-conversation"
_KEY: Final = re.compile(r"[!-~]{1,512}")


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a conversation held when it was read.

    Attributes:
        key: Its name: the header's value, and the branch's external key.
        history: Where it is kept.
        branch_id: As which branch.
        revision: The branch's revision; 0 for a conversation that is still to be made.
        records: Its messages in order, but for what is set aside, and for
            summaries: what they stand for is there.
    """

    key: str
    history: AsyncHistoryClient
    branch_id: UUID
    revision: int
    records: tuple[Message, ...]

    @classmethod
    async def open(cls, history: AsyncHistoryClient, key: str | None) -> Self:
        """Read the conversation of a key. Without a key, or without such a conversation, it is a new one.

        Cost: in step with the conversation's length.

        Raises:
            GatewayError: The key is no header's value (400).
            AntiphonError: The history service refuses, or cannot be reached.
        """
        key = key or new_id()
        if not _KEY.fullmatch(key):
            raise invalid(f"{CONVERSATION_HEADER} must be 1 to 512 characters of ASCII without blanks")
        record = await history.find_branch(key)
        if record is None:
            return cls(key, history, UUID(new_id()), 0, ())
        # A later writer's messages are not read: what is decided here is decided at this revision.
        branch = AsyncBranch(history, record.branch_id)
        everything = branch.messages(page_size=1000, at_revision=record.revision)
        records = [each async for each in everything if not _is_left_out(each)]
        return cls(key, history, record.branch_id, record.revision, tuple(records))

    @property
    def answer(self) -> tuple[Message, ...]:
        """The answer that the conversation ends with, its calls too."""
        start = len(self.records)
        while start and isinstance(self.records[start - 1], ActionRequest):
            start -= 1
        if start and isinstance(self.records[start - 1], AssistantResponse):
            start -= 1
        return self.records[start:]

    async def take(self, given: Sequence[ChatMessage], *, only_new: bool) -> Conversation | None:
        """Add what is new in a request's messages; return the conversation as it is then.

        An interrupted answer at its end that the client leaves out is set aside:
        kept, but told to no model any more.

        Args:
            given: The request's messages.
            only_new: Whether they are the new ones alone, not the whole conversation.

        Returns:
            None where the messages are there with their answer already.

        Raises:
            GatewayError: The messages differ from what is kept (409), or are none of OpenAI's (400).
            RevisionConflictError: Another turn was added meanwhile.
            BranchExistsError: The conversation was begun meanwhile.
        """
        set_aside = () if only_new else self._left_out(given)
        held = self.records[: len(self.records) - len(set_aside)]
        kept = chat_messages(held)
        if only_new:
            known = len(given) if repeats_end(kept, given) else 0
        else:
            known = held_count(kept, given, self._cut_texts())
            if known < len(kept):
                return None
        new = as_records(held, given[known:], self._id("messages"))
        return await self._added([*map(_excluded, set_aside), *new])

    async def keep(self, answer: Sequence[Message]) -> Conversation:
        """Add a model's answer to the turn; return the conversation as it is then.

        Raises:
            RevisionConflictError: Another turn, or another answer to this one, was added meanwhile.
        """
        records = [to_proto(message) for message in answer]
        for index, record in enumerate(records):
            record.id = self._id("answer", str(index))
        return await self._added(records)

    async def _added(self, records: Sequence[pb.Message]) -> Conversation:
        revision = self.revision or await self._made()
        for batch in batches(records) if records else ():
            # The same messages at the same place are the same write, whoever repeats it.
            digest = hashlib.sha256(b"".join(each.SerializeToString(deterministic=True) for each in batch))
            written = await self.history.add_messages(
                self.branch_id,
                batch,
                expected_revision=revision,
                request_id=derived_request_id(str(self.branch_id), str(revision), digest.hexdigest()),
            )
            revision = written.revision
        return replace(self, revision=revision)

    async def _made(self) -> int:
        """Make the branch; return its first revision."""
        record = await self.history.create_branch(branch_id=self.branch_id, external_key=self.key)
        return record.revision

    def _left_out(self, given: Sequence[ChatMessage]) -> tuple[Message, ...]:
        cut = self.answer
        if not cut or cut[0].status is not MessageStatus.INTERRUPTED:
            return ()
        place = len(chat_messages(self.records[: len(self.records) - len(cut)]))
        is_told = len(given) > place and given[place].get("role") == "assistant"
        return () if is_told else cut

    def _cut_texts(self) -> frozenset[str]:
        return frozenset(
            each.response
            for each in self.records
            if isinstance(each, AssistantResponse) and each.status is MessageStatus.INTERRUPTED
        )

    def _id(self, *parts: str) -> str:
        return derived_request_id("gateway", str(self.branch_id), str(self.revision), *parts)


def _is_left_out(message: Message) -> bool:
    return isinstance(message, Summary) or message.status is MessageStatus.EXCLUDED


def _excluded(message: Message) -> pb.Message:
    record = to_proto(message)
    record.status = pb.MESSAGE_STATUS_EXCLUDED
    return record

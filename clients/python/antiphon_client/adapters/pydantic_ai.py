"""Message histories of Pydantic AI that are kept in a branch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.adapters.extras import missing_extra
from antiphon_client.adapters.session_branch import SessionBranch
from antiphon_client.adapters.session_branches import branches_of
from antiphon_client.history import AsyncHistoryClient, HistoryClient

try:
    from pydantic_ai.messages import ModelMessage

    from antiphon_client.adapters.pydantic_ai_messages import METADATA_KEY, dict_of, messages_of, records_of
except ImportError as error:
    raise missing_extra("pydantic-ai", error) from error

KEY_PREFIX: Final = "pydantic-ai:"
"""What the external keys of sessions begin with; the session's id follows."""


class AntiphonMessageHistory:
    """A conversation of agents, over an asyncio client.

    Use it as ::

        kept = AntiphonMessageHistory("support-42", history)
        result = await agent.run(question, message_history=await kept.load())
        await kept.append(result.new_messages())

    How messages become records says :mod:`~antiphon_client.adapters.pydantic_ai_messages`.
    Messages come back equal to what the framework's own type adapter makes of
    their JSON. Records that other clients added to the branch come as the
    plainest messages that say the same.

    Not carried: what the framework's JSON leaves out (the Python types of tool
    results, which come back as JSON values); values that JSON text has not
    (JsonTextError, nothing of the call stored); one message over the service's
    limit of 3 MiB (SizeLimitExceededError). Files inside a message count for
    that with their base64 text.

    Args:
        session_id: The session's id: 1 to 500 bytes of UTF-8.
        history: The client; it stays the caller's to close.

    Every method may raise the errors of the client.
    """

    def __init__(self, session_id: str, history: AsyncHistoryClient) -> None:
        self.session_id = session_id
        self._run = history._transport.run
        self._branch = branches_of(history).branch(KEY_PREFIX + session_id)

    async def load(self) -> list[ModelMessage]:
        """Return the messages, in order. Cost: that of the messages."""
        return _messages(self._branch, await self._run(self._branch.read()))

    async def append(self, new_messages: Sequence[ModelMessage]) -> None:
        """Add messages at the end, such as ``result.new_messages()``: all or none, up to 1,000 records."""
        await self._run(self._branch.append(_units(new_messages)))

    async def clear(self) -> None:
        """Remove every message. Earlier revisions of the branch keep them."""
        await self._run(self._branch.clear())


class SyncAntiphonMessageHistory:
    """As :class:`AntiphonMessageHistory`, over a blocking client, for ``agent.run_sync``."""

    def __init__(self, session_id: str, history: HistoryClient) -> None:
        self.session_id = session_id
        self._run = history._transport.run
        self._branch = branches_of(history).branch(KEY_PREFIX + session_id)

    def load(self) -> list[ModelMessage]:
        """Return the messages, in order."""
        return _messages(self._branch, self._run(self._branch.read()))

    def append(self, new_messages: Sequence[ModelMessage]) -> None:
        """Add messages at the end."""
        self._run(self._branch.append(_units(new_messages)))

    def clear(self) -> None:
        """Remove every message."""
        self._run(self._branch.clear())


def _units(messages: Sequence[ModelMessage]) -> list[list[pb.Message]]:
    return [records_of(message) for message in messages]


def _messages(branch: SessionBranch, records: Sequence[pb.Message]) -> list[ModelMessage]:
    return messages_of(branch.text(records, METADATA_KEY, dict_of))

"""A chat message history of LangChain that is kept in a branch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.adapters.extras import missing_extra
from antiphon_client.adapters.session_branches import branches_of
from antiphon_client.history import AsyncHistoryClient, HistoryClient

try:
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.messages import BaseMessage, messages_from_dict

    from antiphon_client.adapters.langchain_messages import METADATA_KEY, dict_of, records_of
except ImportError as error:
    raise missing_extra("langchain", error) from error

KEY_PREFIX: Final = "langchain:"
"""What the external keys of sessions begin with; the session's id follows."""


class AntiphonChatMessageHistory(BaseChatMessageHistory):
    """A conversation for ``RunnableWithMessageHistory``.

    How messages become records says :mod:`~antiphon_client.adapters.langchain_messages`.
    Messages come back equal to what was added. Records that other clients added
    to the branch come as the plainest messages that say the same.

    Not carried: values that JSON has not, such as objects in ``artifact`` or
    ``additional_kwargs`` (JsonTextError, nothing of the call stored); the class
    of an application's own subclass, which comes back as the class of its
    ``type``; whether a field was set or has its default; one message over the
    service's limit of 3 MiB (SizeLimitExceededError).

    Args:
        session_id: The session's id: 1 to 502 bytes of UTF-8.
        history: A blocking client, for the methods without ``a``; the others use a thread
            where no asyncio client is given. Clients stay the caller's to close.
        async_history: An asyncio client, for the methods with ``a``.

    Raises:
        ValueError: No client is given. Every method may raise the errors of the client;
            those without ``a`` raise RuntimeError where there is no blocking client.
    """

    def __init__(
        self,
        session_id: str,
        history: HistoryClient | None = None,
        *,
        async_history: AsyncHistoryClient | None = None,
    ) -> None:
        client = async_history if history is None else history
        if client is None:
            raise ValueError("a chat message history needs a client, blocking or asyncio")
        self.session_id = session_id
        self._history = history
        self._async_history = async_history
        self._branch = branches_of(client).branch(KEY_PREFIX + session_id)

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """The messages, in order, read anew each time. Cost: that of the messages."""
        return self._messages_of(self._blocking()._transport.run(self._branch.read()))

    async def aget_messages(self) -> list[BaseMessage]:
        """Return the messages, in order; as :attr:`messages`."""
        if self._async_history is None:
            return await super().aget_messages()
        return self._messages_of(await self._async_history._transport.run(self._branch.read()))

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages at the end: all or none, up to 1,000 records or 3 MiB."""
        self._blocking()._transport.run(self._branch.append(_units(messages)))

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages at the end; as :meth:`add_messages`."""
        if self._async_history is None:
            await super().aadd_messages(messages)
        else:
            await self._async_history._transport.run(self._branch.append(_units(messages)))

    def clear(self) -> None:
        """Remove every message. Earlier revisions of the branch keep them."""
        self._blocking()._transport.run(self._branch.clear())

    async def aclear(self) -> None:
        """Remove every message; as :meth:`clear`."""
        if self._async_history is None:
            await super().aclear()
        else:
            await self._async_history._transport.run(self._branch.clear())

    def _messages_of(self, records: Sequence[pb.Message]) -> list[BaseMessage]:
        return messages_from_dict(self._branch.values(records, METADATA_KEY, dict_of))

    def _blocking(self) -> HistoryClient:
        if self._history is None:
            raise RuntimeError("this history has an asyncio client only: use the methods that begin with 'a'")
        return self._history


def _units(messages: Sequence[BaseMessage]) -> list[list[pb.Message]]:
    return [records_of(message) for message in messages]

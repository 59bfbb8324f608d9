"""A ``Session`` of the OpenAI Agents SDK that is kept in a branch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.adapters.extras import missing_extra
from antiphon_client.adapters.openai_agents_items import METADATA_KEY, item_of, record_of
from antiphon_client.adapters.session_branches import branches_of
from antiphon_client.adapters.unit_reading import read_units
from antiphon_client.history import AsyncHistoryClient

try:
    from agents.memory import SessionSettings
except ImportError as error:
    raise missing_extra("openai-agents", error) from error

KEY_PREFIX: Final = "openai-agents:"
"""What the external keys of sessions begin with; the session's id follows."""


class AntiphonSession:
    """A conversation that an agent remembers; give it to ``Runner.run(..., session=...)``.

    Each item is one record; which, says :mod:`~antiphon_client.adapters.openai_agents_items`.
    Items come back as they were added, key order included. Records that other
    clients added to the branch come as the plainest items that say the same.

    Not carried: values that JSON text has not (NaN, lone surrogates), which are
    refused with JsonTextError and nothing of the call stored, and a single item
    over the service's limit of 3 MiB (SizeLimitExceededError).

    Args:
        session_id: The session's id: 1 to 498 bytes of UTF-8.
        history: The client; it stays the caller's to close.
        session_settings: The framework's settings; ``limit`` holds for ``get_items`` without one.

    Every method may raise the errors of the client.
    """

    def __init__(
        self,
        session_id: str,
        history: AsyncHistoryClient,
        *,
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings: SessionSettings | None = session_settings or SessionSettings()
        self._run = history._transport.run
        self._branch = branches_of(history).branch(KEY_PREFIX + session_id)

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """Return the items, or the latest ones, in order. Cost: that of the items returned.

        Args:
            limit: How many; None for what the settings say, a negative number for all.
        """
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        if limit == 0:
            return []
        if limit is None or limit < 0:
            records = await self._run(self._branch.read())
            return self._branch.values(records, METADATA_KEY, item_of)
        wanted = limit

        def is_enough(records: Sequence[pb.Message]) -> bool:
            return len(_items(records)) >= wanted

        records = await self._run(self._branch.latest(is_enough, min(wanted, 1000)))
        return _items(records)[-wanted:]

    async def add_items(self, items: list[Any]) -> None:
        """Add items at the end: all or none, up to 1,000 items or 3 MiB."""
        await self._run(self._branch.append([[record_of(item)] for item in items]))

    async def pop_item(self) -> Any | None:
        """Remove the latest item and return it; None where there is none.

        It is the latest at the moment it is removed, whoever else writes: no two calls give one item.
        """
        record = await self._run(self._branch.pop(_is_item))
        return None if record is None else _items([record])[0]

    async def clear_session(self) -> None:
        """Remove every item. Earlier revisions of the branch keep them."""
        await self._run(self._branch.clear())


def _items(records: Sequence[pb.Message]) -> list[Any]:
    return read_units(records, METADATA_KEY, item_of).values()


def _is_item(record: pb.Message) -> bool:
    return record.WhichOneof("content") != "system" and bool(_items([record]))

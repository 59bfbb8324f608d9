"""Ids of imported records."""

from __future__ import annotations

import uuid
from typing import Final

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.ids import new_ordered_id

_NAMESPACE: Final = uuid.UUID("5b0c1f5e-3c7a-5d0e-9a55-5f0f3c6f4a61")


class RecordIds:
    """Gives the records of one import their ids."""

    def __init__(self, seed: str | None) -> None:
        """Take what ids depend on beside the records' positions; None gives fresh ones, ordered by time."""
        self._seed = seed

    def record(self, index: int, part: int = 0) -> pb.Message:
        """Return a new record with its id.

        Args:
            index: Index of its message in the conversation.
            part: Number of the record among those of the message.
        """
        if self._seed is None:
            return pb.Message(id=new_ordered_id())
        # Length first, so that no seed and position can run into another pair.
        name = f"{len(self._seed)}:{self._seed}:{index}:{part}"
        return pb.Message(id=str(uuid.uuid5(_NAMESPACE, name)))

"""Where the messages of an import wait until all of the file is known to be good."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import NamedTuple

_IN_MEMORY = 2**20
_BATCH_MESSAGES = 512
_BATCH_BYTES = 2**20


class SpooledMessage(NamedTuple):
    """One message of a file, ready to be stored."""

    message_id: str
    kind: int
    """A value of ``antiphon.history.v1.MessageKind``."""
    link_id: str | None
    """The other side of its action link."""
    interim: bool
    """Whether it is an action response that does not answer."""
    body: bytes
    """Its encoding."""


class MessageSpool:
    """Messages in order, on disk once they are many.

    The file is a temporary one without a name, so that nobody else can open it
    and nothing stays when the process ends, however it ends. In memory stay the
    ids and links, some 300 bytes a message.
    """

    def __init__(self) -> None:
        self._bodies = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 (closed by close)
        self._rows: list[tuple[str, int, str | None, bool, int]] = []

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, message: SpooledMessage) -> None:
        """Append a message."""
        *facts, body = message
        self._bodies.write(body)
        self._rows.append((*facts, len(body)))  # type: ignore[arg-type]  # the tuple's length is lost above

    def batches(self) -> Iterator[list[SpooledMessage]]:
        """Yield all messages from the first on, some at a time; again as often as it is called."""
        self._bodies.seek(0)
        batch: list[SpooledMessage] = []
        room = _BATCH_BYTES
        for message_id, kind, link_id, interim, size in self._rows:
            batch.append(SpooledMessage(message_id, kind, link_id, interim, self._bodies.read(size)))
            room -= size
            if room <= 0 or len(batch) == _BATCH_MESSAGES:
                yield batch
                batch, room = [], _BATCH_BYTES
        if batch:
            yield batch

    def close(self) -> None:
        """Let go of the file."""
        self._bodies.close()

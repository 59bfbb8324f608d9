"""The messages of a write as they are stored.

A write's answer brings ids and no bodies, so they are read back at the revision
the write made. Meanwhile another client may have dropped that revision, removed
the messages or deleted the branch, or the service may have gone. The write is
done all the same, and nothing that befalls this reading is its failure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from antiphon.message.v1 import message_pb2
from antiphon_client.errors import AntiphonError, RevisionExpiredError
from antiphon_client.messages import Message, from_proto
from antiphon_client.messages.validation import canonicalize_message
from antiphon_client.records import Written
from antiphon_client.rpc import Steps


def stored_messages(
    written: Written, read: Callable[[int], Steps[Sequence[Message]]]
) -> Steps[Sequence[Message]]:
    """Read the messages of a write, in its order, as near to what it left as can be had.

    That is at its own revision; if that was dropped, at the oldest one kept,
    where later changes may show; if nothing can be read, as they were sent:
    without a ``created_at`` or links that only the service knows.

    Args:
        written: The write's answer.
        read: Reads the messages at a revision.
    """
    try:
        try:
            return (yield from read(written.revision))
        except RevisionExpiredError as expired:
            return (yield from read(expired.oldest_revision))
    except AntiphonError:
        return list(_as_sent(written))


def _as_sent(written: Written) -> Iterator[Message]:
    for message_id, sent in zip(written.message_ids, written.sent, strict=True):
        message = message_pb2.Message()
        message.CopyFrom(sent)
        message.id = str(message_id)
        canonicalize_message(message)
        yield from_proto(message)

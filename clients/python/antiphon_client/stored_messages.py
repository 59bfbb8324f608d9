"""The messages of a write as they are stored.

A write's answer brings ids and no bodies, so they are read back at the revision
the write made. Meanwhile another client may have dropped that revision, removed
the messages or deleted the branch, or the service may have gone. The write is
done all the same, and nothing that befalls this reading is its failure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias
from uuid import UUID

from antiphon.message.v1 import message_pb2
from antiphon_client.errors import AntiphonError, RevisionExpiredError
from antiphon_client.messages import Message, from_proto
from antiphon_client.messages.validation import canonicalize_message
from antiphon_client.records import Written
from antiphon_client.rpc import Steps

ReadMessages: TypeAlias = Callable[[Sequence[UUID], int], Steps[Sequence[Message]]]
"""Reads messages by id at a revision, all or none; an error lists those that are not there as ``missing``."""


def stored_messages(written: Written, read: ReadMessages) -> Steps[Sequence[Message]]:
    """Read the messages of a write, in its order, as near to what it left as can be had.

    That is at its own revision; if that was dropped, at the oldest one kept,
    where later changes may show. A message that cannot be read is as it was
    sent: without a ``created_at`` or links that only the service knows.
    """
    found = {message.id: message for message in (yield from _readable(written, read))}
    return [
        found[message_id] if message_id in found else _as_sent(message_id, sent)
        for message_id, sent in zip(written.message_ids, written.sent, strict=True)
    ]


def _readable(written: Written, read: ReadMessages) -> Steps[Sequence[Message]]:
    wanted: Sequence[UUID] = written.message_ids
    revision = written.revision
    while wanted:
        try:
            return (yield from read(wanted, revision))
        except RevisionExpiredError as expired:
            is_further = expired.oldest_revision > revision
            revision = expired.oldest_revision
        except AntiphonError as error:
            missing = error.metadata.get("missing", "").split(",")  # A long list is cut.
            left = [message_id for message_id in wanted if str(message_id) not in missing]
            is_further = len(left) < len(wanted)
            wanted = left
        if not is_further:
            break
    return ()


def _as_sent(message_id: UUID, sent: message_pb2.Message) -> Message:
    message = message_pb2.Message()
    message.CopyFrom(sent)
    message.id = str(message_id)
    canonicalize_message(message)
    return from_proto(message)

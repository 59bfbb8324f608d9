"""Content blocks of a kind that this compiler does not know: all messages that have one, in one error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from antiphon.message.v1.content_block_pb2 import ContentBlock
from antiphon.message.v1.message_pb2 import Message
from antiphon_client.errors import UnsupportedContentError, and_more, id_list
from compiler_service.state import Record


def unknown_block(message_id: str) -> UnsupportedContentError:
    """Return the error for a message, "" for the request's own instruction, with such a block."""
    return _error([message_id] if message_id else [])


@contextmanager
def listing_unknown_blocks(records: Iterable[Record]) -> Iterator[None]:
    """Let the error for the first message with such a block be one that lists all of them.

    Args:
        records: The records in which to look, once there is one. Their kinds are known.

    Raises:
        UnsupportedContentError: There is one.
    """
    try:
        yield
    except UnsupportedContentError:
        found = [message.id for kind, message in records if _has_unknown(_blocks_of(kind, message))]
        if not found:
            raise
        raise _error(found) from None


def _blocks_of(kind: str, message: Message) -> Iterable[ContentBlock]:
    if kind == "instruction":
        return message.instruction.blocks
    if kind == "assistant_response":
        return message.assistant_response.blocks
    return message.action_response.blocks


def _has_unknown(blocks: Iterable[ContentBlock]) -> bool:
    return any(block.WhichOneof("block") is None for block in blocks)


def _error(message_ids: list[str]) -> UnsupportedContentError:
    named = f": message {message_ids[0]}{and_more(message_ids)}" if message_ids else ""
    return UnsupportedContentError(
        f"with a content block of a kind that this compiler does not know{named}",
        metadata=id_list("message_ids", message_ids),
    )

"""Writing a branch's file: one short transaction a part, all at one revision."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import replace

from antiphon_client.branch_file import FORMAT, VERSION
from antiphon_client.limits import Limits
from history_service import snapshot_stream
from history_service.branch_file.text import as_json, line_of, message_line
from history_service.domain.reads import Snapshot
from history_service.storage.port import HistoryStore

_CHUNK_MARGIN = 16
"""Bytes of a response around its chunk, at most."""


async def chunks(store: HistoryStore, snapshot: Snapshot, limits: Limits) -> AsyncGenerator[bytes]:
    """Yield the file's bytes in chunks within ``frame_bytes``, cut anywhere.

    Args:
        store: Where the branch is.
        snapshot: The branch at a revision, opened without a selection of the caller's.
        limits: Gives the size of a chunk.

    Raises:
        BranchDeletedError: The branch was deleted meanwhile.
        StoreCorruptError: A message cannot be written without loss.
    """
    most = max(1, limits.frame_bytes - _CHUNK_MARGIN)
    pending = bytearray()
    async with aclosing(_lines(store, snapshot, limits)) as parts:
        async for part in parts:
            pending += part
            while len(pending) >= most:
                yield bytes(pending[:most])
                del pending[:most]
    yield bytes(pending)


async def _lines(store: HistoryStore, snapshot: Snapshot, limits: Limits) -> AsyncGenerator[bytes]:
    """Yield the file in whole lines, several at once."""
    digest = hashlib.sha256()
    async with aclosing(_records(store, snapshot, limits)) as parts:
        async for part in parts:
            digest.update(part)
            yield part
    footer: dict[str, object] = {"messages": snapshot.branch.message_count}
    if snapshot.view is not None:
        footer["view"] = snapshot.branch.view_count
    yield line_of({"end": footer | {"sha256": digest.hexdigest()}})


async def _records(store: HistoryStore, snapshot: Snapshot, limits: Limits) -> AsyncGenerator[bytes]:
    """Yield everything but the footer."""
    yield line_of({"format": FORMAT, "version": VERSION, "branch": as_json(snapshot.branch)})
    everything = replace(snapshot, view=None, message_count=snapshot.branch.message_count)
    async with aclosing(snapshot_stream.batches(store, everything, limits, _message_lines)) as batches:
        async for batch in batches:
            yield batch.part
    if snapshot.view is not None:
        async for part in _view_lines(store, snapshot, limits):
            yield part


def _message_lines(bodies: list[bytes]) -> bytes:
    return b"".join(map(message_line, bodies))


async def _view_lines(store: HistoryStore, snapshot: Snapshot, limits: Limits) -> AsyncIterator[bytes]:
    most = limits.batch_messages
    async for message_ids in snapshot_stream.order(store, snapshot, limits, tuple):
        for start in range(0, len(message_ids), most):
            yield line_of({"view": list(message_ids[start : start + most])})

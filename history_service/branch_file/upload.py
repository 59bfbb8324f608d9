"""Receiving an import: its head, then the bytes of a file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon_client.errors import FieldInvalidError
from antiphon_client.limits import Limits
from history_service.branch_file.reading import BranchFile, BranchFileReader
from history_service.branch_file.spool import MessageSpool
from history_service.request_checks import check_import_head

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Upload:
    """An import as it was asked.

    Attributes:
        head: Its head, checked.
        file: Its file, whole and good.
    """

    head: history_pb.ImportHead
    file: BranchFile

    @property
    def identity(self) -> bytes:
        """What two sendings of one import have in common, however the file was cut."""
        return self.head.SerializeToString(deterministic=True) + b"\0" + self.file.sha256


async def receive(
    parts: AsyncIterator[history_pb.ImportBranchRequest],
    limits: Limits,
    store: Callable[[Upload], Awaitable[T]],
) -> T:
    """Take all parts, then store what they hold; nothing is stored of a file with a fault.

    Args:
        parts: The parts as they come.
        limits: Bounds of the file and of what is in it.
        store: Stores the upload. Once begun it is not cancelled with the call,
            and the upload's messages stay readable until it ends.

    Raises:
        FieldInvalidError: The parts are not one head and then a good file.
        ReservedKeyError: The branch's metadata uses a reserved key.
        SizeLimitExceededError: Something is too large.
    """
    spool = MessageSpool()
    try:
        upload = await _read(parts, BranchFileReader(spool, limits), limits)
    except BaseException:
        spool.close()
        raise
    storing = asyncio.ensure_future(store(upload))

    def done(ended: asyncio.Future[T]) -> None:
        spool.close()
        # Nobody may be left who waits for it.
        if not ended.cancelled():
            ended.exception()

    storing.add_done_callback(done)
    return await asyncio.shield(storing)


async def _read(
    parts: AsyncIterator[history_pb.ImportBranchRequest], reader: BranchFileReader, limits: Limits
) -> Upload:
    head: history_pb.ImportHead | None = None
    async for part in parts:
        kind = part.WhichOneof("part")
        if head is None:
            if kind != "head":
                raise FieldInvalidError.of("head", "must come first")
            check_import_head(part.head, limits)
            head = part.head
        elif kind == "data":
            # Off the event loop: a chunk of 1 MiB may take 0.3 s.
            await asyncio.to_thread(reader.feed, part.data)
        else:
            raise FieldInvalidError.of(kind or "part", "only data follows the head")
    if head is None:
        raise FieldInvalidError.of("head", "is required")
    return Upload(head, await asyncio.to_thread(reader.finish))

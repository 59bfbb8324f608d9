"""Pulling a branch's snapshot from the history service.

One ReadSnapshot call for one compilation, under the caller's own metadata and
within the caller's own deadline. What the history service answers is passed on
unchanged, its domain included.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import NoReturn, Protocol

import grpc
import grpc.aio

from antiphon.compiler.v1.compiler_service_pb2 import (
    CompileRequest,
    PlanCompactionRequest,
    PlanWindowRequest,
)
from antiphon.history.v1.history_service_pb2 import ReadSnapshotRequest, ReadSnapshotResponse
from antiphon_client.edge.call import Call
from antiphon_client.errors import HistoryUnavailableError, SizeLimitExceededError
from antiphon_client.limits import Limits
from antiphon_client.snapshot import AssembledSnapshot, SnapshotAssembler
from antiphon_client.status import error_from_rpc
from antiphon_client.tracing import client_call
from antiphon_client.transport_errors import DeadlineExceededError

_READ_SNAPSHOT = "antiphon.history.v1.HistoryService/ReadSnapshot"
HistoryRequest = CompileRequest | PlanWindowRequest | PlanCompactionRequest
"""A request that selects of a history."""

# Facts about the caller's own connection; the rest of the metadata is the
# caller's to the history service as much as to this one.
_CONNECTION_KEYS = frozenset(
    (
        "accept-encoding",
        "connection",
        "content-length",
        "content-type",
        "host",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "user-agent",
    )
)
_RESERVED_PREFIXES = ("grpc-", ":")

_MESSAGE_FRAME_BYTES = 64
"""Bytes of a whole snapshot that a message takes beside its own, at most: its id, and a frame to itself."""
_OTHER_FRAME_BYTES = 1024
"""Bytes of header and footer beside the branch and its system record, at most."""


Watcher = Callable[[SnapshotAssembler], None]
"""Is called after each frame of a snapshot."""


class SnapshotStub(Protocol):
    """The part of the history service's asyncio stub that a compilation needs."""

    @property
    def ReadSnapshot(  # noqa: N802
        self,
    ) -> grpc.aio.UnaryStreamMultiCallable[ReadSnapshotRequest, ReadSnapshotResponse]:
        """The RPC of that name."""
        ...


async def pull_snapshot(
    stub: SnapshotStub | None,
    request: HistoryRequest,
    call: Call,
    limits: Limits,
    held: AssembledSnapshot | None = None,
    watch: Watcher | None = None,
) -> AssembledSnapshot:
    """Read the snapshot that a request with a branch as its source asks for.

    Args:
        stub: The history service; None where none is configured.
        request: The request.
        call: The call being served: its metadata and deadline are handed on.
        limits: Gives ``snapshot_bytes``, which what is held counts in.
        held: A snapshot of the branch at that revision or an earlier one, made
            without a progression: the history service may tell what has changed since.
        watch: Is told of what has come so far where the snapshot is asked for whole.

    Raises:
        HistoryUnavailableError: The history service cannot be reached.
        SizeLimitExceededError: The snapshot is larger than the limit.
        SnapshotTruncatedError: The stream ended early or does not match its footer.
        DeadlineExceededError: The caller's deadline passed.
        AntiphonError: Whatever the history service answered.
    """
    if stub is None:
        raise HistoryUnavailableError("no history service is configured")
    if held is not None:
        try:
            snapshot = await _read(stub, request, call, limits, held, None)
        except SizeLimitExceededError:
            snapshot = None
        if snapshot is not None and (not snapshot.kept or _whole_bytes(snapshot) <= limits.snapshot_bytes):
            return snapshot
        # Near the limit only the whole stream tells on which side of it the branch is.
    return await _read(stub, request, call, limits, None, watch)


async def _read(
    stub: SnapshotStub,
    request: HistoryRequest,
    call: Call,
    limits: Limits,
    held: AssembledSnapshot | None,
    watch: Watcher | None,
) -> AssembledSnapshot:
    timeout = None if call.deadline is None else call.deadline - time.monotonic()
    if timeout is not None and timeout <= 0:
        _raise_deadline()
    assembler = SnapshotAssembler(held)
    with client_call(_READ_SNAPSHOT, _forwarded(call.metadata)) as metadata:
        stream = stub.ReadSnapshot(
            _snapshot_request(request, held), timeout=timeout, metadata=grpc.aio.Metadata(*metadata)
        )
        await _feed(stream, assembler, limits, watch)
        return assembler.result()


async def _feed(
    stream: grpc.aio.UnaryStreamCall[ReadSnapshotRequest, ReadSnapshotResponse],
    assembler: SnapshotAssembler,
    limits: Limits,
    watch: Watcher | None,
) -> None:
    """Feed a stream's frames to the assembler, as far as the limit on them allows."""
    try:
        async for frame in stream:
            assembler.feed(frame)
            if assembler.size > limits.snapshot_bytes:
                raise SizeLimitExceededError.of(
                    "the branch's snapshot",
                    limit_name="snapshot_bytes",
                    limit=limits.snapshot_bytes,
                    actual=assembler.size,
                    advice="select a part of it by a view or a progression",
                )
            if watch is not None:
                watch(assembler)
    except grpc.RpcError as error:
        _raise_for(error)
    finally:
        stream.cancel()


def _whole_bytes(snapshot: AssembledSnapshot) -> int:
    """Return the bytes that a snapshot's frames would have were it told whole, at most."""
    system = 0 if snapshot.system is None else snapshot.system.ByteSize()
    messages = snapshot.message_bytes + len(snapshot.messages) * _MESSAGE_FRAME_BYTES
    return messages + snapshot.branch.ByteSize() + system + _OTHER_FRAME_BYTES


def _forwarded(metadata: Iterable[tuple[str, str | bytes]]) -> list[tuple[str, str | bytes]]:
    """Return the entries that belong to the caller rather than to the connection."""
    return [
        (key, value)
        for key, value in metadata
        if not key.startswith(_RESERVED_PREFIXES) and key not in _CONNECTION_KEYS
    ]


def _snapshot_request(request: HistoryRequest, held: AssembledSnapshot | None) -> ReadSnapshotRequest:
    branch = request.branch
    return ReadSnapshotRequest(
        branch_id=branch.branch_id,
        at_revision=branch.at_revision if branch.HasField("at_revision") else None,
        progression=request.progression if request.HasField("progression") else None,
        since_revision=None if held is None else held.revision,
        since_incarnation="" if held is None else held.incarnation,
        takes_joined=True,
    )


def _raise_for(error: grpc.RpcError) -> NoReturn:
    answered = error_from_rpc(error)
    if answered is not None:
        raise answered from None
    code = error.code() if isinstance(error, grpc.aio.AioRpcError) else grpc.StatusCode.UNKNOWN
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        _raise_deadline()
    raise HistoryUnavailableError(
        "the history service cannot be reached", metadata={"code": code.name}
    ) from error


def _raise_deadline() -> NoReturn:
    raise DeadlineExceededError("the deadline passed while the history was read") from None

"""Branch files without a wire: exporting, importing, taking apart and putting together again."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.edge.call import Call, bind_call
from tests.support.history import History

_SERVICE = "/antiphon.history.v1.HistoryService"


async def export_file(history: History, branch_id: str, at: int | None = None) -> bytes:
    """Export a branch; return the file."""
    return b"".join(await export_chunks(history, branch_id, at))


async def export_chunks(history: History, branch_id: str, at: int | None = None) -> list[bytes]:
    """Export a branch; return the file's chunks."""

    async def serve() -> list[bytes]:
        bind_call(Call(f"{_SERVICE}/ExportBranch", history.tenant_id, b""))
        request = pb.ExportBranchRequest(branch_id=branch_id, at_revision=at)
        frames = history._servicer.ExportBranch(request, None)  # type: ignore[arg-type]
        return [frame.data async for frame in frames]

    return await asyncio.create_task(serve())


async def import_file(history: History, file: bytes, *, size: int = 2**20, **head: Any) -> Any:
    """Import a file in chunks of a size; return the response."""
    chunks = [file[start : start + size] for start in range(0, len(file), size)]
    parts = [pb.ImportBranchRequest(head=pb.ImportHead(**head))]
    return await import_parts(history, [*parts, *(pb.ImportBranchRequest(data=chunk) for chunk in chunks)])


async def import_parts(history: History, parts: Iterable[pb.ImportBranchRequest]) -> Any:
    """Send the parts of an import; return the response."""

    async def stream() -> AsyncIterator[pb.ImportBranchRequest]:
        for part in parts:
            yield pb.ImportBranchRequest.FromString(part.SerializeToString())

    async def serve() -> Any:
        bind_call(Call(f"{_SERVICE}/ImportBranch", history.tenant_id, b""))
        return await history._servicer.ImportBranch(stream(), None)  # type: ignore[arg-type]

    return pb.ImportBranchResponse.FromString(await asyncio.create_task(serve()))


def lines_of(file: bytes) -> list[bytes]:
    """Return a file's lines without their ends."""
    *lines, rest = file.split(b"\n")
    assert rest == b""
    return lines


def records_of(file: bytes) -> list[Any]:
    """Return a file's records."""
    return [json.loads(line) for line in lines_of(file)]


def sealed(lines: Sequence[bytes], **footer: Any) -> bytes:
    """Put lines, without a footer, together as a file whose footer is right, or as wrong as is said."""
    body = b"".join(line + b"\n" for line in lines)
    records = [json.loads(line) for line in lines if line.startswith((b'{"message"', b'{"view"'))]
    right: dict[str, Any] = {
        "messages": sum("message" in record for record in records),
        "sha256": hashlib.sha256(body).hexdigest(),
    }
    if b"view_count" in lines[0]:
        right["view"] = sum(len(record.get("view", ())) for record in records)
    return body + json.dumps({"end": right | footer}).encode() + b"\n"


def line_with(message: dict[str, Any]) -> bytes:
    """Return the line of a message in ProtoJSON."""
    return json.dumps({"message": message}).encode()

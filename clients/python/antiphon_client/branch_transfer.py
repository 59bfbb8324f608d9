"""Whole branches to files and from files: ``export_branch`` and ``import_branch``."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, TypeAlias

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon_client.branch_file import BranchFileError, FileCheck
from antiphon_client.errors import AntiphonError, SnapshotTruncatedError
from antiphon_client.records import BranchRecord
from antiphon_client.rpc import Steps, StreamCall, UploadCall, perform
from antiphon_client.wire_values import Id, id_text, request_id_text

FileTarget: TypeAlias = "str | os.PathLike[str] | BinaryIO"
"""A path, or a file open for bytes."""

Progress: TypeAlias = Callable[[int], None]
"""Called with the bytes moved so far."""

_CHUNK_BYTES = 2**18


class BranchTransfers:
    """The calls that move whole branches; the contract stands in their proto, the format in the docs."""

    def export_branch(
        self,
        branch_id: Id,
        target: FileTarget,
        *,
        at_revision: int | None = None,
        progress: Progress | None = None,
    ) -> Steps[int]:
        """Write a branch to a file, check that it is whole, and return its size in bytes.

        A path gets its file at the end only: what was there before stays if
        the export fails. An open file has the bytes as they came.

        Raises:
            OSError: The file cannot be written.
            SnapshotTruncatedError: The stream ended early or was altered.
        """
        request = pb.ExportBranchRequest(branch_id=str(branch_id), at_revision=at_revision)
        with _replacing(target) as file:
            size = yield from perform(
                StreamCall("ExportBranch", request, lambda: _FileCollector(file, progress))
            )
        return size

    def import_branch(
        self,
        source: FileTarget,
        *,
        branch_id: Id | None = None,
        external_key: str | None = None,
        request_id: Id | None = None,
        progress: Progress | None = None,
    ) -> Steps[BranchRecord]:
        """Make a branch from a file, all or nothing.

        The same file under the same ``request_id`` makes one branch, however
        often it is sent.

        Raises:
            OSError: The file cannot be read.
            FieldInvalidError: A line is wrong: its number is ``metadata["line"]``.
            BranchExistsError: The id or the external key is taken.
            BranchDeletedError: The id was a deleted branch's.
        """
        head = pb.ImportHead(
            branch_id=id_text(branch_id),
            external_key=external_key,
            request_id=request_id_text(request_id),
        )
        with _opened(source, "rb") as file:
            parts = _Parts(head, file, progress)
            try:
                record = yield from perform(UploadCall("ImportBranch", parts, _imported))
            except AntiphonError:
                if parts.failure is not None:
                    raise parts.failure from None
                raise
        return record


def _imported(response: pb.ImportBranchResponse) -> BranchRecord:
    return BranchRecord.from_proto(response.branch, replayed=response.replayed)


class _Parts:
    """The parts of an import; an error of the file ends them and is kept for the caller."""

    def __init__(self, head: pb.ImportHead, file: BinaryIO, progress: Progress | None) -> None:
        self._head = head
        self._file = file
        self._progress = progress
        self.failure: Exception | None = None

    def __iter__(self) -> Iterator[pb.ImportBranchRequest]:
        yield pb.ImportBranchRequest(head=self._head)
        sent = 0
        # gRPC would tell its caller nothing of an exception. A file cut short is refused by the server.
        try:
            while data := self._file.read(_CHUNK_BYTES):
                yield pb.ImportBranchRequest(data=data)
                sent += len(data)
                if self._progress is not None:
                    self._progress(sent)
        except Exception as error:
            self.failure = error


class _FileCollector:
    """Writes the chunks of an export to a file and proves, at the end, that they are whole."""

    def __init__(self, file: BinaryIO, progress: Progress | None) -> None:
        self._file = file
        self._progress = progress
        self._check = FileCheck()
        self._size = 0

    def feed(self, frame: pb.ExportBranchResponse) -> bool:
        self._file.write(frame.data)
        self._check.feed(frame.data)
        self._size += len(frame.data)
        if self._progress is not None:
            self._progress(self._size)
        return False

    def result(self) -> int:
        try:
            self._check.finish()
        except BranchFileError as error:
            raise SnapshotTruncatedError(str(error)) from None
        return self._size


@contextlib.contextmanager
def _opened(target: FileTarget, mode: str) -> Iterator[BinaryIO]:
    if isinstance(target, (str, os.PathLike)):
        with open(target, mode) as file:
            yield file  # type: ignore[misc]  # the mode says that it is binary
    else:
        yield target


@contextlib.contextmanager
def _replacing(target: FileTarget) -> Iterator[BinaryIO]:
    """Open a target for writing; a path gets its file when the context has ended well."""
    if not isinstance(target, (str, os.PathLike)):
        yield target
        return
    path = Path(target)
    partial = path.with_name(f"{path.name}.partial")
    try:
        with _opened(partial, "wb") as file:
            yield file
        partial.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            partial.unlink()
        if isinstance(error, OSError) and error.filename == str(partial):
            # Of the file beside it the caller knows nothing.
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise

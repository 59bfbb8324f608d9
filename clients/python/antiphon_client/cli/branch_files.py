"""Whole branches from and to files, for ``antiphon import`` and ``antiphon export``."""

from __future__ import annotations

import hashlib
import itertools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

import typer

from antiphon_client.branch_transfer import Progress
from antiphon_client.cli.output import byte_progress, complain, counted, error_text, say, say_json, visible
from antiphon_client.cli.sources import Source
from antiphon_client.errors import AntiphonError, BranchDeletedError, BranchExistsError
from antiphon_client.history import HistoryClient
from antiphon_client.ids import derived_request_id
from antiphon_client.records import BranchRecord


def export_file(
    client: HistoryClient, branch_id: UUID, output: Path | None, *, at_revision: int | None
) -> None:
    """Write a branch's file to a path or to standard output.

    Raises:
        typer.BadParameter: Standard output is a terminal: it might obey what stands in a message.
    """
    if output is None and sys.stdout.isatty():
        raise typer.BadParameter("the file is not for terminals; give -o FILE", param_hint="--format")
    with byte_progress("exporting", None) as progress:
        client.with_options(timeout=None).export_branch(
            branch_id,
            sys.stdout.buffer if output is None else output,
            at_revision=at_revision,
            progress=progress,
        )
    sys.stdout.flush()


def import_file(client: HistoryClient, source: Source, external_key: str | None, *, as_json: bool) -> None:
    """Make a branch from its file and say which; once done, doing it again changes nothing.

    Raises:
        typer.Exit: A line of the file is wrong; it has been reported.
    """
    with _reporting(source), byte_progress("importing", source.size) as progress:
        record, repeated = _imported(client.with_options(timeout=None), source, external_key, progress)
    if as_json:
        say_json(
            {
                "branch_id": str(record.branch_id),
                "external_key": record.external_key,
                "messages": record.message_count,
                "records": record.message_count,
                "imported_before": repeated,
            }
        )
    else:
        before = " (imported before)" if repeated else ""
        key = "" if record.external_key is None else f" {visible(record.external_key)}"
        say(f"imported branch {record.branch_id}{key}{before}, {counted(record.message_count, 'record')}")


def import_source(client: HistoryClient, source: Source) -> BranchRecord:
    """Make a new branch from its file.

    Raises:
        typer.Exit: A line of the file is wrong; it has been reported.
    """
    source.file.seek(0)
    with _reporting(source):
        return client.with_options(timeout=None).import_branch(source.file)


@contextmanager
def _reporting(source: Source) -> Iterator[None]:
    """Report a wrong line of a file with the file's name, and exit."""
    try:
        yield
    except AntiphonError as error:
        if "line" not in error.metadata:
            raise
        complain(f"{source.name}: {error_text(error)}")
        raise typer.Exit(1) from None


def _imported(
    client: HistoryClient, source: Source, external_key: str | None, progress: Progress
) -> tuple[BranchRecord, bool]:
    """Import a file under ids derived from its bytes; tell whether that had been done before."""
    source.file.seek(0)
    # A file opened for bytes, which is all that is asked here.
    digest = hashlib.file_digest(source.file, "sha256").hexdigest()  # type: ignore[arg-type]
    # A deleted branch's id stays taken, so that each deletion moves the import on by one.
    for generation in itertools.count():
        key = ("branch file", digest, external_key or "", str(generation))
        branch_id = derived_request_id("branch", *key)
        source.file.seek(0)
        try:
            record = client.import_branch(
                source.file,
                branch_id=branch_id,
                external_key=external_key,
                request_id=derived_request_id("import", *key),
                progress=progress,
            )
            # An old answer does not say whether the branch still lives.
            return (client.get_branch(branch_id), True) if record.replayed else (record, False)
        except BranchDeletedError:
            continue
        except BranchExistsError as error:
            if error.metadata.get("branch_id") != branch_id:
                raise
            return client.get_branch(branch_id), True
    raise AssertionError("the loop above ends by returning")

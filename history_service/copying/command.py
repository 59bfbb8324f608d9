"""What ``antiphon store copy`` does and says."""

from __future__ import annotations

from pathlib import Path

from antiphon_client.cli.output import complain, row_progress, say, say_table
from history_service.copying import CopyError
from history_service.copying.passes import Report, TableReport, copy_store
from history_service.storage import masked_url


def run_copy(source: Path, destination: str, *, last: bool) -> None:
    """Run one pass and print what it found.

    Args:
        source: The SQLite store's file.
        destination: The PostgreSQL database's URL.
        last: See ``copy_store``.

    Raises:
        CopyError: The store was not copied, or the two differ.
    """
    report = copy_store(str(source), destination, row_progress, last=last)
    say_table(("table", "rows", "sha256", ""), [_line(table) for table in report.tables])
    for table in report.tables:
        if not table.same:
            complain(_fault(table))
    if not report.same:
        raise CopyError(_verdict(report))
    say(f"{source} and {masked_url(destination)} hold the same; {report.changed:,} rows were changed")
    if report.finished:
        say("the copy is finished: services may open it")
    else:
        say("no service can open it yet: stop the source's service and run this again with --final")


def _line(table: TableReport) -> tuple[str, str, str, str]:
    return table.table, f"{table.source_rows:,}", table.source_sha256, "same" if table.same else "DIFFERS"


def _fault(table: TableReport) -> str:
    return (
        f"{table.table}: {table.different:,} keys differ; the destination has"
        f" {table.destination_rows:,} rows, SHA-256 {table.destination_sha256}"
    )


def _verdict(report: Report) -> str:
    if report.compared_only:
        return (
            "the destination was finished before and is not what the source is now: one of them was written"
            " since, or the database is damaged; nothing was changed (to copy anew, drop its schema)"
        )
    return "the destination does not hold what was written to it, and is not finished"

"""``antiphon import``: conversations from a file into branches."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from antiphon_client.cli import branch_files
from antiphon_client.cli.formats import Format
from antiphon_client.cli.importer import Imported, import_conversation
from antiphon_client.cli.options import AsJson, HistoryAddress, open_history
from antiphon_client.cli.output import complain, counted, error_text, progress_bar, say, say_json, visible
from antiphon_client.cli.sources import BadEntry, TranscriptFile, open_source, source_path
from antiphon_client.errors import AntiphonError
from antiphon_client.history import HistoryClient
from antiphon_client.transport_errors import TransportError

EXAMPLES = """Examples:

  antiphon import conversation.json
  antiphon import transcripts.jsonl --notes
  antiphon import transcripts.jsonl --json > imported.jsonl
  antiphon import garden-helper.jsonl --key garden-helper-copy
  antiphon import requests.jsonl --format anthropic
  zcat transcripts.jsonl.gz | antiphon import -
"""

_NAMED = 5


@dataclass(slots=True)
class Totals:
    """What an import has done so far, the first few conversations by name."""

    conversations: int = 0
    messages: int = 0
    records: int = 0
    repeated: int = 0
    notes: int = 0
    errors: int = 0
    formats: dict[Format, None] = field(default_factory=dict)
    named: list[Imported] = field(default_factory=list)

    def count(self, imported: Imported) -> None:
        """Add one conversation."""
        self.conversations += 1
        self.formats[imported.format] = None
        if self.conversations <= _NAMED:
            self.named.append(imported)
        self.messages += imported.messages
        self.records += imported.records
        self.repeated += imported.repeated
        self.notes += len(imported.notes)

    def text(self) -> str:
        """Return the totals as a line."""
        before = f" ({self.repeated:,} of them imported before)" if self.repeated else ""
        notes = f"{counted(self.notes, 'note')}, " if self.notes else ""
        return (
            f"{counted(self.conversations, 'conversation')}{before}, "
            f"{counted(self.messages, 'message')} (stored as {counted(self.records, 'record')}), "
            f"{notes}{counted(self.errors, 'error')}"
        )


def import_file(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", parser=source_path, help="JSON or JSON lines; - is standard input."),
    ],
    history: HistoryAddress,
    as_json: AsJson = False,
    notes: Annotated[
        bool, typer.Option("--notes", help="Show remarks on messages that have no plain counterpart.")
    ] = False,
    key: Annotated[
        str | None,
        typer.Option("--key", metavar="TEXT", help="The external key of a branch that was exported."),
    ] = None,
    format: Annotated[
        Format | None,
        typer.Option("--format", help="The conversations' format; recognized where it is not given."),
    ] = None,
) -> None:
    """Import conversations in a provider's format, one branch each, or a branch that was exported.

    FILE is what `antiphon export --format antiphon` wrote, or an array of
    messages, an object {id, messages}, or JSON lines of either; Gemini's
    contents stand for messages, and a system text may stand beside them. The id
    becomes the branch's external key. A file that is one conversation without an
    id goes by its name; others without one go by what they say. Keys beside id
    and messages are kept: `antiphon export --format conversation` gives them back.
    Running an import again, after an interruption too, adds nothing twice. Bad
    lines are reported and left out; the exit code is then 1.
    """
    with open_history(history) as client, open_source(file) as source:
        if source.is_branch_file:
            branch_files.import_file(client, source, key, as_json=as_json)
            return
        if key is not None:
            raise typer.BadParameter("conversations bring their own ids", param_hint="--key")
        totals = import_all(
            client, TranscriptFile(source), source.name, given=format, as_json=as_json, notes=notes
        )
    if not as_json:
        for imported in totals.named if totals.conversations <= _NAMED else ():
            said, stored = counted(imported.messages, "message"), counted(imported.records, "record")
            say(f"{visible(imported.source_id)}: {said} (stored as {stored})")
        if totals.formats:
            how = "recognized" if format is None else "as given"
            say(f"format: {', '.join(totals.formats)} ({how})")
        say(f"imported {totals.text()}")
    elif totals.errors:
        complain(f"{source.name}: {totals.text()}")
    if totals.errors:
        raise typer.Exit(1)


def import_all(
    client: HistoryClient,
    file: TranscriptFile,
    name: str,
    *,
    given: Format | None = None,
    as_json: bool = False,
    notes: bool = False,
) -> Totals:
    """Import every conversation of a file, reporting each failure with its line.

    Raises:
        TransportError: The service cannot be reached; what was imported stays.
    """
    totals = Totals()
    with progress_bar("importing", file.count) as bar:
        for entry in file:
            bar.advance()
            try:
                if isinstance(entry, BadEntry):
                    raise ValueError(entry.reason)
                imported = import_conversation(client, entry, given)
            except TransportError:
                raise
            except (AntiphonError, ValueError, TypeError) as error:
                totals.errors += 1
                complain(f"{name}, line {entry.line}: {error_text(error)}")
                continue
            totals.count(imported)
            for note in imported.notes if notes else ():
                complain(f"{name}, line {entry.line}: note: {note.path}: {note.detail}")
            if as_json:
                say_json(_json_object(imported))
    return totals


def _json_object(imported: Imported) -> dict[str, object]:
    return {
        "source_id": imported.source_id,
        "branch_id": str(imported.branch_id),
        "messages": imported.messages,
        "records": imported.records,
        "format": imported.format,
        "imported_before": imported.repeated,
    }

"""``antiphon demo``: the pair at work on one conversation, or on a whole file of them."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from antiphon_client.branch import Branch
from antiphon_client.cli import branch_files
from antiphon_client.cli.compiled_text import compiled_lines
from antiphon_client.cli.importer import import_conversation
from antiphon_client.cli.importing import import_all
from antiphon_client.cli.output import complain, counted, error_text, progress_bar, say
from antiphon_client.cli.pair import ServicePair
from antiphon_client.cli.sources import BadEntry, Source, TranscriptFile, open_source, source_path
from antiphon_client.cli.timeline import timeline
from antiphon_client.compiler import CompilerClient
from antiphon_client.edge.addresses import SOCKET_PATH_BYTES
from antiphon_client.errors import AntiphonError
from antiphon_client.history import HistoryClient
from antiphon_client.messages import AssistantResponse, Instruction
from antiphon_client.turn import TurnRequest

EXAMPLES = """Examples:

  antiphon demo transcripts.jsonl
  antiphon demo garden-helper.jsonl
  zcat transcripts.jsonl.gz | antiphon demo -
"""

QUESTION = "Thank you. Please sum up in one sentence what we have settled."
ANSWER = "(This stands for the model's answer: the demonstration calls no model.)"

_EXAMPLE = Path(__file__).resolve().parents[4] / "examples" / "conversation.json"
_LINES = 8
_PREFIX = "antiphon-"
_HISTORY_SOCKET, _COMPILER_SOCKET = "history.sock", "compiler.sock"


def demo(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            parser=source_path,
            help="What `antiphon import` takes; in a checkout, by default, its example.",
        ),
    ] = None,
) -> None:
    """Start the pair on a temporary store, import, compile a new turn, and show what each service did.

    A file of many conversations gives totals instead of the whole text. The
    exit code is 1 when anything failed. Nothing is left behind. Without FILE
    the example of the repository is shown.
    """
    path = file or _EXAMPLE
    if file is None and not path.exists():
        raise typer.BadParameter("the example is in the repository only; name a file", param_hint="FILE")
    # Unlike Ctrl-C, SIGTERM would end this process without stopping the services.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    with (
        open_source(path) as source,
        tempfile.TemporaryDirectory(prefix=_PREFIX, dir=_socket_base(tempfile.gettempdir())) as folder,
    ):
        transcripts = None if source.is_branch_file else TranscriptFile(source)
        pair = ServicePair(
            history_listen=f"unix:{folder}/{_HISTORY_SOCKET}",
            compiler_listen=f"unix:{folder}/{_COMPILER_SOCKET}",
            store=f"sqlite:{folder}/history.sqlite3",
            log_level="warning",
        )
        with (
            pair,
            HistoryClient(pair.history_address) as history,
            CompilerClient(pair.compiler_address) as compiler,
        ):
            say(f"history service   {pair.history_address}")
            say(f"compiler service  {pair.compiler_address}")
            errors = _run(source, transcripts, history, compiler)
    if errors:
        raise typer.Exit(1)
    say("Both services have stopped.")


def _socket_base(folder: str) -> str:
    """Return the folder to make the temporary one in: the system's own where the given one is too deep.

    The path of a socket is limited to some hundred bytes.
    """
    longest = f"{folder}/{_PREFIX}{'x' * 8}/{_COMPILER_SOCKET}"
    return folder if len(os.fsencode(longest)) <= SOCKET_PATH_BYTES else "/tmp"  # nosec B108: for mkdtemp


def _run(
    source: Source, transcripts: TranscriptFile | None, history: HistoryClient, compiler: CompilerClient
) -> int:
    if transcripts is None:
        record = branch_files.import_source(history, source)
        count = counted(record.message_count, "message")
        _show(Branch(history, record.branch_id), f"a branch of {count}", compiler)
        return 0
    if transcripts.count != 1:
        return _show_totals(transcripts, source.name, history, compiler)
    (entry,) = transcripts
    if isinstance(entry, BadEntry):
        complain(f"{source.name}, line {entry.line}: {entry.reason}")
        return 1
    imported = import_conversation(history, entry)
    what = (
        f"{entry.source_id!r}, {counted(imported.messages, 'message')} "
        f"stored as {counted(imported.records, 'record')}"
    )
    _show(Branch(history, imported.branch_id), what, compiler)
    return 0


def _show(branch: Branch, what: str, compiler: CompilerClient) -> None:
    """Show what was imported, then a new turn."""
    say()
    say(f"HISTORY: imported {what}, revision {branch.record().revision}")
    for line in timeline(branch.messages(), _LINES):
        say(line)
    compilation = compiler.compile(branch, TurnRequest(Instruction.create(QUESTION)))
    say()
    say(
        f"COMPILER: read revision {compilation.history_revision} and compiled it with a new instruction; "
        f"a model would be sent {counted(len(compilation.request.messages), 'message')}"
    )
    say("(Profile FOLDED: system text, as Guidance, and action results are folded into the user turns.)")
    for line in compiled_lines(compilation, _LINES, "folded"):
        say(line)
    question = compilation.request.instruction
    assert question is not None, "the turn has an instruction"
    added = branch.add([question, AssistantResponse.create(ANSWER)])
    say()
    say(f"HISTORY: recorded the instruction and an answer, revision {added.revision}")
    for line in timeline(branch.messages(), _LINES, start=added.placements[0].index):
        say(line)


def _show_totals(
    transcripts: TranscriptFile, name: str, history: HistoryClient, compiler: CompilerClient
) -> int:
    totals = import_all(history, transcripts, name)
    compiled = errors = messages = 0
    with progress_bar("compiling", totals.conversations) as bar:
        for record in history.branches():
            bar.advance()
            try:
                compilation = compiler.compile(record.branch_id, TurnRequest(Instruction.create(QUESTION)))
            except AntiphonError as error:
                errors += 1
                complain(f"compiling {record.external_key}: {error_text(error)}")
            else:
                compiled += 1
                messages += len(compilation.request.messages)
    errors += totals.errors
    say()
    say(f"HISTORY: imported {totals.text()}")
    if totals.conversations:
        say(
            "COMPILER (profile FOLDED): compiled each with a new instruction, "
            f"{counted(messages, 'message')} in all"
        )
    say(
        f"{counted(totals.conversations, 'conversation')}, {counted(totals.messages, 'message')}, "
        f"{compiled:,} compiled, {counted(errors, 'error')}"
    )
    return errors

"""The command line: its commands, and how a failure looks."""

from __future__ import annotations

import sys

import typer

from antiphon_client.cli import changing, compiling, demo, importing, reading, serving, watching
from antiphon_client.cli.output import complain, error_text
from antiphon_client.cli.pair import PairError
from antiphon_client.errors import AntiphonError

app = typer.Typer(
    name="antiphon",
    help="Antiphon: durable conversations for LLM agents, compiled into exact model requests.",
    epilog="Addresses come from --history and --compiler, or from ANTIPHON_HISTORY_ADDRESS and "
    "ANTIPHON_COMPILER_ADDRESS.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("serve", epilog=serving.EXAMPLES)(serving.serve)
app.command("import", epilog=importing.EXAMPLES)(importing.import_file)
app.command("branches", epilog=reading.BRANCHES_EXAMPLES)(reading.branches)
app.command("log", epilog=reading.LOG_EXAMPLES)(reading.log)
app.command("watch", epilog=watching.EXAMPLES)(watching.watch)
app.command("fork", epilog=changing.FORK_EXAMPLES)(changing.fork)
app.command("delete", epilog=changing.DELETE_EXAMPLES)(changing.delete)
app.command("compile", epilog=compiling.EXAMPLES)(compiling.compile_turn)
app.command("export", epilog=reading.EXPORT_EXAMPLES)(reading.export)
app.command("demo", epilog=demo.EXAMPLES)(demo.demo)


def main() -> None:
    """Run the command line. Exit codes: 0 done, 1 failed, 2 wrong usage."""
    try:
        app()
    except (AntiphonError, PairError, OSError, ValueError) as error:
        complain(error_text(error))
        sys.exit(1)

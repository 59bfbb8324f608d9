"""The command line: its commands, and how a failure looks."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import antiphon_client
from antiphon_client.cli import (
    changing,
    comparing,
    compiling,
    demo,
    importing,
    listing,
    mailing,
    planning,
    reading,
    serving,
    watching,
)
from antiphon_client.cli.output import complain, error_text, say
from antiphon_client.cli.pair import PairError
from antiphon_client.errors import AntiphonError


def _show_version(asked: bool) -> None:
    if asked:
        say(f"antiphon {antiphon_client.__version__}")
        raise typer.Exit


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
app.command("trim", epilog=changing.TRIM_EXAMPLES)(changing.trim)
app.command("delete", epilog=changing.DELETE_EXAMPLES)(changing.delete)
app.command("compile", epilog=compiling.EXAMPLES)(compiling.compile_turn)
app.command("diff", epilog=comparing.EXAMPLES)(comparing.diff)
app.command("window", epilog=planning.WINDOW_EXAMPLES)(planning.window)
app.command("compact", epilog=planning.COMPACT_EXAMPLES)(planning.compact)
app.command("targets", epilog=listing.EXAMPLES)(listing.targets)
app.command("export", epilog=reading.EXPORT_EXAMPLES)(reading.export)
app.command("demo", epilog=demo.EXAMPLES)(demo.demo)

mail = typer.Typer(help="Look into an exchange's mailboxes, and deliver dead letters.", no_args_is_help=True)
mail.command("owners", epilog=mailing.OWNERS_EXAMPLES)(mailing.owners)
mail.command("dead-letters", epilog=mailing.DEAD_LETTERS_EXAMPLES)(mailing.dead_letters)
mail.command("redrive", epilog=mailing.REDRIVE_EXAMPLES)(mailing.redrive)
app.add_typer(mail, name="mail")


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_show_version),
    ] = False,
) -> None:
    pass


def run() -> None:
    """Run the command line; how it ends is in :func:`antiphon_client.cli.main`."""
    try:
        app()
    except (AntiphonError, PairError, OSError, ValueError) as error:
        complain(error_text(error))
        sys.exit(1)

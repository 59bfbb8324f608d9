"""The command line: its commands, and how a failure looks."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

import antiphon_client
from antiphon_client.cli import (
    adding,
    backing_up,
    changing,
    comparing,
    compiling,
    demo,
    doctor,
    importing,
    keys,
    listing,
    mailing,
    planning,
    reading,
    serving,
    storing,
    tokens,
    viewing,
    watching,
)
from antiphon_client.cli.help_texts import register
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
    "ANTIPHON_COMPILER_ADDRESS; a bearer token comes from ANTIPHON_TOKEN or --token-file.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
register(app, "serve", serving.serve, serving.EXAMPLES)
register(app, "import", importing.import_file, importing.EXAMPLES)
register(app, "branches", reading.branches, reading.BRANCHES_EXAMPLES)
register(app, "log", reading.log, reading.LOG_EXAMPLES)
register(app, "watch", watching.watch, watching.EXAMPLES)
register(app, "add", adding.add, adding.EXAMPLES)
register(app, "view", viewing.view, viewing.EXAMPLES)
register(app, "fork", changing.fork, changing.FORK_EXAMPLES)
register(app, "trim", changing.trim, changing.TRIM_EXAMPLES)
register(app, "delete", changing.delete, changing.DELETE_EXAMPLES)
register(app, "compile", compiling.compile_turn, compiling.EXAMPLES)
register(app, "diff", comparing.diff, comparing.EXAMPLES)
register(app, "window", planning.window, planning.WINDOW_EXAMPLES)
register(app, "compact", planning.compact, planning.COMPACT_EXAMPLES)
register(app, "targets", listing.targets, listing.EXAMPLES)
register(app, "export", reading.export, reading.EXPORT_EXAMPLES)
register(app, "backup", backing_up.backup, backing_up.BACKUP_EXAMPLES)
register(app, "restore", backing_up.restore, backing_up.RESTORE_EXAMPLES)
register(app, "doctor", doctor.doctor, doctor.EXAMPLES)
register(app, "demo", demo.demo, demo.EXAMPLES)

mail = typer.Typer(help="Look into an exchange's mailboxes, and deliver dead letters.", no_args_is_help=True)
register(mail, "owners", mailing.owners, mailing.OWNERS_EXAMPLES)
register(mail, "dead-letters", mailing.dead_letters, mailing.DEAD_LETTERS_EXAMPLES)
register(mail, "redrive", mailing.redrive, mailing.REDRIVE_EXAMPLES)
app.add_typer(mail, name="mail")

store = typer.Typer(help="Move a store to another kind of database.", no_args_is_help=True)
register(store, "copy", storing.copy, storing.COPY_EXAMPLES)
app.add_typer(store, name="store")

token = typer.Typer(help="Make bearer tokens for the services.", no_args_is_help=True)
register(token, "new", tokens.new, tokens.EXAMPLES)
app.add_typer(token, name="token")
key = typer.Typer(help="Make the keys that a history service encrypts with.", no_args_is_help=True)
register(key, "new", keys.new, keys.NEW_EXAMPLES)
app.add_typer(key, name="key")


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_show_version),
    ] = False,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Show the services the token in it.")
    ] = None,
    tls_ca: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Speak TLS: the roots of the services' certificates.")
    ] = None,
    tls_cert: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A certificate to show them, where they ask for one.")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="That certificate's private key.")
    ] = None,
) -> None:
    # A token itself is no option: the command line of a process is for everybody to read.
    given = {"TOKEN_FILE": token_file, "TLS_CA": tls_ca, "TLS_CERT": tls_cert, "TLS_KEY": tls_key}
    for name, path in given.items():
        if path is not None:
            os.environ[f"ANTIPHON_{name}"] = str(path)
    if token_file is not None:
        os.environ.pop("ANTIPHON_TOKEN", None)


def run() -> None:
    """Run the command line; how it ends is in :func:`antiphon_client.cli.main`."""
    try:
        app()
    except (AntiphonError, PairError, OSError, ValueError) as error:
        complain(error_text(error))
        sys.exit(1)

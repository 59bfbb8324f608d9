"""``antiphon serve``: the pair in one command."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import Annotated

import typer

from antiphon_client.cli.output import say
from antiphon_client.cli.pair import PairError, ServiceExit, ServicePair

EXAMPLES = """Examples:

  antiphon serve
  antiphon serve --store sqlite:conversations.sqlite3
  antiphon serve --history-listen 127.0.0.1:7411 --compiler-listen 127.0.0.1:7412 --store memory:
"""

_LISTEN = "unix:PATH or HOST:PORT; by default a socket in the user's runtime folder."
_STORE = (
    "sqlite:PATH, postgresql://... or memory: (lost at the end); by default a file in the user's data folder."
)

_LOG_LEVELS = ("ANTIPHON_HISTORY_LOG_LEVEL", "ANTIPHON_COMPILER_LOG_LEVEL")


def serve(
    history_listen: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help=_LISTEN),
    ] = None,
    compiler_listen: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help=_LISTEN),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(metavar="URL", help=_STORE),
    ] = None,
    log_level: Annotated[
        str | None,
        typer.Option(
            metavar="LEVEL", help="debug, info, warning or error; by default info, on a terminal warning."
        ),
    ] = None,
    tokens: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Bearer tokens that callers need (antiphon token new)."),
    ] = None,
    insecure: Annotated[
        bool,
        typer.Option("--insecure", help="Allow addresses that other machines reach, without TLS."),
    ] = False,
) -> None:
    """Run both services until Ctrl-C or SIGTERM; logs go to standard error.

    A second signal ends them at once. If one service ends by itself, the other
    is stopped and the exit code is 1. Other settings, those of TLS among them, are
    ANTIPHON_HISTORY_* and ANTIPHON_COMPILER_* variables: see `python -m history_service --help` and
    `python -m compiler_service --help`.
    """
    if sys.stderr.isatty():
        # Calls refused as they should be are logged at info: no news to a person.
        for variable in _LOG_LEVELS:
            os.environ.setdefault(variable, "warning")
    pair = ServicePair(
        history_listen=history_listen,
        compiler_listen=compiler_listen,
        store=store,
        log_level=log_level,
        tokens=tokens,
        insecure=insecure,
    )
    asked: list[int] = []

    def on_signal(number: int, _frame: FrameType | None) -> None:
        if asked:
            pair.signal(number)  # the services end at once on their second signal
        asked.append(number)
        pair.events.put(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)
    with pair:
        say(f"history   {pair.history_address}  (pid {pair.pid('history_service')})")
        say(f"compiler  {pair.compiler_address}  (pid {pair.pid('compiler_service')})")
        say(f"store     {pair.store}")
        say("Serving; Ctrl-C stops both.")
        event = pair.events.get()
    if isinstance(event, ServiceExit):
        raise PairError(f"{event.service} ended by itself (exit code {event.code})")

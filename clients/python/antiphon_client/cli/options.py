"""Options that several commands share, and what they lead to."""

from __future__ import annotations

import os
from typing import Annotated
from uuid import UUID

import typer

from antiphon_client.branch import Branch
from antiphon_client.compiler import CompilerClient
from antiphon_client.edge.addresses import default_address
from antiphon_client.errors import BranchNotFoundError
from antiphon_client.history import HistoryClient

HistoryAddress = Annotated[
    str,
    typer.Option(
        "--history",
        metavar="ADDRESS",
        envvar="ANTIPHON_HISTORY_ADDRESS",
        default_factory=lambda: default_address("history", os.environ),
        show_default="history.sock in the user's runtime folder",
        help="The history service: unix:PATH or HOST:PORT.",
    ),
]
CompilerAddress = Annotated[
    str,
    typer.Option(
        "--compiler",
        metavar="ADDRESS",
        envvar="ANTIPHON_COMPILER_ADDRESS",
        default_factory=lambda: default_address("compiler", os.environ),
        show_default="compiler.sock in the user's runtime folder",
        help="The compiler service: unix:PATH or HOST:PORT.",
    ),
]
BranchName = Annotated[str, typer.Argument(metavar="BRANCH", help="A branch's id or its external key.")]
AtRevision = Annotated[
    int | None, typer.Option("--at-revision", metavar="N", help="As the branch stood at a revision.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def open_history(address: str) -> HistoryClient:
    """Open the history service; raises typer.BadParameter for what is no address."""
    try:
        return HistoryClient(address)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--history") from None


def open_compiler(address: str) -> CompilerClient:
    """Open the compiler service; raises typer.BadParameter for what is no address."""
    try:
        return CompilerClient(address)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--compiler") from None


def find_branch(history: HistoryClient, name: str) -> Branch:
    """Open a branch by its external key, else by its id.

    Raises:
        BranchNotFoundError: No branch has it.
    """
    record = history.find_branch(name) if name else None
    if record is not None:
        return Branch(history, record.branch_id)
    try:
        branch_id = UUID(name)
    except ValueError:
        raise BranchNotFoundError(f"no branch has the id or external key {name!r}") from None
    return Branch.open(history, branch_id)

"""Options that several commands share, and what they lead to."""

from __future__ import annotations

import os
from typing import Annotated, TypeVar
from uuid import UUID

import typer

from antiphon_client.branch import Branch
from antiphon_client.channel import check_address, service_address
from antiphon_client.compiler import CompilerClient
from antiphon_client.edge.addresses import UnixAddress, parse_address
from antiphon_client.errors import BranchNotFoundError
from antiphon_client.history import HistoryClient
from antiphon_client.transport_errors import Endpoint, unreachable

# A panel of its own: the columns are as wide as its options alone need.
_SERVICES = "Services"

HistoryAddress = Annotated[
    str,
    typer.Option(
        "--history",
        metavar="ADDRESS",
        default_factory=lambda: service_address("history"),
        show_default="ANTIPHON_HISTORY_ADDRESS, else history.sock in the user's runtime folder",
        rich_help_panel=_SERVICES,
        help="The history service: unix:PATH or HOST:PORT.",
    ),
]
CompilerAddress = Annotated[
    str,
    typer.Option(
        "--compiler",
        metavar="ADDRESS",
        default_factory=lambda: service_address("compiler"),
        show_default="ANTIPHON_COMPILER_ADDRESS, else compiler.sock in the user's runtime folder",
        rich_help_panel=_SERVICES,
        help="The compiler service: unix:PATH or HOST:PORT.",
    ),
]
_LARGEST = 2**63 - 1


NumberT = TypeVar("NumberT", int, int | None, list[int])


def carried(value: NumberT) -> NumberT:
    """Return the number of an option, or its numbers, as given; refuse one that no request can carry.

    A callback, as a range of its own would stand in every help text.

    Raises:
        typer.BadParameter: It is beyond 64 bits.
    """
    for number in value if isinstance(value, list) else [value or 0]:
        if number > _LARGEST:
            raise typer.BadParameter(f"{number} is larger than {_LARGEST}.")
    return value


BranchName = Annotated[str, typer.Argument(metavar="BRANCH", help="A branch's id or its external key.")]
AtRevision = Annotated[
    int | None,
    typer.Option(
        "--at-revision", metavar="N", min=1, callback=carried, help="As the branch stood at a revision."
    ),
]
ExpectedRevision = Annotated[
    int | None,
    typer.Option(
        "--expected-revision", metavar="N", min=1, callback=carried, help="Refuse unless the branch is at it."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def open_history(address: str) -> HistoryClient:
    """Open the history service.

    Raises:
        typer.BadParameter: It is no address.
        ServiceUnreachableError: It is a socket that is not there.
    """
    _check("history", address)
    return HistoryClient(address)


def open_compiler(address: str) -> CompilerClient:
    """Open the compiler service; raises as :func:`open_history` does."""
    _check("compiler", address)
    return CompilerClient(address)


def _check(service: str, address: str) -> None:
    """Refuse what cannot be called, without the retries that a service at its restart is given."""
    try:
        check_address(address)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=f"--{service}") from None
    parsed = parse_address(address)
    if isinstance(parsed, UnixAddress) and not os.path.exists(parsed.path):
        raise unreachable(Endpoint(service, address))


def find_branch(history: HistoryClient, name: str) -> Branch:
    """Return the branch of an external key, else of an id.

    An id is not looked up: what a deleted branch still answers is its service's to say.

    Raises:
        BranchNotFoundError: The name is no id, and no living branch has it as its external key.
    """
    record = history.find_branch(name) if name else None
    if record is not None:
        return Branch(history, record.branch_id)
    try:
        return Branch(history, UUID(name))
    except ValueError:
        text = f"no branch has the id or external key {name!r}; a deleted one is named by its id only"
        raise BranchNotFoundError(text) from None

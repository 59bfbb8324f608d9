"""``python -m tests.polyglot.determinism_worker REQUESTS ANSWERS MUTANT``: compiles a file of requests."""

from __future__ import annotations

import asyncio
import hashlib
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from antiphon.compiler.v1.compiler_service_pb2 import CompileRequest
from antiphon_client.limits import DEFAULT_LIMITS
from compiler_service import compilation
from compiler_service.digest import turns_form
from compiler_service.neutral import AnyTurn
from compiler_service.servicer import CompilerServicer
from tests.bench.echo import read_frames, write_frames


def _unordered() -> None:
    """The digest takes the turns in an order that the hash seed decides."""

    def messages_digest(turns: Iterable[AnyTurn], system_text: str | None = None) -> str:
        forms = {turns_form([turn]).hex() for turn in turns}
        return hashlib.sha256("".join(forms).encode()).hexdigest()

    vars(compilation)["messages_digest"] = messages_digest


def _other_form() -> None:
    """The digest is over another form than the contract's: the same everywhere, and wrong."""

    def messages_digest(turns: Iterable[AnyTurn], system_text: str | None = None) -> str:
        return hashlib.sha256(turns_form(turns)).hexdigest()

    vars(compilation)["messages_digest"] = messages_digest


MUTANTS: dict[str, Callable[[], None]] = {"unordered": _unordered, "other_form": _other_form}
"""By the name the harness's ``--mutant`` takes."""


async def _compile(frames: list[bytes]) -> list[bytes]:
    servicer = CompilerServicer(None, DEFAULT_LIMITS)
    # The servicer is called without a server, as the tests' own helpers do.
    return [await servicer.Compile(CompileRequest.FromString(frame), None) for frame in frames]


def main() -> int:
    """Compile all and write the answers down."""
    asked, answers, mutant = sys.argv[1:]
    if mutant in MUTANTS:
        MUTANTS[mutant]()
    write_frames(Path(answers), asyncio.run(_compile(read_frames(Path(asked)))))
    return 0


if __name__ == "__main__":
    sys.exit(main())

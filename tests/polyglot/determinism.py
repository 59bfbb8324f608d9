"""Whether a snapshot compiles to one digest, whatever the process and the language.

    PYTHONPATH=.:clients/python python -m tests.polyglot.determinism --snapshots 2000

Random requests with their snapshots, NATIVE ones of broken histories for every
target in turn and FOLDED ones, are compiled in four processes with different hash
seeds, every second one without the parts that are compiled from C. Their answers
must be the same bytes. Every digest is computed again from
its answer, by Python and by the Go client, neither with the service's code.
"""

from __future__ import annotations

import argparse
import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded

from antiphon.compiler.v1.compiler_service_pb2 import CompileRequest, CompileResponse
from antiphon.message.v1.message_pb2 import Message
from antiphon_client.compiled_parts import WITHOUT as WITHOUT_COMPILED_PARTS
from compiler_service.projection import TABLE
from tests.bench.echo import read_frames, write_frames
from tests.figures.recording import parse_with_record, record_figure
from tests.polyglot.determinism_worker import MUTANTS
from tests.polyglot.digests import check_compiled
from tests.polyglot.faults import MismatchError
from tests.polyglot.languages import ROOT
from tests.support.compiler_strategies import requests
from tests.support.native import native_request
from tests.support.native_strategies import broken_histories

HASH_SEEDS = ("0", "1", "4242", "4294967295")
GO_CHECKER = ROOT / "clients" / "go" / "build" / "digests"
TARGETS: tuple[dict[str, str], ...] = ({}, *({"target": name} for name in sorted(TABLE.targets)))
"""No target, and each."""
Check = Callable[[Path], int]
"""Checks the digests of a file of answers; returns how many answers it has."""


class NotDeterministicError(AssertionError):
    """One snapshot has more than one answer or digest."""


def snapshots(count: int, seed: int) -> list[CompileRequest]:
    """Return different random requests with inline snapshots, two of three NATIVE; the same for a seed.

    There are fewer when the strategies repeat themselves more than every second time.
    """
    native: dict[bytes, CompileRequest] = {}
    folded: dict[bytes, CompileRequest] = {}

    def drawing(examples: int) -> settings:
        return settings(
            max_examples=2 * examples,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )

    @seeded(seed)
    @drawing(count - count // 3)
    @given(broken_histories())
    def draw_native(history: list[Message]) -> None:
        if len(native) < count - count // 3:
            target = TARGETS[len(native) % len(TARGETS)]
            request = native_request(history, "go", system="s", **target)
            native[request.SerializeToString(deterministic=True)] = request

    @seeded(seed)
    @drawing(count // 3)
    @given(requests())
    def draw_folded(request: CompileRequest) -> None:
        if len(folded) < count // 3:
            folded[request.SerializeToString(deterministic=True)] = request

    draw_native()
    if count >= 3:
        draw_folded()
    return [*native.values(), *folded.values()]


def compare(
    folder: Path, asked: Iterable[CompileRequest], checks: Sequence[Check], mutant: str = "none"
) -> int:
    """Compile requests in four processes and check what comes; return how many there are.

    Raises:
        NotDeterministicError: Two processes answer differently, or a digest is not that of its answer.
    """
    given_requests = folder / "requests"
    write_frames(given_requests, [request.SerializeToString(deterministic=True) for request in asked])
    files = list(_compile_everywhere(folder, given_requests, mutant))
    for place, frames in enumerate(itertools.zip_longest(*map(read_frames, files))):
        if len(set(frames)) != 1:
            raise NotDeterministicError(f"request {place} has {len(set(frames))} answers")
    count = len(read_frames(given_requests))
    # The files are the same bytes; one stands for all.
    for check in checks:
        if (checked := check(files[0])) != count:
            raise NotDeterministicError(f"{checked} of {count} answers have digests that were checked")
    return count


def _compile_everywhere(folder: Path, asked: Path, mutant: str) -> Iterator[Path]:
    paths = os.pathsep.join([str(ROOT), str(ROOT / "clients" / "python")])
    running = {}
    for number, seed in enumerate(HASH_SEEDS):
        answers = folder / f"answers-{seed}"
        # Every second one does without what is compiled from C.
        without = {WITHOUT_COMPILED_PARTS: "1" if number % 2 else ""}
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": paths} | without
        command = [
            sys.executable,
            "-m",
            "tests.polyglot.determinism_worker",
            str(asked),
            str(answers),
            mutant,
        ]
        running[answers] = subprocess.Popen(command, cwd=ROOT, env=environment)
    codes = [process.wait() for process in running.values()]
    if any(codes):
        raise RuntimeError(f"compiling ended with {codes}")
    yield from running


def check_in_python(answers: Path) -> int:
    """Check every digest by what the proto's comments say."""
    frames = read_frames(answers)
    for place, frame in enumerate(frames):
        try:
            check_compiled(CompileResponse.FromString(frame))
        except MismatchError as error:
            raise NotDeterministicError(f"answer {place}, Python: {error}") from None
    return len(frames)


def check_in_go(answers: Path) -> int:
    """Check every digest by the Go client."""
    with answers.open("rb") as frames:
        done = subprocess.run([GO_CHECKER], stdin=frames, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotDeterministicError(f"Go: {done.stderr.strip()}")
    return int(done.stdout)


def main() -> int:
    """Run from the command line; 0 when each snapshot has one digest."""
    parser = argparse.ArgumentParser(description="Whether a snapshot compiles to one digest.")
    parser.add_argument("--snapshots", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mutant", choices=["none", *MUTANTS], default="none")
    options = parse_with_record(parser)
    started = time.monotonic()
    subprocess.run(["make", "-s", "-C", str(ROOT / "clients" / "go"), "build"], check=True)
    asked = snapshots(options.snapshots, options.seed)
    count, held = len(asked), True
    with tempfile.TemporaryDirectory() as folder:
        try:
            compare(Path(folder), asked, (check_in_python, check_in_go), options.mutant)
            found = (
                f"{count:,} different snapshots in {len(HASH_SEEDS)} processes, digests "
                f"checked in Python and Go, seed {options.seed}: one answer and one digest each"
            )
        except NotDeterministicError as error:
            held, found = False, f"BROKEN: {error}"
    print(found)
    if options.record:
        record_figure("determinism", count, found, seconds=time.monotonic() - started, held=held)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())

"""A pair of services as processes of their own, for programs of any language."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import grpc

from tests.polyglot.languages import ROOT, Addresses

_START_SECONDS = 60.0
_STOP_SECONDS = 30.0


class ServiceError(Exception):
    """A service did not start."""


@contextmanager
def running_services(folder: Path, seed: str | None = None) -> Iterator[Addresses]:
    """Run both services on loopback over a SQLite store in a folder, and stop them.

    Args:
        folder: Where the store and the logs are.
        seed: Name of a fault that the services get; None for none.

    Raises:
        ServiceError: One did not start; its log is in the folder.
    """
    addresses = Addresses(_free_address(), _free_address())
    with ExitStack() as stack:
        start = () if seed is None else ("tests.polyglot.seeded_service", seed)
        options = {
            "history_service": ("--listen", addresses.history, "--store", f"sqlite:{folder}/history.sqlite3"),
            "compiler_service": ("--listen", addresses.compiler, "--history", addresses.history),
        }
        for module, address in zip(options, (addresses.history, addresses.compiler), strict=True):
            command = (sys.executable, "-m", *start, module, *options[module])
            stack.enter_context(_service(command, address, folder / f"{module}.log"))
        yield addresses


def _free_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


@contextmanager
def _service(command: Sequence[str], address: str, log: Path) -> Iterator[None]:
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output)
    try:
        _wait_until_ready(address, process, log)
        yield
    finally:
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_ready(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    with grpc.insecure_channel(address) as channel:
        try:
            grpc.channel_ready_future(channel).result(_START_SECONDS)
        except grpc.FutureTimeoutError:
            state = "is running" if process.poll() is None else f"has ended with {process.returncode}"
            raise ServiceError(f"{address} does not answer; the service {state}: {log.read_text()}") from None

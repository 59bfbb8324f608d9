"""The two services as child processes: started together, stopped together."""

from __future__ import annotations

import json
import selectors
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from queue import SimpleQueue
from types import TracebackType
from typing import Self

START_SECONDS = 60.0
"""How long a service may take to say that it is ready."""

STOP_SECONDS = 30.0
"""How long a service may take to stop before it is killed."""


class PairError(Exception):
    """A service did not start, or ended by itself."""


@dataclass(frozen=True, slots=True)
class ServiceExit:
    """A service has ended, with this exit code (negative: by this signal)."""

    service: str
    code: int


class ServicePair:
    """Runs ``python -m history_service`` and ``python -m compiler_service``.

    Their logs go to standard error. Each is in a process group of its own: a
    Ctrl-C at the terminal reaches this process alone, which passes it on.

    Args:
        history_listen: Where the history service listens; None for its default.
        compiler_listen: Where the compiler service listens; None for its default.
        store: Where the history is kept; None for the service's default.
        log_level: Lowest level the services log; None for their default.
        tokens: File of the bearer tokens that callers need; None for the services' default.
        insecure: Allow addresses that other machines reach, although there is no TLS.

    Attributes:
        events: Receives a ServiceExit for each service that ends; others may put
            events of their own into it.
        history_address: Where the history service is reached, once started.
        compiler_address: Where the compiler service is reached, once started.
        store: Where the history is kept, once started.
    """

    def __init__(
        self,
        *,
        history_listen: str | None = None,
        compiler_listen: str | None = None,
        store: str | None = None,
        log_level: str | None = None,
        tokens: str | None = None,
        insecure: bool = False,
    ) -> None:
        shared = [*(["--insecure"] if insecure else []), *_flags(log_level=log_level, tokens=tokens)]
        self._history_flags = [*shared, *_flags(listen=history_listen, store=store)]
        self._compiler_flags = [*shared, *_flags(listen=compiler_listen)]
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self.events: SimpleQueue[object] = SimpleQueue()
        self.history_address = ""
        self.compiler_address = ""
        self.store = ""

    def start(self) -> None:
        """Start both and wait until both serve.

        Raises:
            PairError: One did not start; its reason is on standard error. None is left running.
        """
        try:
            ready = self._start("history_service", self._history_flags)
            self.history_address, self.store = ready["address"], ready["store"]
            flags = [*self._compiler_flags, *_flags(history=self.history_address)]
            self.compiler_address = self._start("compiler_service", flags)["address"]
        except BaseException:
            self.stop()
            raise

    def signal(self, number: int) -> None:
        """Pass a signal on to both."""
        for child in reversed(self._children.values()):
            if child.poll() is None:
                child.send_signal(number)

    def stop(self) -> None:
        """Stop both gracefully, the compiler first: it may still be reading from the history service."""
        for child in reversed(self._children.values()):
            if child.poll() is None:
                child.send_signal(signal.SIGTERM)
            try:
                child.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            if child.stdout is not None:
                child.stdout.close()

    def pid(self, module: str) -> int:
        """Return the process id of ``history_service`` or ``compiler_service``."""
        return self._children[module].pid

    def __enter__(self) -> Self:
        """Start both."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop both."""
        self.stop()

    def _start(self, module: str, flags: list[str]) -> dict[str, str]:
        command = [sys.executable, "-m", module, *flags]
        child = subprocess.Popen(  # nosec B603: this interpreter, and flags that the services check
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, process_group=0
        )
        self._children[module] = child
        ready = _ready_line(module, child)
        threading.Thread(target=self._report_exit, args=(module, child), daemon=True).start()
        return ready

    def _report_exit(self, module: str, child: subprocess.Popen[bytes]) -> None:
        self.events.put(ServiceExit(module, child.wait()))


def _ready_line(module: str, child: subprocess.Popen[bytes]) -> dict[str, str]:
    """Read what a service says once it serves: its address and, of the history service, its store."""
    assert child.stdout is not None
    deadline = time.monotonic() + START_SECONDS
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        if not selector.select(deadline - time.monotonic()):
            raise PairError(f"{module} was not ready after {START_SECONDS:.0f} s")
    line = child.stdout.readline()
    if not line:
        raise PairError(f"{module} did not start (exit code {child.wait()})")
    ready: dict[str, str] = json.loads(line)
    return ready


def _flags(**values: str | None) -> list[str]:
    return [
        part
        for name, value in values.items()
        if value is not None
        for part in (f"--{name.replace('_', '-')}", value)
    ]

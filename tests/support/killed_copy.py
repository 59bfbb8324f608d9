"""``python -m tests.support.killed_copy N WHEN SOURCE URL``: a last pass that is killed at transaction N.

WHEN is ``before`` or ``after`` its commit. Batches are small, so that there are many.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from history_service.copying import destination, passes
from history_service.maintenance import main


def run(number: int, when: str, source: str, url: str) -> int:
    """Run the pass; it ends by itself only where it takes fewer transactions."""
    write = destination.Destination.write
    taken = 0

    def write_or_die(self: Any, *rows: Any) -> None:
        nonlocal taken
        taken += 1
        if taken == number and when == "before":
            self._session.commit = die
        write(self, *rows)
        if taken == number:
            die()

    destination.Destination.write = write_or_die  # type: ignore[assignment, method-assign]
    passes._BATCH_ROWS = 5
    return main(["copy", "--final", source, url])


def die() -> None:
    """End as kill -9 ends a process."""
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(run(int(sys.argv[1]), *sys.argv[2:]))

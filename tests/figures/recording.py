"""The figures of reliability that a harness measured, kept in a results file.

A harness that ran in its long form calls `record_figure` with its own row; the
page of all figures is written anew at once. Harnesses may run at the same time.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.figures.conditions import conditions, today
from tests.figures.targets import RELIABILITY

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "figures" / "reliability.json"


@dataclass(frozen=True, slots=True)
class Measured:
    """What a harness found.

    Attributes:
        count: How many of what the row counts: kills, requests, programs, seconds.
        found: What came of it, in words and numbers.
        held: Whether every promise held.
        command: What was run.
        seconds: How long it took.
        date: The day it ended, ISO 8601.
        conditions: The machine, and how busy it was at the end.
    """

    count: int
    found: str
    held: bool
    command: str
    seconds: int
    date: str
    conditions: str

    def met(self, row: str) -> bool:
        """Whether the row's target is reached."""
        return self.held and self.count >= RELIABILITY[row].least


def parse_with_record(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Parse a harness's options and ``--record``; what is found with a seeded fault is never kept."""
    parser.add_argument(
        "--record", action="store_true", help=f"write the figure into {RESULTS.relative_to(ROOT)}"
    )
    options = parser.parse_args()
    seeded = any(getattr(options, name, "none") != "none" for name in ("mutant", "variant"))
    if options.record and seeded:
        parser.error("what is found with a seeded fault is not kept")
    return options


def record_figure(
    row: str,
    count: int,
    found: str,
    *,
    seconds: float,
    held: bool = True,
    command: str | None = None,
    results: Path = RESULTS,
) -> None:
    """Write a row down and make the page of figures anew.

    Args:
        row: Which, a key of `RELIABILITY`.
        count: How many of what the row counts were done.
        found: What came of it, as "0 lost, 0 moved".
        seconds: How long the run took.
        held: Whether every promise held; a row that did not is written down like any other.
        command: What was run; the command line of this process when it was ``python -m``.
        results: The results file.

    Raises:
        KeyError: There is no such row.
    """
    RELIABILITY[row]
    measured = Measured(count, found, held, command or command_line(), round(seconds), today(), conditions())
    results.parent.mkdir(parents=True, exist_ok=True)
    with results.open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        rows: dict[str, Any] = json.loads(file.read() or '{"rows": {}}')["rows"]
        rows[row] = asdict(measured)
        ordered = {name: rows[name] for name in RELIABILITY if name in rows}
        file.truncate(0)
        file.write(json.dumps({"rows": ordered}, indent=2, ensure_ascii=False) + "\n")
        file.flush()
        if results == RESULTS:
            # The page imports this module.
            from tests.figures.page import write_page

            write_page(read_figures(results))


def read_figures(results: Path = RESULTS) -> dict[str, Measured]:
    """Return the rows of a results file by their keys; none where there is no file."""
    if not results.exists():
        return {}
    rows = json.loads(results.read_text("utf-8"))["rows"]
    return {name: Measured(**row) for name, row in rows.items()}


def command_line() -> str:
    """Return this process's command as it is typed: ``python -m module options``."""
    return " ".join(["python", *sys.orig_argv[sys.orig_argv.index("-m") :]])

"""The page of all figures, made from the results files so that it cannot differ from them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tests.bench.report import Row, format_amount
from tests.bench.table import markdown_table, read_rows
from tests.figures.plot import plot
from tests.figures.recording import ROOT, Measured, read_figures
from tests.figures.targets import RELIABILITY, SPEED, Reliability, Speed

BENCH = ROOT / "docs" / "figures" / "bench.json"
PLOT = ROOT / "docs" / "figures" / "bench.svg"
PAGE = ROOT / "docs" / "figures.md"

_HEAD = """# Figures

Every figure that the project holds itself to, what was measured, and the command that measures it; those
that fall short are listed like the others. The page is made from [bench.json](figures/bench.json), which
`make bench` writes, and [reliability.json](figures/reliability.json), which the reliability harnesses write
with `--record`; both write the page anew, `make figures` does so without measuring, and a test compares it
with the two files. `python` is that of the environment which `make setup` makes.
"""

_SPEED_NOTES = """
Speed is a ratio between two things measured in turns in one run on one machine: absolute figures of a shared
machine mean nothing alone. A peer that is not installed has no row: nothing is taken from elsewhere.

A peer in Python also depends on how its interpreter was built: the reference takes a sixth to a quarter less
with Debian's CPython 3.11.2 than with another build of 3.11, and the services as long with either. The run
below is one of the interpreter that it names.

So does the host count. A cold compile is the work of three processes at once. While the host of a shared
machine gave two busy processes half of its speed each, `make bench ARGS="--only compile"` with CPython
3.11.2 gave 10.6 to 12.6 (cold, with tools), 7.8 to 9.0 (cold, without), 166 to 206 and 9.2 to 13.3 (warm,
with and without) in four runs; 18.6, 9.9, 270 and 15.3 some hours before, when it was quiet.

On a host that computes a third faster, with CPython 3.11.7, seven runs on 2026-12-01 gave 10.2 to 15.0, 7.6
to 10.1, 163 to 191 and 11.6 to 15.3: the reference, one process that never waits, took 160 ms in all of them,
the cold compile 10 ms in the best seconds and 17 in others. A virtual CPU that has slept is half as fast at
first there, and a new page of memory took up to 13 µs; all on one CPU and without a worker took 13 to 14.

From 2026-12-01 on every process of the bench keeps memory that it freed, a peer's as well
(`tests/bench/memory.py`). At glibc's defaults a client that is sent two megabytes may fetch a thousand
pages anew for each such reply, or none, by where its other blocks lie: up to a quarter of a warm compile
of 10,000 messages, which is not the service's.
"""

_RELIABILITY_NOTES = """
Each harness is shown to catch the faults of its last column: a test of the suite, or its `--mutant`, runs it
on a service that has the fault and expects it to fail. "open" with two numbers is a shorter run that held.
`make figures ARGS=--measure` runs them all; `make figures ARGS="--measure kills soak"` some, by their keys in
the results file.
"""


def render(bench: Mapping[str, Any], rows: Iterable[Row], reliability: Mapping[str, Measured]) -> str:
    """Return the page's text."""
    kept = list(rows)
    return "\n".join(
        [
            _HEAD,
            "## Speed",
            _SPEED_NOTES,
            f"`{bench['command']}`, {_machine(bench)}.\n",
            markdown_table(("work", "target", "ours", "beside", "ratio", "command", "met"), _speed(kept)),
            "\n![Each figure of the bench over its target](figures/bench.svg)",
            *(f"\n{row}" for row in bench.get("absent", ())),
            *_shortfalls(kept),
            "\n## Reliability",
            _RELIABILITY_NOTES,
            markdown_table(
                ("figure", "target", "measured", "command", "when", "met", "fault that it catches"),
                _reliability(reliability),
            ),
            "",
        ]
    )


def write_page(reliability: Mapping[str, Measured] | None = None) -> None:
    """Write the page and the plot from the results files."""
    found = read_figures() if reliability is None else reliability
    bench, rows = json.loads(BENCH.read_text("utf-8")), read_rows(BENCH)
    PAGE.write_text(render(bench, rows, found), "utf-8")
    PLOT.write_text(plot(rows), "utf-8")


def rows_of(figure: Speed, rows: Iterable[Row]) -> list[Row]:
    """Return a figure's rows."""
    return [row for row in rows if figure.rows.match(row.work)]


def _machine(bench: Mapping[str, Any]) -> str:
    machine = bench["machine"]
    parts = [
        f"{machine['cpus']} CPUs",
        f"{machine['system']} {machine['architecture']}",
        f"CPython {machine['python']}",
        f"grpcio {machine['grpcio']}",
    ]
    parts += [bench[name] for name in ("load", "date") if name in bench]
    return ", ".join(parts)


def _speed(rows: list[Row]) -> Iterator[tuple[str, ...]]:
    for figure in SPEED:
        own = rows_of(figure, rows)
        command = f'`make bench ARGS="--only {figure.group}"`'
        if not own:
            yield figure.figure, figure.target, "not in the last run", "", "", command, "open"
        for row in own:
            yield (
                row.work,
                figure.target,
                format_amount(row.ours, row.unit),
                f"{row.beside}, {format_amount(row.theirs, row.beside_unit)}",
                f"{row.ratio:,.2f}",
                command,
                {True: "met", False: "**open**", None: ""}[row.met],
            )


def _shortfalls(rows: list[Row]) -> Iterator[str]:
    """Say of every figure that falls short why it does."""
    missed = [figure for figure in SPEED if any(row.met is False for row in rows_of(figure, rows))]
    if missed:
        yield "\nWhat stops those that are open:\n"
    for figure in missed:
        profile = f" [Profile](profiles.md#{figure.profile})." if figure.profile else ""
        yield f"- {figure.figure}: {figure.short or 'not explained.'}{profile}"


def _reliability(measured: Mapping[str, Measured]) -> Iterator[tuple[str, ...]]:
    for name, target in RELIABILITY.items():
        found = measured.get(name)
        if found is None:
            yield (
                target.figure,
                target.target,
                "not measured",
                f"`{target.command}`",
                "",
                "open",
                target.caught,
            )
            continue
        when = f"{found.date}, {found.seconds:,} s; {found.conditions}"
        verdict = _verdict(name, target, found)
        yield target.figure, target.target, found.found, f"`{found.command}`", when, verdict, target.caught


def _verdict(name: str, target: Reliability, found: Measured) -> str:
    if found.met(name):
        return "met"
    if not found.held:
        return "**broken**"
    return f"**open**: {found.count:,} of {target.least:,}; in full: `{target.command}`"

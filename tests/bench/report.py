"""Rows of a benchmark: printed with their ratios, written as JSON."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import grpc

from tests.figures.conditions import load, today

Bound = Literal["at least", "at most"]


@dataclass(frozen=True, slots=True)
class Row:
    """One figure beside what it is compared with, both measured in the same run.

    Attributes:
        work: What was done.
        ours: Our figure, in ``unit``.
        beside: What it is compared with.
        theirs: The compared figure, in ``beside_unit``.
        unit: Unit of ``ours``.
        beside_unit: Unit of ``theirs``.
        ratio: The figure that counts, as ``target`` defines it.
        target: Bound of ``ratio``; None where none is set.
        bound: Whether the ratio must be at least or at most the target.
        detail: Facts beside the row, such as percentiles.
    """

    work: str
    ours: float
    unit: str
    beside: str
    theirs: float
    beside_unit: str
    ratio: float
    target: float | None = None
    bound: Bound = "at least"
    detail: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none."""
        if self.target is None:
            return None
        return self.ratio >= self.target if self.bound == "at least" else self.ratio <= self.target


@dataclass(frozen=True, slots=True)
class Absent:
    """A row that could not be measured, since what it is compared with is not there.

    Attributes:
        work: What would have been done.
        beside: What it would be compared with.
        why: What is missing, and how it comes.
    """

    work: str
    beside: str
    why: str

    def __str__(self) -> str:
        return f"{self.work}, beside {self.beside}: not measured, {self.why}"


_COLUMNS = "{:<46} {:>18}   {:<24} {:>14}   {:>8}   {:<8} {:<7} {}"
HEADER = _COLUMNS.format("work", "ours", "beside", "figure", "ratio", "target", "", "").rstrip()


def format_row(row: Row) -> str:
    """The row as a line of text, in the columns of `HEADER`."""
    verdict = {True: "met", False: "MISSED", None: ""}[row.met]
    return _COLUMNS.format(
        row.work,
        format_amount(row.ours, row.unit),
        row.beside,
        format_amount(row.theirs, row.beside_unit),
        f"{row.ratio:,.2f}",
        format_target(row),
        verdict,
        row.detail,
    ).rstrip()


def format_target(row: Row) -> str:
    """The bound of the row's ratio as text; empty where there is none."""
    return "" if row.target is None else f"{'≥' if row.bound == 'at least' else '≤'} {row.target:g}"


def format_amount(value: float, unit: str) -> str:
    """A figure with its unit, in three digits where it is below 1,000."""
    return f"{value:,.0f} {unit}" if value >= 1000 else f"{value:,.3g} {unit}"


def write_json(path: Path, rows: list[Row], absent: list[Absent], *, quick: bool) -> None:
    """Writes the rows, those that could not be measured, and what they were measured on."""
    document: dict[str, Any] = {
        "command": "make bench ARGS=--quick" if quick else "make bench",
        "date": today(),
        "load": load(),
        "machine": {
            "cpus": os.cpu_count(),
            "system": platform.system(),
            "architecture": platform.machine(),
            "python": platform.python_version(),
            "grpcio": grpc.__version__,
        },
        "rows": [{**asdict(row), "met": row.met} for row in rows],
        "absent": [str(row) for row in absent],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", "utf-8")

"""README's table of figures, made from the results file so that the two cannot differ."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from tests.bench.report import Row, format_amount, format_target

BEGIN = "<!-- figures: written by `make bench` -->"
END = "<!-- end of figures -->"
_HEADER = ("work", "ours", "beside", "ratio", "target")


def read_rows(path: Path) -> list[Row]:
    """The rows of a results file."""
    rows = json.loads(path.read_text("utf-8"))["rows"]
    return [Row(**{name: value for name, value in row.items() if name != "met"}) for row in rows]


def table(rows: list[Row]) -> str:
    """A Markdown table of the rows that have a target, met or not."""
    return markdown_table(_HEADER, (_cells(row) for row in rows if row.target is not None))


def markdown_table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cells(row: Row) -> tuple[str, ...]:
    verdict = "" if row.met else ", open"
    return (
        row.work,
        format_amount(row.ours, row.unit),
        f"{row.beside}, {format_amount(row.theirs, row.beside_unit)}",
        f"{row.ratio:,.2f}",
        format_target(row) + verdict,
    )


def with_table(text: str, rows: list[Row]) -> str:
    """``text`` with the table of ``rows`` between its two marks.

    Raises:
        ValueError: A mark is missing.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"there is no place for the figures: {BEGIN} and {END} are the marks")
    return f"{before}{BEGIN}\n\n{table(rows)}\n\n{END}{after}"

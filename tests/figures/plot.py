"""The plot of the bench's rows: one bar a row, how far its ratio is beyond its target or short of it.

A drawing in plain SVG, the same bytes for the same rows. Its colours are chosen for
light and dark pages: it has no background, and the text takes the reader's scheme.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from html import escape

from tests.bench.report import Row, format_target

WIDTH = 1000
LABELS = 540
"""Width of the column of works, in pixels; the axis is right of it."""
RIGHT = 100
LINE = 24
TOP = 56
BOTTOM = 20
TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10)

_STYLE = """text { font: 12px sans-serif; fill: #24292f }
.title { font-size: 14px; font-weight: bold }
.tick { text-anchor: middle; fill: #57606a }
.grid { stroke: #8c959f; stroke-opacity: .35 }
.target { stroke: #57606a; stroke-width: 2 }
.met { fill: #2da44e }
.open { fill: #d4762c }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.tick { fill: #9198a1 }
.target { stroke: #9198a1 }
}"""


def advance(row: Row) -> float:
    """Return how many times better than its target a row is; below 1 it falls short.

    Raises:
        ValueError: The row has no target.
    """
    if row.target is None:
        raise ValueError(f"{row.work} has no target")
    return row.ratio / row.target if row.bound == "at least" else row.target / row.ratio


def plot(rows: Iterable[Row]) -> str:
    """Return the plot of the rows that have a target, in their order."""
    shown = [row for row in rows if row.target is not None]
    height = TOP + LINE * len(shown) + BOTTOM
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
            f"<title>Figures of the bench, each over its target: {len(shown)} rows</title>",
            f"<style>{_STYLE}</style>",
            '<text class="title" x="8" y="18">Each figure over its target (logarithmic); '
            "right of 1 it is met</text>",
            *_axis(height),
            *(line for number, row in enumerate(shown) for line in _bar(number, row)),
            "</svg>\n",
        ]
    )


def _at(value: float) -> float:
    """Return where a value is on the axis; values beyond its ends are at them."""
    low, high = math.log(TICKS[0]), math.log(TICKS[-1])
    share = (min(max(math.log(value), low), high) - low) / (high - low)
    return LABELS + share * (WIDTH - LABELS - RIGHT)


def _axis(height: int) -> Iterator[str]:
    for tick in TICKS:
        kind = "target" if tick == 1 else "grid"
        x = f"{_at(tick):.1f}"
        yield f'<text class="tick" x="{x}" y="{TOP - 14}">{tick:g} ×</text>'
        yield f'<line class="{kind}" x1="{x}" x2="{x}" y1="{TOP - 8}" y2="{height - BOTTOM + 8}"/>'


def _bar(number: int, row: Row) -> Iterator[str]:
    """Draw a row: its work, the bar between 1 and its figure, and the ratio with its bound."""
    y = TOP + LINE * number
    start, end = sorted((_at(1), _at(advance(row))))
    kind = "met" if row.met else "open"
    label = escape(f"{row.work}, beside {row.beside}")
    yield f'<text x="8" y="{y + 16}">{_cut(label)}<title>{label}</title></text>'
    yield (
        f'<rect class="{kind}" x="{start:.1f}" y="{y + 4}" width="{max(end - start, 1):.1f}" '
        f'height="{LINE - 8}"/>'
    )
    said = f"{row.ratio:,.2f} ({format_target(row)})"
    yield f'<text x="{WIDTH - RIGHT + 8}" y="{y + 16}">{said}</text>'


def _cut(label: str) -> str:
    """Return a label that fits its column."""
    most = 86
    return label if len(label) <= most else f"{label[: most - 1]}…"

"""The page of figures is what the results files say, complete, and honest about what falls short."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tests.bench.report import Row
from tests.bench.table import read_rows
from tests.figures.page import BENCH, PAGE, PLOT, render, rows_of
from tests.figures.plot import advance, plot
from tests.figures.recording import Measured, read_figures, record_figure
from tests.figures.targets import RELIABILITY, SPEED

ENOUGH = Measured(1000, "0 lost", True, "python -m it", 60, "2026-11-30", "2 CPUs")


def row(work: str, ratio: float) -> Row:
    return Row(work, 10, "ms", "someone", 5, "ms", ratio, 1.0, "at most")


def lines_with(text: str, reliability: dict[str, Measured], *rows: Row) -> list[str]:
    """The page's lines that have a text."""
    bench = json.loads(BENCH.read_text("utf-8"))
    return [line for line in render(bench, rows, reliability).splitlines() if text in line]


def test_the_page_is_that_of_the_results_files() -> None:
    bench = json.loads(BENCH.read_text("utf-8"))
    assert render(bench, read_rows(BENCH), read_figures()) == PAGE.read_text("utf-8")


def test_the_plot_is_that_of_the_results_file() -> None:
    assert plot(read_rows(BENCH)) == PLOT.read_text("utf-8")


def test_the_plot_has_a_bar_a_row_on_its_side_of_the_target() -> None:
    untargeted = Row("no target", 1, "ms", "x", 1, "ms", 1.0)
    rows = [row("over <&> half", 0.5), row("short", 2.0), untargeted, row("far beyond", 1e-9)]
    svg = ElementTree.fromstring(plot(rows))
    space = "{http://www.w3.org/2000/svg}"
    (target,) = [line for line in svg.iter(f"{space}line") if line.get("class") == "target"]
    middle = float(target.get("x1", ""))
    bars = [
        (bar.get("class"), float(bar.get("x", "")), float(bar.get("width", "")))
        for bar in svg.iter(f"{space}rect")
    ]
    (met, short, far) = bars
    assert met[:2] == ("met", middle)
    assert short[0] == "open"
    assert short[1] + short[2] == pytest.approx(middle, abs=0.11)
    assert met[2] == pytest.approx(short[2], abs=0.11)
    assert far[1] + far[2] <= float(svg.get("viewBox", "").split()[2])
    texts = [text.text or "" for text in svg.iter(f"{space}text")]
    assert any(text.startswith("over <&> half") for text in texts)
    assert advance(row("w", 0.5)) == 2
    assert advance(Row("w", 1, "x", "y", 1, "x", 0.5, 1.0, "at least")) == 0.5
    with pytest.raises(ValueError, match="no target"):
        advance(untargeted)


def test_what_could_not_be_measured_is_told() -> None:
    bench = json.loads(BENCH.read_text("utf-8"))
    assert "there is no broker" in render(bench | {"absent": ["mailbox: there is no broker"]}, [], {})


def test_every_figure_of_both_tables_is_on_the_page() -> None:
    page = PAGE.read_text("utf-8")
    for target in RELIABILITY.values():
        assert f"| {target.figure} | {target.target} |" in page
    rows = read_rows(BENCH)
    for figure in SPEED:
        works = [each.work for each in rows_of(figure, rows)] or [figure.figure]
        assert all(f"| {work} |" in page for work in works)


def test_every_row_with_a_target_belongs_to_one_figure() -> None:
    for each in read_rows(BENCH):
        if each.target is not None:
            assert len([figure for figure in SPEED if figure.rows.match(each.work)]) == 1, each.work


def test_a_missed_row_is_open_with_its_reason() -> None:
    missed, met = (
        lines_with("project 1,000", {}, row("project 1,000 messages", ratio)) for ratio in (2.0, 0.5)
    )
    assert "**open**" in missed[0]
    assert "| met |" in met[0]
    slow = row("compile cold, 1,000 messages", 20.0)
    assert lines_with("- compile 1,000 messages, cold: ", {}, slow)
    assert not lines_with("What stops those", {}, row("compile cold, 1,000 messages", 0.5))


def test_a_row_that_is_not_measured_is_open() -> None:
    assert all(line.count("| open |") == 1 for line in lines_with("not measured", {}))
    assert len(lines_with("not measured", {})) == len(RELIABILITY)
    assert len(lines_with("not in the last run", {})) == len(SPEED)


@pytest.mark.parametrize(
    ("count", "held", "verdict"),
    [
        (1000, True, "met |"),
        (999, True, "**open**: 999 of 1,000; in full: `python -m tests.crash.kills"),
        (5000, False, "**broken** |"),
    ],
)
def test_a_promise_is_met_when_it_held_often_enough(count: int, held: bool, verdict: str) -> None:
    found = Measured(count, "found", held, "python -m it", 60, "2026-11-30", "2 CPUs")
    (line,) = lines_with(RELIABILITY["kills"].figure, {"kills": found})
    assert f"| {verdict}" in line


def test_harnesses_write_their_own_rows_side_by_side(tmp_path: Path) -> None:
    results = tmp_path / "reliability.json"
    for name, count in (("soak", 3600), ("kills", 50), ("kills", 1000)):
        record_figure(name, count, f"{count} done", seconds=1.6, command="python -m it", results=results)
    found = read_figures(results)
    assert list(found) == ["kills", "soak"]
    kills = found["kills"]
    assert (kills.count, kills.found, kills.held, kills.seconds) == (1000, "1000 done", True, 2)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", kills.date)
    assert re.search(r"\d+ CPUs, .* load \d", kills.conditions)
    with pytest.raises(KeyError):
        record_figure("no such row", 1, "", seconds=1, results=results)
    assert read_figures(results) == found


def test_no_row_tells_where_it_was_measured() -> None:
    for found in read_figures().values():
        assert not re.search(r"(^|\s)/\w", found.command), "a path of one machine"

"""What came of each language, the comparison of transcripts, and the table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

COLUMNS = ("language", "drift", "build", "tests", "example", "scenarios", "digests", "transcripts")


@dataclass(frozen=True, slots=True)
class Line:
    """What a runner says of a scenario."""

    scenario: str
    ok: bool
    steps: int
    digests: int
    transcript: str
    message: str = ""


@dataclass
class Result:
    """What came of one language.

    Attributes:
        language: Its name.
        steps: Outcomes by step: "ok", "-" for nothing to do, or "FAILED".
        lines: What its runner said, by scenario.
        equal: Scenarios whose transcript is Python's.
        differences: The first difference of each scenario that has one.
    """

    language: str
    steps: dict[str, str] = field(default_factory=dict)
    lines: dict[str, Line] = field(default_factory=dict)
    equal: set[str] = field(default_factory=set)
    differences: list[str] = field(default_factory=list)

    def passed(self) -> set[str]:
        """Return the scenarios that passed with Python's transcript."""
        return {name for name, line in self.lines.items() if line.ok and name in self.equal}

    def row(self, total: int) -> tuple[str, ...]:
        """Return the language's row of the table."""
        steps = [self.steps.get(step, "-") for step in ("drift", "build", "tests", "example")]
        ok = sum(line.ok for line in self.lines.values())
        digests = sum(line.digests for line in self.lines.values())
        return (self.language, *steps, f"{ok}/{total}", str(digests), f"{len(self.equal)}/{total}")

    def failed_steps(self) -> list[str]:
        """Return the steps beside the scenarios that failed."""
        return [step for step, outcome in self.steps.items() if outcome == "FAILED" and step != "scenarios"]

    def failed(self, names: Sequence[str]) -> bool:
        """Whether anything went wrong."""
        return (
            "FAILED" in self.steps.values() or self.passed() != set(names) or self.lines.keys() != set(names)
        )


def read_lines(output: str) -> dict[str, Line]:
    """Read a runner's standard output.

    Raises:
        ValueError: It is not in the form that all runners have.
    """
    lines = {}
    # Only a line feed ends a line: a message may show texts with other line ends.
    for text in filter(None, output.split("\n")):
        try:
            line = Line(**json.loads(text))
        except TypeError as error:
            raise ValueError(f"{text!r}: {error}") from None
        lines[line.scenario] = line
    return lines


def compare(result: Result, reference: Result, folder: Path) -> None:
    """Compare a language's transcripts with the reference's, which are below one folder by language."""
    for name, expected in reference.lines.items():
        line = result.lines.get(name)
        if line is None:
            result.differences.append(f"{name}: the runner said nothing of it")
        elif (line.transcript, line.steps, line.digests) == (
            expected.transcript,
            expected.steps,
            expected.digests,
        ):
            result.equal.add(name)
        else:
            paths = [folder / language / f"{name}.txt" for language in (reference.language, result.language)]
            result.differences.append(f"{name}: {_difference(line, expected, *paths)}")


def _difference(line: Line, expected: Line, expected_path: Path, path: Path) -> str:
    if (line.steps, line.digests) != (expected.steps, expected.digests):
        told = f"{line.steps} steps and {line.digests} digests"
        return f"{told}, not {expected.steps} and {expected.digests}"
    ours, theirs = (_transcript(each) for each in (expected_path, path))
    for number in range(max(len(ours), len(theirs))):
        pair = [lines[number] if number < len(lines) else "(the end)" for lines in (ours, theirs)]
        if pair[0] != pair[1]:
            return f"line {number + 1} of the transcript\n    expected {pair[0]}\n    got      {pair[1]}"
    return "the transcripts are equal, the digests of them are not"


def _transcript(path: Path) -> list[str]:
    return path.read_bytes().decode().split("\n") if path.exists() else ["(no transcript)"]


def table(results: Sequence[Result], total: int) -> str:
    """Return the table of all languages."""
    rows = [COLUMNS, *(result.row(total) for result in results)]
    widths = [max(len(row[index]) for row in rows) for index in range(len(COLUMNS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )

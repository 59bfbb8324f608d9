"""The tables of a profile, in Markdown: they are printed, and stand in the documents."""

from __future__ import annotations

from collections.abc import Iterator

from tests.bench.profile.parts import OTHER, place
from tests.bench.profile.results import Profile, ThreadUse, Use
from tests.bench.profile.waits import CAUSES
from tests.bench.profile.works import Work
from tests.bench.report import format_amount
from tests.bench.table import markdown_table

QUIET = 0.01
"""Threads that used less than this share of a side's CPU time have no row."""
SHORTEST = 0.5e-6
"""Times below are not told, in seconds."""


def summary(work: Work, profile: Profile) -> str:
    """Both sides in a few lines."""
    ours, floor = profile.ours, profile.floor
    lines = [
        _side("ours", ours, f"a {work.unit}"),
        _side("floor", floor, work.floor_unit),
        f"- CPU of ours over that of the floor: {ours.cost / floor.cost:.2f}",
    ]
    if ours.commits:
        syncs, each = ours.commits / ours.seconds, ours.writes / ours.commits
        lines.append(f"- {syncs:,.0f} syncs of the log a second, {each:.1f} writes each")
    lines += (
        f"- in the same run: {name}, {format_amount(value, work.beside_unit)}"
        for name, value in profile.beside.items()
    )
    if not any(thread.asleep for thread in ours.threads.values()):
        lines.append("- what threads wait for is not known: `/proc/PID/task/TID/syscall` cannot be read here")
    return "\n".join(lines)


def parts_table(work: Work, profile: Profile) -> str:
    """CPU time by part of the code, ours beside the floor's."""
    return markdown_table(
        ("part of the code", f"floor, a unit ({work.floor_unit})", f"ours, a {work.unit}", "share of ours"),
        _part_rows(profile),
    )


def threads_table(profile: Profile) -> str:
    """What the threads did all the time, in shares of it; threads of a kind are one row."""
    header = (
        "thread",
        "CPU, a unit",
        "on a CPU",
        "ready, no CPU free",
        *(f"waits for {each}" for each in CAUSES),
    )
    return markdown_table(header, _thread_rows(profile.ours))


def _side(name: str, use: Use, unit: str) -> str:
    return (
        f"- {name}: {use.rate:,.1f} a second, each {unit}; {format_time(use.cost)} of CPU each, and "
        f"{format_time(use.client / use.units)} of the load generator's"
    )


def _part_rows(profile: Profile) -> Iterator[tuple[str, ...]]:
    ours, floor = profile.ours.parts(), profile.floor.parts()
    for part in sorted({*ours, *floor, OTHER}, key=place):
        own, bare = ours.get(part, 0.0), floor.get(part, 0.0)
        if part == OTHER or max(own, bare) >= SHORTEST:
            yield part, format_time(bare), format_time(own), f"{own / profile.ours.cost:.0%}"
    yield "**all**", f"**{format_time(profile.floor.cost)}**", f"**{format_time(profile.ours.cost)}**", ""


def _thread_rows(use: Use) -> Iterator[tuple[str, ...]]:
    busiest = sorted(use.threads.items(), key=lambda item: -item[1].ran)
    for name, thread in busiest:
        if thread.ran >= QUIET * use.cost * use.units:
            yield name, format_time(thread.ran / use.units), *_shares(thread)


def _shares(thread: ThreadUse) -> Iterator[str]:
    """Yields shares of the time: on a CPU, ready for one, and of the rest what it was found to wait for."""
    yield _share(thread.ran / thread.lived)
    yield _share(thread.waited / thread.lived)
    asleep = max(0.0, thread.lived - thread.ran - thread.waited)
    found = sum(thread.asleep.values())
    for cause in CAUSES:
        yield _share(asleep / thread.lived * thread.asleep.get(cause, 0) / found) if found else "?"


def _share(value: float) -> str:
    return f"{value:.0%}" if value >= 0.005 else ""


def format_time(seconds: float) -> str:
    """A time in microseconds, or in milliseconds where it is long; nothing where there is none."""
    if seconds >= 0.01:
        return f"{seconds * 1e3:,.1f} ms"
    return f"{seconds * 1e6:,.0f} µs" if seconds >= SHORTEST else ""

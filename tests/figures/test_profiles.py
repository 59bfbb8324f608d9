"""The page of profiles is what their results file says, and every open row with a profile leads to it."""

from __future__ import annotations

from tests.bench.profile.results import Profile, ThreadUse, Use, read_profiles
from tests.bench.profile.works import WORKS
from tests.figures.page import PAGE as FIGURES
from tests.figures.profile_words import WORDS
from tests.figures.profiles import PAGE, render
from tests.figures.targets import SPEED

PROFILE = Profile(
    ours=Use(1_000, 2.0, 0.1, threads={"a": ThreadUse(1.0, 0.0, 2.0, {"other": 1.0})}),
    floor=Use(1_000, 1.0, 0.1, threads={"a": ThreadUse(0.25, 0.0, 1.0, {"other": 0.25})}),
    command="python -m it",
    date="2026-11-30",
    conditions="2 CPUs",
)


def said(name: str, beside: dict[str, float]) -> str:
    """What is said of the bound: ours take 1 ms of CPU in 2 ms, the floor 0.25 in 1 ms."""
    found = Profile(PROFILE.ours, PROFILE.floor, "python -m it", "2026-11-30", "2 CPUs", beside)
    (line,) = [line for line in render({name: found}).splitlines() if line.startswith("What bounds it")]
    return line


def test_the_page_is_that_of_the_results_file() -> None:
    assert render(read_profiles()) == PAGE.read_text("utf-8")


def test_every_work_has_its_words_and_its_place() -> None:
    assert WORDS.keys() == WORKS.keys() == {figure.profile for figure in SPEED if figure.profile}
    headings = PAGE.read_text("utf-8").splitlines()
    for name in WORKS:
        assert f"## {name.capitalize()}" in headings


def test_an_open_row_leads_to_its_profile() -> None:
    page = FIGURES.read_text("utf-8")
    for figure in SPEED:
        for line in page.splitlines():
            if line.startswith(f"- {figure.figure}: "):
                assert line.endswith(f"(profiles.md#{figure.profile}).") == bool(figure.profile)


def test_a_work_that_was_not_profiled_says_how_it_is() -> None:
    assert "Not profiled yet: `make profile WORK=batch ARGS=--record`." in render({"append": PROFILE})


def test_bounds_are_of_the_profile_s_own_numbers() -> None:
    # A call of 1,000 µs, of which the echo's 250 µs over 0.65 are allowed.
    assert "may take 385 µs, which leaves 385 µs" in said("append", {})
    # 64 messages at 9 an echo are 7.1 echoes of 250 µs; a call is 4 of them.
    assert "1,778 µs of CPU; a call takes 1,000 µs, 4.0 echoes" in said("batch", {})
    # 1,000 batches of echoes a second.
    assert "64,000 messages/s in this run" in said("mailbox", {})
    assert "no broker was there" in said("mailbox", {})
    assert "Redis 9,000. Ours" in said("mailbox", {"Redis": 9_000.0})
    assert "was not there in this run" in said("compile", {})
    assert "240 ms in the same run, a fifteenth of which is 16.0 ms" in said("compile", {"it": 240.0})
    assert "in less than 500 µs" in said("compile", {})
    assert "took 2,000 µs by the clock" in said("compile", {})

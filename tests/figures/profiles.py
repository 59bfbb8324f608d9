"""The page of profiles, made from their results file so that it cannot differ from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tests.bench.profile.results import Profile, read_profiles
from tests.bench.profile.tables import parts_table, summary, threads_table
from tests.bench.profile.works import WORKS
from tests.figures.profile_words import WORDS
from tests.figures.recording import ROOT

PAGE = ROOT / "docs" / "profiles.md"

_HEAD = """# Profiles

Where the CPU time goes in those rows of [figures](figures.md) that fall short, beside the bare echo's in the
same run, and what stops each. The page is made from [profiles.json](figures/profiles.json), which
`make profile ARGS=--record` writes; a test compares the two.

Ours and the floor run in turns. A sampler inside of each server notes a thread's Python stack after every
20 ms of CPU time that the thread has used, so that shares are of CPU time, however busy the machine is; it
needs no right to trace processes, and costs some 2 %. The kernel's counts give the CPU time itself, thread by
thread. What is compiled and called from Python counts for the module that calls it; what gRPC and uvloop do
on their own has no Python stack and is one part. Which module belongs to which part is one table,
`tests/bench/profile/parts.py`; what it does not know is "other". What threads wait for is looked up 200 times
a second from outside, as the system call that they sleep in.
"""


def render(profiles: Mapping[str, Profile]) -> str:
    """Return the page's text."""
    return "\n".join([_HEAD, *(section for name in WORDS for section in _section(name, profiles.get(name)))])


def write_profiles_page() -> None:
    """Write the page from the results file."""
    PAGE.write_text(render(read_profiles()), "utf-8")


def _section(name: str, found: Profile | None) -> Iterator[str]:
    work, words = WORKS[name], WORDS[name]
    yield f"## {name.capitalize()}\n"
    yield f"{work.title[0].upper()}{work.title[1:]}.\n"
    if found is None:
        yield f"Not profiled yet: `make profile WORK={name} ARGS=--record`.\n"
        return
    yield f"`{found.command}`, {found.date}, {found.conditions}.\n"
    yield f"{summary(work, found)}\n"
    yield f"{parts_table(work, found)}\n"
    yield f"{threads_table(found)}\n"
    yield f"What bounds it: {words.bound(found)}\n"
    yield f"What was tried: {words.tried}\n"
    yield f"What it would need: {words.needed}\n"

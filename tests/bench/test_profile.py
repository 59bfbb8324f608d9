"""Profiles say where CPU time goes: the parts of recorded stacks, the tables, and a short run of each."""

from __future__ import annotations

import math
import os
import signal
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path

import grpc
import pytest

from tests.bench.profile import parts, run
from tests.bench.profile.parts import part_of_stack, part_of_thread
from tests.bench.profile.processes import clocks, family
from tests.bench.profile.results import Profile, ThreadUse, Use, read_profiles, write_profile
from tests.bench.profile.run import profile
from tests.bench.profile.stacks import module_path, read_stacks
from tests.bench.profile.tables import parts_table, summary, threads_table
from tests.bench.profile.waits import ELSE, EVENTS, LOCK, LOCK_OF_PYTHON, SYNC, cause
from tests.bench.profile.works import WORKS, Load
from tests.bench.servers import Servers

pytestmark = pytest.mark.anyio
needs_counts = pytest.mark.skipif(
    not Path("/proc/self/schedstat").exists(), reason="needs the scheduler's counts of Linux"
)

HEAD = "Stack (most recent call first):\n"
SERVICERS = "servicers: the write's identity, hand-over to the store"
LOOP = """\
  File "/usr/lib/python3.11/asyncio/runners.py", line 118 in run
  File "/a/clone/clients/python/antiphon_client/edge/process.py", line 55 in run
  File "/a/clone/history_service/__main__.py", line 53 in main
"""
THREAD = """\
  File "/usr/lib/python3.11/threading.py", line 982 in run
  File "/usr/lib/python3.11/threading.py", line 1045 in _bootstrap_inner
"""


def part_of(*frames: tuple[str, str], below: str = LOOP) -> str:
    """The part of a recorded stack whose innermost frames, as file and function, come first."""
    text = "".join(f'  File "{file}", line 7 in {function}\n' for file, function in frames)
    ((stack, count),) = read_stacks(f"{HEAD}{text}{below}").items()
    assert count == 1
    return part_of_stack(stack)


def test_stacks_are_counted_and_their_modules_named_alike_wherever_they_lie() -> None:
    ours, installed = (
        f'{HEAD}  File "{folder}/antiphon_client/ids.py", line {line} in new_id\n{LOOP}'
        for folder, line in (("/b/clients/python", 1), ("/c/lib/python3.11/site-packages", 2))
    )
    found = read_stacks(f'{ours}{installed}{HEAD}  File "/usr/lib/python3.11/uuid.py", li')
    assert list(found.values()) == [2]
    (stack,) = found
    assert stack[:2] == (("antiphon_client/ids.py", "new_id"), ("asyncio/runners.py", "run"))
    assert module_path("history_service/domain/writes.py") == "history_service/domain/writes.py"
    assert module_path("tests/bench/echo.py") == "tests/bench/echo.py"


@pytest.mark.parametrize(
    ("file", "function", "part"),
    [
        ("antiphon_client/edge/methods.py", "read", "request: parsing, unknown fields"),
        ("antiphon_client/edge/gate.py", "admit", "edge: places, limits, metrics, the call's context"),
        ("history_service/request_checks.py", "check", "validation of requests and messages"),
        ("history_service/domain/prepared.py", "_prepare", "messages: ids, times, encoding"),
        ("history_service/domain/membership.py", "add", "rule: what a write does to branches and mailboxes"),
        ("history_service/storage/sqlite/writer.py", "_commit", "SQLite: statements, commit, log"),
        ("history_service/storage/sqlite/writer.py", "_run", "store: rows, groups, the writer's thread"),
        ("history_service/servicer.py", "_write", SERVICERS),
        ("compiler_service/folded/fold.py", "fold", "compiler: folding"),
        ("antiphon_client/cli/app.py", "main", "other"),
    ],
)  # fmt: skip
def test_the_innermost_frame_that_the_table_knows_decides(file: str, function: str, part: str) -> None:
    library = ("/usr/lib/python3.11/json/encoder.py", "encode")
    expected = part if part != "other" else parts.LIBRARY
    assert part_of((file, function)) == part_of(library, (file, function)) == expected
    assert part_of((file, function), below=THREAD) == part
    assert part_of((file, function), ("history_service/timely.py", "begin")) == (
        SERVICERS if part == "other" else part
    )


def test_what_no_frame_of_ours_stands_for_is_of_the_loop_or_of_grpc() -> None:
    wait = ("/usr/lib/python3.11/asyncio/tasks.py", "wait")
    assert part_of() == parts.COMPILED
    assert part_of(wait) == parts.LIBRARY
    assert part_of(below=THREAD) == parts.GRPC_THREADS
    pool = ("/usr/lib/python3.11/concurrent/futures/thread.py", "_worker")
    told = ("/usr/lib/python3.11/asyncio/futures.py", "_call_set_state")
    assert part_of(pool, below=THREAD) == parts.OTHER
    assert part_of(told, pool, below=THREAD) == parts.LIBRARY
    assert part_of_thread("event_engine") == part_of_thread("grpc_global_tim") == parts.GRPC_THREADS
    assert part_of_thread("python") == parts.OTHER


def test_the_table_names_modules_that_there_are() -> None:
    root = Path(__file__).parents[2]
    for start, _ in parts.TABLE:
        path, _, function = start.partition(":")
        (found, *_) = [*root.glob(f"{path}*"), *root.glob(f"clients/python/{path}*")]
        assert not function or f"def {function}(" in found.read_text("utf-8"), start


@pytest.mark.parametrize(
    ("call", "machine", "waits"),
    [
        ("running", "x86_64", None),
        ("202 0x7f 0x189 0x0 0x7ffd 0x0 0xffff 0x7f 0x7f", "x86_64", LOCK_OF_PYTHON),
        ("202 0x7f 0x189 0x0 0x0 0x0 0xffff 0x7f 0x7f", "x86_64", LOCK),
        ("75 0x7 0x0 0x0 0x0 0x0 0x0 0x7f 0x7f", "x86_64", SYNC),
        ("281 0x7 0x0 0x0 0x0 0x0 0x0 0x7f 0x7f", "x86_64", EVENTS),
        ("83 0x7 0x0 0x0 0x0 0x0 0x0 0x7f 0x7f", "aarch64", SYNC),
        ("75 0x7 0x0 0x0 0x0 0x0 0x0 0x7f 0x7f", "aarch64", ELSE),
        ("75 0x7 0x0 0x0 0x0 0x0 0x0 0x7f 0x7f", "riscv64", ELSE),
    ],
)
def test_a_thread_waits_for_what_its_system_call_says(call: str, machine: str, waits: str | None) -> None:
    assert cause(call, machine) == waits


def made(**asleep: dict[str, int]) -> Profile:
    """A profile of 1,000 units in 10 s: 4 ms a unit, 1 ms of it gRPC's; the floor's take 2 ms."""
    sqlite = parts.part_of_stack((("history_service/storage/sqlite/pending.py", "write_rows"),))
    main = {parts.COMPILED: 1.0, parts.OTHER: 2.0}
    threads = {
        "history: MainThread": ThreadUse(3.0, 1.0, 10.0, main, asleep.get("main", {})),
        "history: history-writer": ThreadUse(0.99, 0.0, 20.0, {sqlite: 0.99}, asleep.get("writer", {})),
        "history: rare": ThreadUse(0.01, 0.0, 10.0, {parts.OTHER: 0.01}),
    }
    floor = Use(
        2_000, 10.0, 1.0, 0, 0, {"floor: MainThread": ThreadUse(4.0, 0.0, 10.0, {parts.COMPILED: 4.0})}
    )
    ours = Use(1_000, 10.0, 0.5, 200, 1_000, threads)
    return Profile(ours, floor, "python -m it", "2026-11-30", "2 CPUs", {"a broker": 2_000.0})


def test_a_table_has_ours_beside_the_floor_in_the_order_of_a_call() -> None:
    rows = parts_table(WORKS["append"], made()).splitlines()[2:]
    assert rows == [
        f"| {parts.COMPILED} | 2,000 µs | 1,000 µs | 25% |",
        "| SQLite: statements, commit, log |  | 990 µs | 25% |",
        "| other |  | 2,010 µs | 50% |",
        "| **all** | **2,000 µs** | **4,000 µs** |  |",
    ]


def test_a_summary_tells_rates_costs_and_syncs() -> None:
    text = summary(WORKS["mailbox"], made(main={EVENTS: 1}))
    assert "- ours: 100.0 a second" in text
    assert "4,000 µs of CPU each, and 500 µs of the load generator's" in text
    assert "- floor: 200.0 a second" in text
    assert "over that of the floor: 2.00" in text
    assert "- 20 syncs of the log a second, 5.0 writes each" in text
    assert "a broker, 2,000 messages/s" in text
    assert "cannot be read here" not in text
    assert "cannot be read here" in summary(WORKS["mailbox"], made())


def test_threads_are_asleep_for_what_they_were_found_in() -> None:
    rows = threads_table(made(main={LOCK_OF_PYTHON: 1, EVENTS: 3})).splitlines()[2:]
    assert rows == [
        # On a CPU for 3 of 10 s, ready for 1; the others by a quarter and three quarters.
        "| history: MainThread | 3,000 µs | 30% | 10% | 15% |  | 45% |  |  |",
        # Two threads of a kind, 20 s in all.
        "| history: history-writer | 990 µs | 5% |  | ? | ? | ? | ? | ? |",
    ]


def test_profiles_are_kept_side_by_side(tmp_path: Path) -> None:
    results = tmp_path / "profiles.json"
    assert read_profiles(results) == {}
    write_profile("batch", made(), results)
    write_profile("append", made(main={SYNC: 2}), results)
    assert read_profiles(results) == {"append": made(main={SYNC: 2}), "batch": made()}


@needs_counts
@pytest.mark.parametrize("name", ["append", "compile"])
async def test_a_run_finds_both_sides_and_all_of_their_time(name: str) -> None:
    found = await profile(
        WORKS[name], seconds=2.0, rounds=1, command="it", say=lambda _text: None, with_peers=False
    )
    for use in (found.ours, found.floor):
        assert use.units > 0
        assert math.isclose(sum(use.parts().values()), use.cost)
    shares = Counter(found.ours.parts())
    known = [part for part in shares if part != parts.OTHER and not parts.of_grpc(part)]
    assert known
    assert shares[parts.OTHER] < 0.5 * found.ours.cost
    assert found.floor.parts()[parts.COMPILED] > 0


@needs_counts
async def test_a_server_that_ends_is_begun_again_and_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "ATTEMPTS", 2)
    left = [True, False]
    said: list[str] = []

    async def load(servers: Servers) -> Load:
        if left.pop(0):
            os.kill(servers.pids["floor"], signal.SIGKILL)
        return await WORKS["mailbox"].load(servers)

    work = replace(WORKS["mailbox"], load=load)
    found = await profile(work, seconds=0.1, rounds=1, command="it", say=said.append, with_peers=False)
    assert found.floor.units > 0
    assert any("attempt 2" in text for text in said)
    left += [True] * run.ATTEMPTS
    with pytest.raises(grpc.aio.AioRpcError):
        await profile(work, seconds=0.1, rounds=1, command="it", say=said.append, with_peers=False)
    assert left == []


@needs_counts
def test_clocks_are_of_every_thread_of_a_process_and_of_those_it_started() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        try:
            assert set(family(os.getpid())) >= {os.getpid(), child.pid}
        finally:
            child.kill()
    assert clocks(os.getpid())[os.getpid()].ran > 0

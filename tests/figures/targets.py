"""What every figure must reach: the one list that harnesses, results files and the page share."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reliability:
    """A promise that a harness holds the services to.

    Attributes:
        figure: What is done.
        target: What must come of it.
        least: How many of it there must be.
        command: The long form that is written down.
        caught: The faults that the harness is shown to catch, by its own ``--mutant`` or by a test.
    """

    figure: str
    target: str
    least: int
    command: str
    caught: str


RELIABILITY: dict[str, Reliability] = {
    "kills": Reliability(
        "kill -9 of the history process during acknowledged appends",
        "≥ 1,000 kills, 0 acknowledged lost, doubled or moved",
        1_000,
        "python -m tests.crash.kills --kills 1000 --record",
        "an answer before its commit",
    ),
    "power_cuts": Reliability(
        "simulated power cuts at any I/O, torn 512-byte sectors",
        "≥ 10,000 cuts, 0 lost, 0 corrupt",
        10_000,
        "python -m tests.crash.power_cuts --cuts 10000 --record",
        "`synchronous=NORMAL`; an answer before its commit",
    ),
    "postgres_stops": Reliability(
        "immediate stops of PostgreSQL during acknowledged appends",
        "≥ 50 stops, 0 acknowledged lost",
        50,
        "python -m tests.crash.postgres_stops --stops 50 --record",
        "a commit that does not wait for the disk",
    ),
    "failovers": Reliability(
        "failovers of PostgreSQL to a quorum standby during acknowledged appends",
        "≥ 10 failovers, 0 acknowledged lost",
        10,
        "python -m tests.crash.failovers --failovers 10 --record",
        "a primary that does not wait for a standby",
    ),
    "racing_writers": Reliability(
        "32 writers on one branch, 1,000 appends each",
        "≥ 32,000 appends, revisions dense, one winner a revision",
        32_000,
        "python -m tests.crash.racing --record",
        "a write that does not look at the expected revision; an append answered and not stored",
    ),
    "racing_systems": Reliability(
        "32 writers that set the system of one branch",
        "≥ 1,000 times, exactly one system at every revision",
        1_000,
        "python -m tests.crash.racing --record",
        "a system answered and not stored",
    ),
    "retried_requests": Reliability(
        "requests sent again: one after the other, at the same time, and across a restart",
        "≥ 100,000 retries, 0 double effects, the same response",
        100_000,
        "python -m tests.crash.retries --retries 100000 --record",
        "a service that records no requests; one that knows them until it ends",
    ),
    "malformed_requests": Reliability(
        "malformed and random requests, ≥ 30 % past parsing",
        "≥ 1,000,000 requests to three services, 0 crashes, 0 UNKNOWN, 0 INTERNAL, 0 exception texts",
        1_000_000,
        "python -m tests.fuzz --count 334000 --record",
        "an exception, an unknown field in a reply, a status without a reason",
    ),
    "programs_sqlite": Reliability(
        "the same random program on memory, SQLite and the model",
        "≥ 10,000 programs, equal answers",
        10_000,
        "python -m tests.conformance.programs --programs 10000 --record",
        "a store that clears a branch in part",
    ),
    "programs_postgres": Reliability(
        "the same random program on memory, PostgreSQL and the model",
        "≥ 10,000 programs, equal answers",
        10_000,
        "python -m tests.conformance.programs --store postgres --programs 10000 --record",
        "as for SQLite",
    ),
    "determinism": Reliability(
        "snapshots compiled in 4 processes with different hash seeds, digests checked in 2 languages",
        "≥ 2,000 snapshots, one digest each",
        2_000,
        "python -m tests.polyglot.determinism --snapshots 2000 --record",
        "an order that depends on the hash seed; a digest over other bytes",
    ),
    "soak": Reliability(
        "a mixed load on both services",
        "1 h: memory flat, write-ahead log bounded, p99 drift < 10 % by the clock or over a bare echo",
        3_600,
        "python -m tests.load.soak --seconds 3600 --record",
        "a service that keeps something of every write",
    ),
}
"""By the key that `record_figure` takes, in the order of the page."""


@dataclass(frozen=True, slots=True)
class Speed:
    """A figure of speed and the bench's rows that measure it.

    Attributes:
        figure: What is done.
        target: What must be reached.
        rows: What the ``work`` of its rows begins with, a pattern.
        group: The bench's group that measures it, for ``--only``.
        short: Why a row falls short, where one does.
        profile: Its heading in the page of profiles, where it has one.
    """

    figure: str
    target: str
    rows: re.Pattern[str]
    group: str
    short: str = ""
    profile: str = ""


SPEED = (
    Speed(
        "durable append, 64 callers, 1 message a call",
        "≥ 0.65 × the bare echo's rate",
        re.compile(r"durable append, 1 message a call, 64 callers"),
        "append",
        "On top of an echo's call come the edge (parsing, unknown fields, limits, admission, the log's "
        "context), the write's rule and its record of the request id: CPU time of one process, not the disk.",
        "append",
    ),
    Speed(
        "batched append, 64 messages a call, 8 callers",
        "≥ 9 × the bare echo's call rate, in messages",
        re.compile(r"durable append, 64 messages a call"),
        "append",
        "Every message is validated, given its id and time, and encoded anew; in Python that is most of it.",
        "batch",
    ),
    Speed(
        "append cost and branch length",
        "10,000th append ≤ 1.1 × the 10th",
        re.compile(r"append to a branch of"),
        "length",
    ),
    Speed(
        "snapshot of 10,000 messages",
        "≤ 1.3 × a bare stream of the same bytes",
        re.compile(r"snapshot of .*(raw frames|decoded)"),
        "snapshot",
        "Frames are kept from the read before; what remains beside the bare stream is the edge.",
    ),
    Speed(
        "compile 1,000 messages, cold",
        "≥ 15 × faster than the reference",
        re.compile(r"compile cold, 1,000"),
        "compile",
        "The messages are at the compiler after some 4 ms, of which the history service reads for 2; a "
        "worker process and the service then fold at once, and the reply takes 1 ms. Without tools there is "
        "little to fold, and the reference takes half as long, so that 6 ms of hand-overs between three "
        "processes weigh more.",
        "compile",
    ),
    Speed(
        "compile 10,000 messages, one new since the last compile",
        "≥ 200 × with tools, ≥ 15 × without",
        re.compile(r"compile warm, 10,000"),
        "compile",
        "Half of it is the reply's way to the caller: 2.2 MB with tools.",
    ),
    Speed(
        "native projection of 1,000 messages, in-process",
        "≤ 1 × the fastest peer",
        re.compile(r"project 1,000 messages"),
        "projection",
    ),
    Speed(
        "mailbox send + receive + ack, batch 64",
        "≥ Redis streams with AOF always",
        re.compile(r"mailbox"),
        "mailbox",
        "A Send is a gRPC call of its own, and the contract has no batch of them; Redis takes 64 commands in "
        "one round trip.",
        "mailbox",
    ),
    Speed(
        "durable append beside the sessions of agent frameworks",
        "measured, no bound",
        re.compile(r"append a message"),
        "sessions",
    ),
)
"""In the order of the page."""

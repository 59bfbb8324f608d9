"""What is said of each profile: what bounds it, by its own numbers; what was tried; what it would need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.bench.append import BATCH
from tests.bench.mailbox import BATCH as LETTERS
from tests.bench.profile.parts import of_grpc
from tests.bench.profile.results import Profile, Use
from tests.bench.profile.tables import format_time


@dataclass(frozen=True, slots=True)
class Words:
    """What is said of a profile.

    Attributes:
        bound: Makes the sentences on what bounds the row.
        tried: What was done and tried for it.
        needed: What it would take.
    """

    bound: Callable[[Profile], str]
    tried: str
    needed: str


def _append(found: Profile) -> str:
    shared = sum(seconds for part, seconds in found.ours.parts().items() if of_grpc(part))
    own = found.ours.cost - shared
    allowed = found.floor.cost / 0.65
    return (
        f"CPU time of one process. Of the {format_time(found.ours.cost)} of a call {format_time(shared)} are "
        f"gRPC's and the loop's, as the whole of an echo is ({format_time(found.floor.cost)}), and "
        f"{format_time(own)} are ours. At 0.65 of the echo's rate by CPU a call may take "
        f"{format_time(allowed)}, which leaves {format_time(max(0.0, allowed - shared))} for all that is "
        f"ours. {_one_lock(found)} The disk is waited for by the writer's thread alone, while the next "
        "writes gather."
    )


def _batch(found: Profile) -> str:
    echoes = BATCH / 9
    return (
        f"CPU time again, and on one CPU. 9 messages for an echo's call are {BATCH} in {echoes:.1f} echoes, "
        f"{format_time(echoes * found.floor.cost)} of CPU; a call takes {format_time(found.ours.cost)}, "
        f"{found.ours.cost / found.floor.cost:.1f} echoes. What gRPC takes is shared by {BATCH} messages; "
        "the others, a few microseconds a message each, are checking it, making its id, time and bytes, and "
        f"writing its two rows. {_one_lock(found)} Nor does the load generator fill a second CPU, as it does "
        f"beside echoes: it takes {format_time(found.ours.client / found.ours.units)} a call, and "
        f"{format_time(echoes * found.floor.client / found.floor.units)} for {echoes:.1f} echoes."
    )


def _one_lock(found: Profile) -> str:
    """Say what of a call's time is under the interpreter's lock, beside the same of an echo."""
    ours, floor = (_of_threads(use, *_PYTHON) for use in (found.ours, found.floor))
    return (
        f"The loop's thread and the writer's, {format_time(ours)} together, take "
        "turns for the interpreter's lock but while SQLite and the system work, so that a second CPU takes "
        f"little of it over; an echo's loop has {format_time(floor)}."
    )


_PYTHON = (": MainThread", ": history-writer")
"""How the names of the threads that run Python for a write end."""


def _of_threads(use: Use, *ends: str) -> float:
    """CPU time of threads, in seconds a unit."""
    return sum(thread.ran for name, thread in use.threads.items() if name.endswith(ends)) / use.units


def _mailbox(found: Profile) -> str:
    most = LETTERS * found.floor.rate
    said = ", ".join(f"{name} {rate:,.0f}" for name, rate in found.beside.items())
    return (
        f"The number of calls. {LETTERS + 2} echoes in the shape of a batch ({LETTERS} at once, then two one "
        f"after the other) gave {most:,.0f} messages/s in this run: what a service would reach whose Send, "
        f"Lease and Acknowledge did nothing. Beside it, in the same run: {said or 'no broker was there'}. "
        f"Ours took {found.ours.cost / found.floor.cost:.1f} times the CPU of these echoes."
    )


def _compile(found: Profile) -> str:
    reference = next(iter(found.beside.values()), None)
    asked = (
        "The reference package was not there in this run."
        if reference is None
        else f"The reference package took {reference:,.0f} ms in the same run, a fifteenth of which is "
        f"{reference / 15:.1f} ms."
    )
    return (
        f"{asked} A compilation takes {format_time(found.ours.cost)} of CPU in three processes, which two "
        f"CPUs cannot do in less than {format_time(found.ours.cost / 2)}, and could only if nothing waited "
        f"for anything; it took {format_time(1 / found.ours.rate)} by the clock. Between the two are the "
        "way of the messages to the compiler, while one process works and the other waits, and threads that "
        "are ready and have no CPU."
    )


WORDS = {
    "append": Words(
        _append,
        "Writes share a commit and the loop hands them over in bundles; the rows of a group go into the "
        "database with few statements; a plain message has no changeset; the edge stands around the handlers "
        "instead of in gRPC's chain of interceptors; metrics are plain arithmetic. A commit timer only adds "
        "its own length, and two processes that write one SQLite file gain nothing.",
        "Less Python a call: the edge and the checks in compiled code, or an interpreter without the one "
        "lock, where the writer's thread would run beside the loop's.",
    ),
    "batch": Words(
        _batch,
        "Ids and times are made for a batch at once, one statement writes up to 64 rows, ids made by the "
        "service are ordered by time so that fewer index pages change.",
        "Checking and encoding of messages in compiled code, or a store with fewer rows and index entries a "
        "message. A store of one table clustered by branch and place was measured at a quarter of the rate.",
    ),
    "mailbox": Words(
        _mailbox,
        "All Sends of a batch are under way at once and share commits; a batch is leased and acknowledged "
        "with one call each.",
        "A batch of Sends in the contract, a call with 64 messages, as AddMessages is for branches; without "
        "one, nothing behind this gRPC server passes the echoes above.",
    ),
    "compile": Words(
        _compile,
        "Half of the messages are folded by a worker process; plain messages are read by one search over "
        "their bytes; a short snapshot is read whole where it is opened and travels as one message. The "
        "other half is folded on the event loop: a thread woken for it waited for up to 4 ms behind the "
        "worker in every second run, until the system's next tick. A lower or longer time slice of the "
        "worker (nice, idle class) gave no clear gain.",
        "A third CPU, or folding in compiled code; and one hop less would save the snapshot's way, but the "
        "compiler has no history of its own by design.",
    ),
}
"""By work, in the order of the page."""

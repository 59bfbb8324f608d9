"""Which part of the code a stack belongs to: one table, by module path.

The innermost frame that the table knows decides. Frames that it leaves out are those
of libraries: what they do belongs to whoever called them, so that a dataclass or a
hash counts for the module that uses it. Compiled code has no frame of its own either:
SQLite's time is that of the function that runs the statement, protobuf's that of the
one that parses or encodes. Only gRPC and uvloop are not called from Python: they are
what is left when nothing stands between the loop's start and the end of the stack.
"""

from __future__ import annotations

import itertools

from tests.bench.profile.stacks import Frame, Stack

COMPILED = "gRPC and the event loop, compiled (C core, grpc.aio, uvloop)"
LIBRARY = "asyncio and grpc.aio, what of them is Python"
GRPC_THREADS = "gRPC's own threads (poller, event engine)"
OTHER = "other"

_PARSING = "request: parsing, unknown fields"
_EDGE = "edge: places, limits, metrics, the call's context"
_VALIDATION = "validation of requests and messages"
_MAKING = "messages: ids, times, encoding"
_SERVICER = "servicers: the write's identity, hand-over to the store"
_RULE = "rule: what a write does to branches and mailboxes"
_ROWS = "store: rows, groups, the writer's thread"
_SQLITE = "SQLite: statements, commit, log"
_FRAMES = "snapshot frames of the history service"
_PULL = "compiler: reading and checking the snapshot"
_FOLD = "compiler: folding"
_WORKERS = "compiler: to and from the worker processes"
_REPLY = "compiler: request, report, reply"
_ECHO = "the echo's own handler"

TABLE: tuple[tuple[str, str], ...] = (
    ("antiphon_client/edge/methods.py", _PARSING),
    ("antiphon_client/edge/unknown_fields.py", _PARSING),
    ("antiphon_client/edge/", _EDGE),
    ("antiphon_client/messages/validation/", _VALIDATION),
    ("antiphon_client/json_text.py", _VALIDATION),
    ("history_service/request_checks.py", _VALIDATION),
    ("history_service/exchange_checks.py", _VALIDATION),
    ("history_service/domain/prepared.py", _MAKING),
    ("history_service/encoding.py", _MAKING),
    ("history_service/exchange_encoding.py", _MAKING),
    ("antiphon_client/ids.py", _MAKING),
    ("history_service/domain/", _RULE),
    ("history_service/storage/sqlite/writer.py:_begin", _SQLITE),
    ("history_service/storage/sqlite/writer.py:_commit", _SQLITE),
    ("history_service/storage/sqlite/writer.py:_copy_log", _SQLITE),
    ("history_service/storage/sqlite/pending.py:write_rows", _SQLITE),
    ("history_service/storage/sqlite/reading.py", _SQLITE),
    ("history_service/storage/sqlite/exchange.py", _SQLITE),
    ("history_service/storage/", _ROWS),
    ("history_service/snapshot_", _FRAMES),
    ("history_service/delta_stream.py", _FRAMES),
    ("history_service/", _SERVICER),
    ("antiphon_client/snapshot", _PULL),
    ("compiler_service/source.py", _PULL),
    ("compiler_service/cache/", _PULL),
    ("compiler_service/workers/", _WORKERS),
    ("compiler_service/folded/", _FOLD),
    ("compiler_service/passes/", _FOLD),
    ("compiler_service/json_values.py", _FOLD),
    ("compiler_service/neutral.py", _FOLD),
    ("compiler_service/texts.py", _FOLD),
    ("compiler_service/display_text.py", _FOLD),
    ("antiphon_client/minimal_yaml/", _FOLD),
    ("antiphon_client/messages/", _FOLD),
    ("compiler_service/", _REPLY),
    ("tests/bench/echo.py", _ECHO),
)
"""The beginning of a module's path, with ``:function`` where a part is a function, and the part's name.

The first that fits counts.
"""

_THREADS = ("event_engine", "grpc_", "lifeguard", "resolver", "default-executo")
"""How the names of threads that gRPC makes without Python begin."""
_LOOP = ("asyncio/runners.py", "run")
_THREAD = "threading.py"


def part_of_stack(stack: Stack) -> str:
    """The part of the code that a stack is in."""
    inner = tuple(itertools.takewhile(_is_inner, stack))
    for frame in inner:
        part = _part_of_frame(frame)
        if part:
            return part
    if any(path.startswith("asyncio/") for path, _ in stack):
        return LIBRARY if inner else COMPILED
    # Python began the thread and runs nothing of its own in it: gRPC's poller.
    return GRPC_THREADS if stack and not inner else OTHER


def part_of_thread(name: str) -> str:
    """The part of a thread that Python did not begin, by the kernel's name of it."""
    return GRPC_THREADS if name.startswith(_THREADS) else OTHER


def of_grpc(part: str) -> bool:
    """Whether a part is what a bare echo consists of, too."""
    return part in (COMPILED, LIBRARY, GRPC_THREADS)


def place(part: str) -> int:
    """Where a part stands in a table: gRPC first, then the table's order, what is not known last."""
    return _ORDER.index(part)


def _is_inner(frame: Frame) -> bool:
    """Whether a frame was called from the event loop or the thread's start, and is not one of these."""
    return frame != _LOOP and frame[0] != _THREAD


def _part_of_frame(frame: Frame) -> str | None:
    name = ":".join(frame)
    return next((part for start, part in TABLE if name.startswith(start)), None)


_ORDER = list(dict.fromkeys((COMPILED, LIBRARY, GRPC_THREADS, *(part for _, part in TABLE), OTHER)))

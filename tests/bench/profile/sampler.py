"""The sampler inside of a process: a thread's Python stack after every `INTERVAL` of its CPU time.

Each thread has a POSIX timer over its own CPU clock, which sends a signal to that
thread; the signal's handler is faulthandler's, in C, and writes the stack at once,
without the interpreter's lock. One signal and one file a thread: the stacks do not say
whose they are. Linux only. A stack of 20 frames costs some 0.2 ms, a service some 2 % more CPU.

For profiles only: up to CPython 3.12 a thread that enters the interpreter has, for a few
instructions, no frame where its frame is looked for. A signal just then reads what is
there and may end the process; it did so once in some 50,000 stacks, and more often while
modules were imported, so that nothing is sampled before the load.
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import threading
import time
from pathlib import Path

FOLDER = "ANTIPHON_BENCH_PROFILE"
"""The variable that names the folder of the stacks; without it nothing is sampled."""
SAMPLER = "profile-sampler"
"""The name of the sampler's own thread."""
INTERVAL = 0.02
"""CPU time of a thread between two of its stacks, in seconds."""
_LOOK_SECONDS = 0.05
"""How often new threads are looked for."""
_STARTED = "started"
"""The file whose presence starts the samplers."""
_SIGEV_THREAD_ID = 4


class _Event(ctypes.Structure):
    """``struct sigevent``."""

    _fields_ = (
        ("value", ctypes.c_void_p),
        ("signal", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("thread", ctypes.c_int),
        ("padding", ctypes.c_byte * 44),
    )


class _Time(ctypes.Structure):
    """``struct timespec``."""

    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


class _Timing(ctypes.Structure):
    """``struct itimerspec``."""

    _fields_ = (("interval", _Time), ("first", _Time))


def stacks_file(folder: Path, pid: int, thread: int) -> Path:
    """Where a thread's stacks are written."""
    return folder / f"{pid}-{thread}.stacks"


def name_file(folder: Path, pid: int, thread: int) -> Path:
    """Where a thread's name in Python is written."""
    return folder / f"{pid}-{thread}.name"


def start(folder: Path) -> None:
    """Let the processes that write into a folder sample themselves from now on."""
    (folder / _STARTED).touch()


def begin() -> None:
    """Sample this process from `start` until its end, if the variable `FOLDER` names a folder."""
    folder = os.environ.get(FOLDER)
    if folder:
        threading.Thread(target=_watch, args=(Path(folder),), name=SAMPLER, daemon=True).start()


def _watch(folder: Path) -> None:
    """Arm every thread as it comes, this one not; those that no signal is left for are not sampled."""
    signals = iter(range(signal.SIGRTMIN + 1, signal.SIGRTMAX))
    known: set[int] = set()
    while not (folder / _STARTED).exists():
        time.sleep(_LOOK_SECONDS)
    while True:
        for thread in threading.enumerate():
            native_id = thread.native_id
            if thread.ident is None or native_id is None or native_id in known:
                continue
            known.add(native_id)
            name_file(folder, os.getpid(), native_id).write_text(thread.name, "utf-8")
            number = None if thread.name == SAMPLER else next(signals, None)
            if number is not None:
                _arm(thread.ident, native_id, number, stacks_file(folder, os.getpid(), native_id))
        time.sleep(_LOOK_SECONDS)


def _arm(ident: int, native_id: int, number: int, path: Path) -> None:
    """Let a thread write its stack into a file from now on."""
    faulthandler.register(number, file=path.open("wb"), all_threads=False)
    libc = ctypes.CDLL(None, use_errno=True)
    timer = ctypes.c_void_p()
    event = _Event(None, number, _SIGEV_THREAD_ID, native_id)
    clock = time.pthread_getcpuclockid(ident)
    if libc.timer_create(clock, ctypes.byref(event), ctypes.byref(timer)):
        raise OSError(ctypes.get_errno(), "a timer over a thread's CPU time cannot be made")
    each = _Time(0, int(INTERVAL * 1e9))
    if libc.timer_settime(timer, 0, ctypes.byref(_Timing(each, each)), None):
        raise OSError(ctypes.get_errno(), "a timer over a thread's CPU time cannot be set")

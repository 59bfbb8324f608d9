"""What a figure was measured under: the day, the machine, and how busy it was."""

from __future__ import annotations

import datetime
import os
import platform


def today() -> str:
    """Return the day, ISO 8601, UTC."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def load() -> str:
    """Return how many processes ran or waited in the last minute, on average; 1 is one busy CPU."""
    return f"load {os.getloadavg()[0]:.1f}"


def conditions() -> str:
    """Return what the figures of this machine depend on."""
    return f"{os.cpu_count()} CPUs, {platform.system()}, CPython {platform.python_version()}, {load()}"

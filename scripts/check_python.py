"""Says what this machine lacks to make a virtual environment; exit status 0 when nothing.

Runs before there is an environment, with whatever Python the machine has: only the
standard library, and no syntax newer than Python 3.6.
"""

import importlib.util
import sys

FLOOR = (3, 11)


def missing() -> str:
    """What is missing and how to get it, in words; empty when nothing is."""
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if sys.version_info[:2] < FLOOR:
        return (
            f"Antiphon needs Python {FLOOR[0]}.{FLOOR[1]} or newer; {sys.executable} is {version}.\n"
            "Name another one: make setup PYTHON=/path/to/python3.11"
        )
    if not all(importlib.util.find_spec(name) for name in ("venv", "ensurepip")):
        return (
            f"{sys.executable} cannot make virtual environments. On Debian or Ubuntu:\n"
            f"  apt-get install python{version}-venv"
        )
    return ""


if __name__ == "__main__":
    sys.exit(missing() or 0)

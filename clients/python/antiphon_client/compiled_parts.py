"""The parts that are compiled from C, where the machine that installed the package had a compiler.

Each does what a function in Python does as well, for what is common, and gives the
same bytes; so the only thing that depends on them is time. They stand beside the
modules that use them, ``_compiled.c``, and are built with the package (``scripts/compiled_parts.py``).
"""

from __future__ import annotations

import importlib
import os
from typing import Any

WITHOUT = "ANTIPHON_WITHOUT_COMPILED_PARTS"
"""The environment variable that has all of them left alone, where it is not empty."""


def compiled_part(name: str) -> Any:
    """Return a compiled module; None where there is none, or none is to be used.

    What is in one says its C source; no type checker reads that.

    Args:
        name: The module's name, with its packages.
    """
    if os.environ.get(WITHOUT):
        return None
    try:
        return importlib.import_module(name)
    except ImportError:
        return None

"""Package exports that load their module on first use.

The services need a few modules of these packages only; without this, importing
any of them would load the whole SDK, which doubles a process's start.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_exports(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Make the ``__getattr__`` of a package.

    Args:
        package: The package's ``__name__``.
        modules: Export to the full name of the module that defines it.

    Returns:
        A function that loads an export and keeps it in the package; it raises
        AttributeError for any other name.
    """

    def load(name: str) -> Any:
        module = modules.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(module), name)
        setattr(sys.modules[package], name, value)
        return value

    return load

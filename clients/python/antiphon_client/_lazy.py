"""Package exports that are loaded on first use.

The services need a few modules of these packages only; without this, importing
any of them would load the whole SDK, which doubles a process's start. What such
a package offers stands in one place, the imports of its module ``_exports``.
"""

import sys
from importlib import import_module


def load_export(package: str, name: str) -> object:
    """Return an export of a package and keep it there; ``__all__`` is the list of their names.

    Raises:
        AttributeError: There is no such export.
    """
    value: object
    if name == "__all__":
        value = export_names(package)
    elif not name.startswith("_") and name in export_names(package):
        value = getattr(_exports(package), name)
    else:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    setattr(sys.modules[package], name, value)
    return value


def export_names(package: str) -> list[str]:
    """Return the names of a package's exports."""
    return sorted(name for name in vars(_exports(package)) if not name.startswith("_"))


def _exports(package: str) -> object:
    return import_module(f"{package}._exports")

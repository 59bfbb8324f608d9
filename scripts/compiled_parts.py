"""Builds the parts of the packages that are compiled from C, beside their sources.

    python scripts/compiled_parts.py          build them with the machine's compiler, for this Python
    python scripts/compiled_parts.py check    fail if the compiler has a word to say about them

Without a compiler or Python's headers nothing is built and the exit status is 0: Antiphon does
the same without these parts, only slower (``antiphon_client.compiled_parts``). A wheel is built
with them through the hook at the end of this module.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess  # nosec B404: the machine's own compiler
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCES = (
    "clients/python/antiphon_client/minimal_yaml/_compiled.c",
    "compiler_service/_compiled.c",
    "compiler_service/folded/_compiled.c",
)
WARNINGS = ("-Wall", "-Wextra", "-Wno-unused-parameter", "-Wno-missing-field-initializers", "-Werror")
HOW = "apt-get install gcc libc6-dev python3-dev, and then: make compiled-parts"


class NotBuiltError(Exception):
    """A part could not be built; the message says why, in a line or the compiler's words."""


def build(root: Path) -> list[Path]:
    """Build all parts below a root and return their paths.

    Raises:
        NotBuiltError: One of them could not be; those built before stay.
    """
    return [_build_one(root / source) for source in SOURCES]


def _build_one(source: Path) -> Path:
    target = source.with_name(source.stem + str(sysconfig.get_config_var("EXT_SUFFIX")))
    with tempfile.TemporaryDirectory(dir=source.parent, prefix=".compiled-") as folder:
        made = Path(folder) / target.name
        _compile(source, made, ())
        # At once, and as a new file: a running process keeps the one that it has loaded.
        os.replace(made, target)
    return target


def check(root: Path) -> None:
    """Compile all parts with the compiler's warnings as errors, and keep nothing.

    Raises:
        NotBuiltError: There are some, or there is no compiler.
    """
    with tempfile.TemporaryDirectory() as folder:
        for source in SOURCES:
            _compile(root / source, Path(folder) / "checked.so", WARNINGS)


def _compile(source: Path, target: Path, options: tuple[str, ...]) -> None:
    """Compile and link a source as an extension module of this Python."""
    linker = shlex.split(sysconfig.get_config_var("LDSHARED") or "cc -shared")
    linker[:1] = shlex.split(os.environ.get("CC", "")) or linker[:1]
    shared = shlex.split(sysconfig.get_config_var("CCSHARED") or "")
    include = [f"-I{sysconfig.get_path(name)}" for name in ("include", "platinclude")]
    command = [*linker, *shared, "-O3", *options, *include, str(source), "-o", str(target)]
    try:
        done = subprocess.run(command, capture_output=True, text=True)  # nosec B603: arguments of our own
    except OSError as error:
        raise NotBuiltError(f"there is no C compiler ({error.filename}: {error.strerror})") from None
    if done.returncode:
        raise NotBuiltError(_why(done.stderr))


def _why(said: str) -> str:
    if "Python.h" in said and "No such file" in said:
        return "Python's headers are not there"
    return f"the compiler refused it:\n{said.strip()[-2000:]}"


def main() -> int:
    """Run the program; the exit status is that of what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("task", nargs="?", choices=("build", "check"), default="build")
    task = parser.parse_args().task
    try:
        if task == "check":
            check(ROOT)
        else:
            built = build(ROOT)
            print(f"Compiled parts: {len(built)} of {len(SOURCES)}.", file=sys.stderr)
    except NotBuiltError as error:
        if task == "check":
            print(f"Compiled parts: {error}", file=sys.stderr)
            return 1
        print(f"Compiled parts: none, {error}", file=sys.stderr)
        print(f"Antiphon works without them; compiling takes longer. To have them: {HOW}", file=sys.stderr)
    return 0


def hook_class() -> type[Any]:
    """Return the build hook of wheels; hatchling looks for one in this module."""
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

    class CompiledParts(BuildHookInterface[Any]):
        """Puts the compiled parts into a wheel, where they can be built."""

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            """Build them and name them; a wheel with them is of this Python and platform."""
            if version == "editable":
                # Whoever installs a checkout for work on it builds them by the command above.
                return
            try:
                built = build(Path(self.root))
            except NotBuiltError as error:
                self.app.display_warning(f"Antiphon is built without its compiled parts: {error}")
                return
            build_data["artifacts"] += [path.relative_to(self.root).as_posix() for path in built]
            build_data["pure_python"] = False
            build_data["infer_tag"] = True

    return CompiledParts


def get_build_hook() -> type[Any]:
    """Return the hook (hatchling's name for it)."""
    return hook_class()


if __name__ == "__main__":
    sys.exit(main())

"""A newcomer's path: the commands of a client's README, in a clean copy, with an empty home.

    python -m tests.polyglot.newcomer LANGUAGE

copies what is committed into a temporary folder, starts a pair beside it, and runs
the README's ``sh`` blocks in order from the client's folder. It exits 0 when they
succeed and print what ``clients/example-output.txt`` says.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.polyglot.languages import LANGUAGES, ROOT, Addresses
from tests.polyglot.services import running_services

_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_OWN = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")
"""Variables of the environment that this program runs in, which a newcomer has not."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Walk the path of one language; return 0 if it ends in the example's output, else 1."""
    options = _parser().parse_args(arguments)
    language = next(language for language in LANGUAGES if language.name == options.language)
    with tempfile.TemporaryDirectory(prefix="antiphon-newcomer-") as name:
        folder = Path(name)
        copy = folder / "antiphon"
        copy_tree(ROOT, copy, uncommitted=options.uncommitted)
        (folder / "home").mkdir()
        (folder / "pair").mkdir()
        blocks = sh_blocks((copy / language.folder / "README.md").read_text(encoding="utf-8"))
        with running_services(folder / "pair") as addresses:
            output = run_blocks(blocks, copy / language.folder, folder / "home", addresses)
    expected = (ROOT / "clients" / "example-output.txt").read_text(encoding="utf-8")
    if output is None:
        return 1
    if expected not in output:
        sys.stderr.write(f"{language.name}: the commands do not print clients/example-output.txt:\n{output}")
        return 1
    print(f"{language.name}: {len(blocks)} blocks of commands end in the example's output")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.polyglot.newcomer",
        description="Run the commands of a client's README in a clean copy with an empty home.",
    )
    parser.add_argument("language", choices=[language.name for language in LANGUAGES])
    parser.add_argument(
        "--uncommitted", action="store_true", help="copy the files as they are, those not committed too"
    )
    return parser


def sh_blocks(readme: str) -> list[str]:
    """Return the ``sh`` blocks of a README, in order."""
    return _BLOCK.findall(readme)


def copy_tree(source: Path, target: Path, *, uncommitted: bool) -> None:
    """Copy a repository: what is committed, or its files as they are; never what git ignores."""
    if not uncommitted:
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(source), str(target)], check=True)
        return
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=source,
        capture_output=True,
        check=True,
    ).stdout.decode()
    for name in filter(None, listed.split("\0")):
        if (source / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, target / name)


def run_blocks(blocks: Sequence[str], folder: Path, home: Path, addresses: Addresses) -> str | None:
    """Run the blocks in a folder; return all they print, None if one fails."""
    environment = {name: value for name, value in os.environ.items() if name not in _OWN}
    environment |= {"HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache"), **addresses.names()}
    output = ""
    for block in blocks:
        sys.stderr.write("".join(f"$ {line}\n" for line in block.splitlines()))
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            check=False,
        )
        output += done.stdout
        if done.returncode != 0:
            sys.stderr.write(f"{done.stdout}\nthe block ended with {done.returncode}\n")
            return None
    return output


if __name__ == "__main__":
    sys.exit(main())

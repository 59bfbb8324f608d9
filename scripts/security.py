"""Checks the code and the dependencies for what is known to be dangerous.

    python scripts/security.py code           bandit over the package code and the scripts
    python scripts/security.py dependencies   the lock, and what is known of the versions in it

Of the dependencies two things are checked. Always, and without a network: the lock
pins every version exactly, and neither it nor the lower bounds of pyproject.toml
allow a version below those of `FIXED_IN`, a short list that is kept by hand. Where
the package index serves advisories, pip-audit then compares the whole lock with
them; where it does not, a line says that nothing was compared, and that is no
failure unless `--required` is given.

Needs the `dev` extra.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
CODE = ("history_service", "compiler_service", "clients/python/antiphon_client", "scripts")
LOCK = ROOT / "requirements.lock"
PROJECT = ROOT / "pyproject.toml"
PROBE = "grpcio"
"""The package that is asked about first: an index without advisories does not know it."""

SQL_FROM_TEXT = "B608"
POSTGRES = "history_service/storage/postgres"
SQL_OF_NAMES = {
    f"{POSTGRES}/{module}.py"
    for module in ("exchange_sql", "reading_sql", "scans", "statements", "sweeping_sql")
} | {"history_service/copying/statements.py", "history_service/copying/tables.py"}
"""Modules that compose statements of the names of tables and columns alone; values are parameters."""

FIXED_IN = {
    "certifi": ("2024.7.4", "CVE-2024-39689"),
    "cryptography": ("44.0.1", "CVE-2024-12797"),
    "grpcio": ("1.65.4", "CVE-2024-7246"),
    "h11": ("0.16.0", "CVE-2025-43859"),
    "idna": ("3.7", "CVE-2024-3651"),
    "orjson": ("3.9.15", "CVE-2024-27454"),
    "pip": ("25.3", "CVE-2025-8869"),
    "protobuf": ("6.31.1", "CVE-2025-4565"),
    "pydantic": ("2.4.0", "CVE-2024-3772"),
    "pyyaml": ("5.4", "CVE-2020-14343"),
    "requests": ("2.32.4", "CVE-2024-47081"),
    "setuptools": ("78.1.1", "CVE-2025-47273"),
    "urllib3": ("2.6.0", "CVE-2025-66418"),
    "wheel": ("0.38.1", "CVE-2022-40898"),
}
"""Package to the first version without a flaw that became known, and the flaw. Not complete."""


class Finding(NamedTuple):
    """What bandit has found."""

    file: str
    line: int
    test_id: str
    text: str


def check_code() -> int:
    """Runs bandit and returns the exit code: 1 where it found what nothing in the code explains."""
    paths = [str(ROOT / path) for path in CODE]
    command = [sys.executable, "-m", "bandit", "-q", "-r", "-f", "json", "-c", str(PROJECT), *paths]
    done = subprocess.run(command, capture_output=True, text=True)  # nosec B603: arguments of our own
    try:
        report: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        sys.stderr.write(done.stderr)
        return 1
    found = [
        Finding(each["filename"], each["line_number"], each["test_id"], each["issue_text"])
        for each in report["results"]
    ]
    bad = [finding for finding in found if not is_of_names(finding) and not is_composed_at_import(finding)]
    for finding in bad:
        print(f"{_relative(finding)}:{finding.line}: {finding.test_id} {finding.text}")
    for error in report["errors"]:
        print(f"{error['filename']}: {error['reason']}")
    passed = len(found) - len(bad)
    print(f"bandit: {len(bad)} findings; {passed} statements composed before any request or of names alone")
    return 1 if bad or report["errors"] else 0


def is_of_names(finding: Finding) -> bool:
    """Tells whether SQL is composed in a module that is known to compose it of names alone."""
    return finding.test_id == SQL_FROM_TEXT and _relative(finding) in SQL_OF_NAMES


def _relative(finding: Finding) -> str:
    return Path(finding.file).relative_to(ROOT).as_posix()


def is_composed_at_import(finding: Finding) -> bool:
    """Tells whether SQL is composed in a module's own body: when there is no request yet to inject from."""
    if finding.test_id != SQL_FROM_TEXT:
        return False
    module = ast.parse(Path(finding.file).read_text("utf-8"))
    return any(
        isinstance(statement, ast.Assign | ast.AnnAssign)
        and statement.lineno <= finding.line <= (statement.end_lineno or 0)
        for statement in module.body
    )


def check_dependencies(*, required: bool) -> int:
    """Checks the lock and what it may be compared with, and returns the exit code.

    Args:
        required: Whether it is a failure that no advisories can be had.
    """
    lines = [line.partition("#")[0].strip() for line in LOCK.read_text("utf-8").splitlines()]
    locked = [line for line in lines if line]
    project = tomllib.loads(PROJECT.read_text("utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    declared = [*project["dependencies"], *(each for extra in extras for each in extra)]
    faults = [*unpinned(locked), *below_fixes(locked), *below_fixes(declared)]
    for fault in faults:
        print(fault)
    if faults:
        return 1
    print(f"lock: {len(locked)} versions pinned (without hashes), none below the {len(FIXED_IN)} known fixes")
    return audit(locked, required=required)


def unpinned(requirements: Iterable[str]) -> Iterator[str]:
    """Yields what is wrong with requirements that allow more than one version."""
    for text in requirements:
        if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", text.partition(";")[0].strip()):
            yield f"requirements.lock: {text} is not pinned to a version"


def below_fixes(requirements: Iterable[str]) -> Iterator[str]:
    """Yields what is wrong with requirements whose least version has a flaw of `FIXED_IN`."""
    for text in requirements:
        requirement = Requirement(text)
        fixed, flaw = FIXED_IN.get(canonicalize_name(requirement.name), ("0", ""))
        least = [
            Version(each.version) for each in requirement.specifier if each.operator in ("==", ">=", "~=")
        ]
        if least and max(least) < Version(fixed):
            yield f"{text}: {flaw} is repaired in {fixed}"


def audit(locked: list[str], *, required: bool) -> int:
    """Compares the lock with the index's advisories, if it has any; returns the exit code."""
    probe = [line for line in locked if line.startswith(f"{PROBE}==")]
    if not known_to_advisories(probe):
        print("advisories: the package index serves none here: NOTHING was compared with them")
        return 1 if required else 0
    flawed = [entry for entry in ask_advisories(locked) if entry.get("vulns")]
    for entry in flawed:
        flaws = ", ".join(str(each["id"]) for each in entry["vulns"])
        print(f"{entry['name']}=={entry['version']}: {flaws}")
    print(f"advisories: {len(locked)} versions compared, {len(flawed)} have known flaws")
    return 1 if flawed else 0


def known_to_advisories(locked: list[str]) -> bool:
    """Tells whether the index has advisories at all, by asking about some packages."""
    entries = ask_advisories(locked)
    return bool(entries) and all("skip_reason" not in entry for entry in entries)


def ask_advisories(locked: list[str]) -> list[dict[str, Any]]:
    """Asks pip-audit about versions; empty where it got no answer."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(locked))
        file.flush()
        options = ["--no-deps", "--disable-pip", "--progress-spinner=off", "--format=json", "--timeout=10"]
        command = [sys.executable, "-m", "pip_audit", *options, "--requirement", file.name]
        done = subprocess.run(command, capture_output=True, text=True)  # nosec B603: arguments of our own
    try:
        answer: dict[str, list[dict[str, Any]]] = json.loads(done.stdout)
    except ValueError:
        return []
    return answer["dependencies"]


def main() -> int:
    """Runs one of the checks."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("check", choices=["code", "dependencies"])
    parser.add_argument("--required", action="store_true", help="fail where no advisories can be had")
    arguments = parser.parse_args()
    if arguments.check == "code":
        return check_code()
    return check_dependencies(required=arguments.required)


if __name__ == "__main__":
    sys.exit(main())

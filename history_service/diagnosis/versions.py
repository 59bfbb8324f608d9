"""The versions of what this distribution runs on, held against what it needs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import metadata

import apsw

from antiphon_client.findings import Finding

_WATCHED = ("apsw", "grpcio", "protobuf")
_FLOOR = re.compile(r"^([A-Za-z0-9_.-]+)\s*[<>=!~0-9.,\s]*?>=\s*([0-9.]+)")


def requirements() -> list[str]:
    """Return what the installed distribution requires; empty where it runs from its sources."""
    try:
        return metadata.requires("antiphon") or []
    except metadata.PackageNotFoundError:
        return []


def version_findings(required: Sequence[str]) -> list[Finding]:
    """Hold the versions of SQLite, gRPC and protobuf against their floors.

    Args:
        required: Requirements, as ``grpcio>=1.76``.
    """
    floors = {match[1].lower(): match[2] for line in required if (match := _FLOOR.match(line))}
    found = {name: metadata.version(name) for name in _WATCHED}
    # apsw's releases are numbered as SQLite's, but an apsw of the system's may be linked with an older one.
    found["sqlite"] = apsw.sqlite_lib_version()
    floors |= {"sqlite": floors["apsw"]} if "apsw" in floors else {}
    return [_finding(name, version, floors.get(name)) for name, version in sorted(found.items())]


def _finding(name: str, version: str, floor: str | None) -> Finding:
    check = f"version.{name}"
    if floor is None:
        return Finding(check, "ok", f"{version}; its floor is not known, as antiphon is not installed")
    if _numbers(version) < _numbers(floor):
        return Finding(
            check, "failure", f"{version} is older than {floor}", "install antiphon with its dependencies"
        )
    return Finding(check, "ok", f"{version}, {floor} or newer")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.split("+")[0])[:3])

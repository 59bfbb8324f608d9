"""Scenario files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.polyglot.faults import ScenarioError

FOLDER = Path(__file__).resolve().parents[1] / "contract" / "scenarios"
"""Where the shared scenarios are."""

_VOLATILE = "volatile.json"


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario as its file says it."""

    name: str
    about: str
    topics: tuple[str, ...]
    steps: tuple[Mapping[str, Any], ...]


def load(path: Path) -> Scenario:
    """Read a scenario's file.

    Raises:
        ScenarioError: It is no scenario.
    """
    told = json.loads(path.read_bytes(), object_pairs_hook=_members)
    if told.keys() != {"name", "about", "topics", "steps"} or told["name"] != path.stem:
        raise ScenarioError(
            f"{path.name} has no name, about, topics and steps, or another name than the file"
        )
    return Scenario(told["name"], told["about"], tuple(told["topics"]), tuple(told["steps"]))


def load_all(folder: Path) -> list[Scenario]:
    """Read every scenario of a folder, in the order of their names."""
    return [load(path) for path in sorted(folder.glob("*.json")) if path.name != _VOLATILE]


def load_volatile(folder: Path) -> frozenset[str]:
    """Read the names of what a server makes anew each time."""
    return frozenset(json.loads((folder / _VOLATILE).read_bytes()))


def _members(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ScenarioError("a member stands twice in one object")
    return members

"""Action names as a target's rule wants them, with the way back.

A name that the rule takes is never changed. A made name ends with a digest of
the action's own, so that two actions never share one and it does not depend on
what else the request names.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from compiler_service.projection.capabilities import NameRule
from compiler_service.remarks import Remarks

_DIGEST_LENGTH = 8


class ActionNames:
    """The names of one request's actions."""

    def __init__(self, rule: NameRule, names: Iterable[str], losses: Remarks) -> None:
        """Take every name the request holds: a made one must not meet any."""
        self._losses = losses
        self._rule = rule
        self._made: dict[str, str] = {}
        distinct = dict.fromkeys(names)
        refused = [name for name in distinct if rule.compiled.fullmatch(name) is None]
        taken = set(distinct)
        for name in refused:
            made = self._make(name, taken)
            taken.add(made)
            self._made[name] = made

    def of(self, name: str, message_id: str = "") -> str:
        """Return the name in the request of the action that a message names."""
        made = self._made.get(name)
        if made is None:
            return name
        self._losses.add(notes_pb.COMPILE_NOTE_KIND_NAME_MAPPED, message_id, f"{name} is {made}")
        return made

    def mapping(self) -> tuple[tuple[str, str], ...]:
        """Return the changed names, each with the one it was given."""
        return tuple(self._made.items())

    def _make(self, name: str, taken: set[str]) -> str:
        attempt = 0
        while True:
            digest = hashlib.sha256(f"{attempt}:{name}".encode()).hexdigest()[:_DIGEST_LENGTH]
            stem = re.sub(self._rule.refused, "_", name)
            # An underscore first, where the rule refuses the name's first character.
            for made in (stem, f"_{stem}"):
                made = f"{made[: self._rule.length - _DIGEST_LENGTH - 1]}_{digest}"
                if made not in taken and self._rule.compiled.fullmatch(made) is not None:
                    return made
            attempt += 1

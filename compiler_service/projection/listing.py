"""The capability table as ListTargets gives it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from antiphon.compiler.v1.target_pb2 import ListTargetsResponse, Target, TargetFlag
from compiler_service.projection.capabilities import TABLE, TABLE_TEXT

_ROWS = json.loads(TABLE_TEXT)["targets"]


def list_targets(token_counters: Sequence[str]) -> ListTargetsResponse:
    """Return the targets by name, each with its whole row.

    Args:
        token_counters: Names of the token counters that this server has.
    """
    return ListTargetsResponse(
        capability_version=TABLE.version,
        targets=[_target(name) for name in sorted(TABLE.targets)],
        token_counters=sorted(token_counters),
    )


def _target(name: str) -> Target:
    row = TABLE.targets[name]
    return Target(
        name=name,
        provider=row.provider,
        flags=[TargetFlag(name=flag, meaning=TABLE.flags[flag]) for flag in sorted(row.flags)],
        cache_marks=row.cache_marks,
        continues_assistant=row.continues_assistant,
        row_json=json.dumps(_ROWS[name], separators=(",", ":")),
    )

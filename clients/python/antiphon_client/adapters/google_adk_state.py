"""The state of a Google ADK app or user: metadata of a branch without messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from antiphon_client.errors import (
    BranchDeletedError,
    BranchExistsError,
    BranchNotFoundError,
    RevisionConflictError,
)
from antiphon_client.history_operations import HistoryOperations
from antiphon_client.rpc import Steps

_HISTORY: Final = HistoryOperations()
_STATE: Final = "state"


def metadata_of(key: str, state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of a branch that has a state."""
    return {key: {_STATE: dict(state)}}


def state_in(metadata: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return the state in a branch's metadata; {} where there is none."""
    entry = metadata.get(key)
    state = entry.get(_STATE) if isinstance(entry, dict) else None
    return dict(state) if isinstance(state, dict) else {}


def read_state(external_key: str, key: str) -> Steps[dict[str, Any]]:
    """Read the state of an app or a user."""
    record = yield from _HISTORY.find_branch(external_key)
    return {} if record is None else state_in(record.metadata, key)


def update_state(external_key: str, key: str, delta: Mapping[str, Any]) -> Steps[None]:
    """Set keys of the state of an app or a user, whoever else sets others at the same time.

    A write is refused and tried again if the state has changed since it was read.
    """
    while delta:
        record = yield from _HISTORY.find_branch(external_key)
        try:
            if record is None:
                yield from _HISTORY.create_branch(external_key=external_key, metadata=metadata_of(key, delta))
            else:
                state = {**state_in(record.metadata, key), **delta}
                metadata = {**record.metadata, **metadata_of(key, state)}
                yield from _HISTORY.update_branch(
                    record.branch_id, metadata, expected_revision=record.revision
                )
        except (BranchDeletedError, BranchExistsError, BranchNotFoundError, RevisionConflictError):
            continue
        return

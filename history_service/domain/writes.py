"""What every write shares: replay, deletion, revision, and the record of its response.

The checks come in this order, after those of the request's own fields and
before the rules of the write: replay of a known request, then deleted, then
revision.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from antiphon_client.errors import RequestIdReusedError, RevisionConflictError
from history_service.domain.branches import open_branch
from history_service.storage.port import BranchRow, ReadTransaction, RecordedResponse, WriteTransaction

EXPIRED_AT_ONCE = 512
"""Recorded responses that one write forgets at most."""
_TIME_DIGITS = 13
"""Length of a request id's leading 48 bits in its text: a time, in ids made by the clients."""


class WriteResponse(Protocol):
    """A response message of a write on a branch."""

    revision: int

    def SerializeToString(self) -> bytes:  # noqa: N802 (protobuf's name)
        """Encode it."""


class CreationResponse(Protocol):
    """Any response message."""

    def SerializeToString(self) -> bytes:  # noqa: N802 (protobuf's name)
        """Encode it."""


class WriteCall(NamedTuple):
    """One write as it was asked.

    Attributes:
        tenant_id: Who asks.
        request_id: Names the request; empty when the caller gave none.
        request_hash: SHA-256 over method and request bytes; empty without a request id.
        replay_mark: Bytes that set ``replayed`` when they follow an encoded response.
        now: Nanoseconds since the epoch.
        expire_before: Forget some responses recorded before this time; None to forget none.
    """

    tenant_id: str
    request_id: str
    request_hash: bytes
    replay_mark: bytes
    now: int
    expire_before: int | None = None


def is_replay(tx: ReadTransaction, call: WriteCall) -> bool:
    """Whether a write's request id is known, so that ``write_once`` will not run its rule."""
    return bool(call.request_id) and tx.recorded_response(call.tenant_id, call.request_id) is not None


def write_once(
    tx: WriteTransaction, call: WriteCall, rule: Callable[[WriteTransaction], CreationResponse]
) -> bytes:
    """Run a write unless its request is known; return its encoded response either way.

    Raises:
        RequestIdReusedError: The request id was used for another request.
    """
    recorded = _recorded(tx, call, call.request_id)
    if recorded is not None:
        return recorded + call.replay_mark
    response = rule(tx).SerializeToString()
    _record(tx, call, call.request_id, response)
    return response


@dataclass(frozen=True, slots=True)
class Unfinished:
    """What a rule returns that has done a part of its write and leaves the rest to further steps.

    Attributes:
        record: What whoever takes the next step has to know, by name; JSON values.
    """

    record: dict[str, Any]

    def SerializeToString(self) -> bytes:  # noqa: N802 (as any recorded response)
        """Encode it; ``decoded`` is the inverse."""
        return json.dumps(self.record).encode()

    @classmethod
    def decoded(cls, text: bytes) -> Unfinished:
        """Decode what was recorded."""
        return cls(json.loads(text))


def write_step(
    tx: WriteTransaction,
    call: WriteCall,
    number: int,
    rule: Callable[[WriteTransaction], CreationResponse | Unfinished],
) -> bytes | Unfinished:
    """Run one step of a write that may take several; return the encoded response once it is done.

    A step is recorded under an id of its own, made of the request's and its
    number from 0: whoever sends the request again follows in the steps taken,
    and goes on from there. The last step forgets these records, as its response
    answers all who come later.

    Raises:
        RequestIdReusedError: The request id was used for another request.
    """
    recorded = _recorded(tx, call, call.request_id)
    if recorded is not None:
        return recorded + call.replay_mark
    step_id = _step_id(call.request_id, number)
    recorded = _recorded(tx, call, step_id)
    if recorded is not None:
        return Unfinished.decoded(recorded)
    outcome = rule(tx)
    encoded = outcome.SerializeToString()
    if isinstance(outcome, Unfinished):
        _record(tx, call, step_id, encoded)
        return outcome
    if number and call.request_id:
        tx.forget_responses(call.tenant_id, [_step_id(call.request_id, taken) for taken in range(number)])
    _record(tx, call, call.request_id, encoded)
    return encoded


def _step_id(request_id: str, number: int) -> str:
    """Name a step (UUID version 8); the leading time stays, so that these ids, too, grow with it."""
    if not request_id:
        return ""
    digits = hashlib.sha256(f"{request_id}:{number}".encode()).hexdigest()
    return f"{request_id[:_TIME_DIGITS]}-8{digits[:3]}-8{digits[3:6]}-{digits[6:18]}"


def _recorded(tx: ReadTransaction, call: WriteCall, request_id: str) -> bytes | None:
    recorded = tx.recorded_response(call.tenant_id, request_id) if request_id else None
    if recorded is None:
        return None
    if recorded.request_hash != call.request_hash:
        raise RequestIdReusedError(
            f"request_id {call.request_id} was used for another request",
            metadata={"request_id": call.request_id},
        )
    return recorded.response


def _record(tx: WriteTransaction, call: WriteCall, request_id: str, response: bytes) -> None:
    if not request_id:
        return
    if call.expire_before is not None:
        tx.expire_responses(call.expire_before, EXPIRED_AT_ONCE)
    tx.record_response(call.tenant_id, request_id, RecordedResponse(call.request_hash, response), call.now)


def check_expected(branch: BranchRow, expected_revision: int | None) -> None:
    """Check that a branch is at the revision its writer expects; None is any.

    Raises:
        RevisionConflictError: It is not.
    """
    if expected_revision is not None and expected_revision != branch.revision:
        raise RevisionConflictError.of(
            branch.key.branch_id, expected=expected_revision, actual=branch.revision
        )


def write_branch(
    tx: WriteTransaction,
    call: WriteCall,
    branch_id: str,
    expected_revision: int | None,
    rule: Callable[[WriteTransaction, BranchRow], WriteResponse],
) -> bytes:
    """Run a write on a branch as its next revision; return its encoded response.

    ``rule`` gets the branch with its revision already counted up and stores the head.

    Raises:
        RequestIdReusedError: The request id was used for another request.
        BranchNotFoundError: There is no such branch.
        BranchDeletedError: It was deleted.
        RevisionConflictError: It is not at the expected revision.
    """

    def guarded(tx: WriteTransaction) -> WriteResponse:
        branch = open_branch(tx, call.tenant_id, branch_id)
        check_expected(branch, expected_revision)
        branch.revision += 1
        response = rule(tx, branch)
        response.revision = branch.revision
        return response

    return write_once(tx, call, guarded)

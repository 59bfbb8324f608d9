"""The errors of both services, one class per reason.

The services raise these classes and the edge turns them into statuses; the SDK
turns statuses back into the same classes. A reason of the registry, its status code
and its Python bases therefore stand here and nowhere else. The reasons' meanings are
commented in the protos (``antiphon.history.v1.ErrorReason`` and
``antiphon.compiler.v1.ErrorReason``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from antiphon_client.provider_response import ProviderResponse

LIST_LIMIT = 50
"""Entries of a list that travel in an error; the exact count travels beside."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One field that breaks its rule.

    Attributes:
        field: Path from the request, such as ``messages[3].action_request.arguments_json``.
        description: What is wrong, in words.
    """

    field: str
    description: str


class AntiphonError(Exception):
    """Base of every error with a reason.

    Attributes:
        reason: The registry name without its prefix, such as ``REVISION_CONFLICT``.
        code: Name of the gRPC status code, such as ``ABORTED``.
        message: What happened, in words, at most 512 bytes on the wire.
        domain: ``antiphon.history`` or ``antiphon.compiler``; empty while the
            error has not crossed a wire.
        metadata: Facts beside the message; each class says which it has. Every value is text; a list
            of ids holds the first 50 at most, with its whole length beside it.
        violations: The fields at fault, the first 50 at most.
        retry_after: Seconds to wait before a retry; None where a retry is
            pointless or needs a decision.
    """

    reason: ClassVar[str] = "INTERNAL_ERROR"
    code: ClassVar[str] = "INTERNAL"
    default_retry_after: ClassVar[float | None] = None

    def __init__(
        self,
        message: str,
        *,
        domain: str = "",
        metadata: Mapping[str, str] | None = None,
        violations: Sequence[Violation] = (),
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.domain = domain
        self.metadata: dict[str, str] = dict(metadata or {})
        self.violations: tuple[Violation, ...] = tuple(violations)
        self.retry_after = self.default_retry_after if retry_after is None else retry_after


class MalformedRequestError(AntiphonError, ValueError):
    """The request's bytes are not a message of its type."""

    reason = "MALFORMED_REQUEST"
    code = "INVALID_ARGUMENT"


class UnknownFieldError(AntiphonError, ValueError):
    """The request has a field the server does not know."""

    reason = "UNKNOWN_FIELD"
    code = "INVALID_ARGUMENT"


class FieldInvalidError(AntiphonError, ValueError):
    """A field breaks its documented rule.

    Metadata: ``violation_count``; of a branch's file also ``line``, its number from 1.
    """

    reason = "FIELD_INVALID"
    code = "INVALID_ARGUMENT"

    @classmethod
    def of(cls, field: str, description: str) -> FieldInvalidError:
        """Build the error for one field."""
        return cls.of_all([Violation(field, description)])

    @classmethod
    def of_all(cls, violations: Sequence[Violation]) -> FieldInvalidError:
        """Build the error for one violation or more."""
        first = violations[0]
        return cls(
            f"{first.field}: {first.description}{and_more(violations)}",
            metadata={"violation_count": str(len(violations))},
            violations=violations[:LIST_LIMIT],
        )


class ReservedKeyError(AntiphonError, ValueError):
    """A JSON object uses a key that the service keeps for itself.

    Metadata: ``key``.
    """

    reason = "RESERVED_KEY"
    code = "INVALID_ARGUMENT"

    @classmethod
    def of(cls, holder: str, key: str) -> ReservedKeyError:
        """Build the error from the object's name and the key in it."""
        return cls(f"{holder} must not contain reserved key '{key}'", metadata={"key": key})


class PageTokenInvalidError(AntiphonError, ValueError):
    """The page token is not one of this list."""

    reason = "PAGE_TOKEN_INVALID"
    code = "INVALID_ARGUMENT"


class SizeLimitExceededError(AntiphonError, ValueError):
    """Something is larger than a limit.

    Metadata: ``limit_name``, ``limit`` and ``actual``, in the limit's unit.
    """

    reason = "SIZE_LIMIT_EXCEEDED"
    code = "INVALID_ARGUMENT"

    @classmethod
    def of(
        cls, what: str, *, limit_name: str, limit: int, actual: int, advice: str = ""
    ) -> SizeLimitExceededError:
        """Build the error; ``what`` is a field path or a thing, sizes are in the limit's unit."""
        text = f"{what}: {actual} exceeds the limit {limit_name} of {limit}"
        if advice:
            text = f"{text}; {advice}"
        metadata = {"limit_name": limit_name, "limit": str(limit), "actual": str(actual)}
        return cls(text, metadata=metadata)


class BranchNotFoundError(AntiphonError, LookupError):
    """No such branch for this caller.

    Metadata: ``branch_id``, where it was looked for by its id.
    """

    reason = "BRANCH_NOT_FOUND"
    code = "NOT_FOUND"

    @classmethod
    def of(cls, branch_id: str) -> BranchNotFoundError:
        """Build the error of an id; why the branch is not the caller's to see makes no difference."""
        return cls(f"no branch {branch_id}", metadata={"branch_id": branch_id})


class MessageNotFoundError(AntiphonError, LookupError):
    """Messages that are not in the branch.

    Metadata: ``missing`` (ids, comma-separated) and ``missing_count``.
    """

    reason = "MESSAGE_NOT_FOUND"
    code = "NOT_FOUND"

    @classmethod
    def of(cls, missing: Sequence[str], *, at_revision: int) -> MessageNotFoundError:
        """Build the error from the missing ids and the revision they are not in."""
        return cls(
            f"not in the branch at revision {at_revision}: message {missing[0]}{and_more(missing)}",
            metadata=id_list("missing", missing),
        )


class BranchExistsError(AntiphonError):
    """The branch id or the external key is taken.

    Metadata: ``branch_id`` of the branch that has it.
    """

    reason = "BRANCH_EXISTS"
    code = "ALREADY_EXISTS"


class RequestIdReusedError(AntiphonError, ValueError):
    """The request_id was used before with another request.

    Metadata: ``request_id``.
    """

    reason = "REQUEST_ID_REUSED"
    code = "ALREADY_EXISTS"


class ActionAlreadyAnsweredError(AntiphonError):
    """The action request already has a final response.

    Metadata: ``action_request_id`` and ``action_response_id``.
    """

    reason = "ACTION_ALREADY_ANSWERED"
    code = "ALREADY_EXISTS"


class RevisionConflictError(AntiphonError):
    """The branch is not at the expected revision, or a compaction's plan was overtaken by another.

    Metadata: ``branch_id``, ``expected`` and ``actual``.
    """

    reason = "REVISION_CONFLICT"
    code = "ABORTED"

    @classmethod
    def of(cls, branch_id: str, *, expected: int, actual: int) -> RevisionConflictError:
        """Build the error from the two revisions."""
        return cls(
            f"branch is at revision {actual}, not at the expected {expected}",
            metadata={"branch_id": branch_id, "expected": str(expected), "actual": str(actual)},
        )

    @classmethod
    def overtaken(cls, branch_id: str, *, planned: int, actual: int) -> RevisionConflictError:
        """Build the error of a compaction that another has overtaken since it was planned."""
        return cls(
            f"another compaction was committed since revision {planned}, at which this one was planned "
            f"(the branch is at revision {actual}): plan again",
            metadata={"branch_id": branch_id, "expected": str(planned), "actual": str(actual)},
        )

    @property
    def actual_revision(self) -> int:
        """The revision the branch is at."""
        return int(self.metadata["actual"])

    @property
    def expected_revision(self) -> int:
        """The revision the writer expected."""
        return int(self.metadata["expected"])


class BranchDeletedError(AntiphonError):
    """The branch was deleted and stays so.

    Metadata: ``branch_id``.
    """

    reason = "BRANCH_DELETED"
    code = "FAILED_PRECONDITION"


class ActionRequestUnknownError(AntiphonError, ValueError):
    """A response names an action request that is not in the branch.

    Metadata: ``action_request_id``.
    """

    reason = "ACTION_REQUEST_UNKNOWN"
    code = "FAILED_PRECONDITION"


class ProgressionInvalidError(AntiphonError, ValueError):
    """A selection holds ids that are not in the branch, or one twice.

    Metadata: ``missing``, ``missing_count``, ``duplicate`` and ``duplicate_count``; of several
    summaries ``summaries`` and ``summaries_count``.
    """

    reason = "PROGRESSION_INVALID"
    code = "FAILED_PRECONDITION"

    @classmethod
    def of(cls, missing: Sequence[str], duplicate: Sequence[str]) -> ProgressionInvalidError:
        """Build the error from the ids at fault."""
        return cls(
            f"progression has {len(missing)} missing and {len(duplicate)} duplicate message id(s)",
            metadata=id_list("missing", missing) | id_list("duplicate", duplicate),
        )


class ConsecutiveInstructionsError(AntiphonError, ValueError):
    """Two instructions of the history follow each other.

    Metadata: ``message_ids`` of the two.
    """

    reason = "CONSECUTIVE_INSTRUCTIONS"
    code = "FAILED_PRECONDITION"


class FirstMessageNotInstructionError(AntiphonError, ValueError):
    """There is a system record and the history does not begin with an instruction.

    Metadata: ``message_id``.
    """

    reason = "FIRST_MESSAGE_NOT_INSTRUCTION"
    code = "FAILED_PRECONDITION"


class UnsupportedContentError(AntiphonError, TypeError):
    """A selected message is of a kind the compiler does not know.

    Metadata: ``message_ids`` and ``message_ids_count``.
    """

    reason = "UNSUPPORTED_CONTENT"
    code = "FAILED_PRECONDITION"


class TargetUnknownError(AntiphonError, ValueError):
    """The target is none of those that ListTargets lists.

    Metadata: ``target``.
    """

    reason = "TARGET_UNKNOWN"
    code = "INVALID_ARGUMENT"

    @classmethod
    def of(cls, target: str) -> TargetUnknownError:
        """Build the error from the target's name."""
        return cls(
            f"unknown target {target!r}; ListTargets names those there are", metadata={"target": target}
        )


class OpenCallsError(AntiphonError, ValueError):
    """A continuation whose last round has calls without a result.

    Metadata: ``message_ids`` of the calls and ``message_ids_count``.
    """

    reason = "OPEN_CALLS"
    code = "FAILED_PRECONDITION"

    @classmethod
    def of(cls, message_ids: Sequence[str]) -> OpenCallsError:
        """Build the error from the ids of the calls' records, one at least."""
        return cls(
            f"without a result in the last round: call {message_ids[0]}{and_more(message_ids)}",
            metadata=id_list("message_ids", message_ids),
        )


class BudgetImpossibleError(AntiphonError, ValueError):
    """Not even the newest exchange, with what is pinned, fits the budget; numbers are tokens.

    Metadata: ``budget``, ``needed`` and ``pinned``.
    """

    reason = "BUDGET_IMPOSSIBLE"
    code = "FAILED_PRECONDITION"

    @classmethod
    def of(cls, *, budget: int, needed: int, pinned: int) -> BudgetImpossibleError:
        """Build the error from the budget, what is needed at the least, and what of that is pinned."""
        return cls(
            f"{needed} tokens are needed at the least ({pinned} of them pinned), the budget is {budget}",
            metadata={"budget": str(budget), "needed": str(needed), "pinned": str(pinned)},
        )


class StreamIncompleteError(AntiphonError):
    """A provider's stream ended without being whole; nothing of it may be executed.

    Metadata: ``cause`` and ``detail``.

    Attributes:
        partial: What was said, where a client assembled it; None otherwise.
    """

    reason = "STREAM_INCOMPLETE"
    code = "DATA_LOSS"
    partial: ProviderResponse | None = None

    @classmethod
    def of(cls, cause: str, detail: str) -> StreamIncompleteError:
        """Build the error: ``cause`` as the registry names it, ``detail`` in the provider's words."""
        return cls(
            f"the provider's stream is incomplete ({cause}): {detail}",
            metadata={"cause": cause, "detail": detail},
        )


class SystemRecordFixedError(AntiphonError, ValueError):
    """The system record cannot be moved or removed, nor anything put before it."""

    reason = "SYSTEM_RECORD_FIXED"
    code = "FAILED_PRECONDITION"


class ContentKindFixedError(AntiphonError, ValueError):
    """A replacement is of another content kind than the message it replaces.

    Metadata: ``message_id``.
    """

    reason = "CONTENT_KIND_FIXED"
    code = "FAILED_PRECONDITION"


class RevisionInFutureError(AntiphonError, ValueError):
    """The branch has not reached that revision.

    Metadata: ``actual``, the revision the branch is at.
    """

    reason = "REVISION_IN_FUTURE"
    code = "OUT_OF_RANGE"

    @classmethod
    def of(cls, asked: int, *, actual: int) -> RevisionInFutureError:
        """Build the error from the revision asked for and the one the branch is at."""
        return cls(f"branch is at revision {actual}, not yet at {asked}", metadata={"actual": str(actual)})


class RevisionExpiredError(AntiphonError, ValueError):
    """The revision was dropped by a trim or the retention setting.

    Metadata: ``oldest``, the oldest revision that can be read.
    """

    reason = "REVISION_EXPIRED"
    code = "OUT_OF_RANGE"

    @classmethod
    def of(cls, asked: int, *, oldest: int) -> RevisionExpiredError:
        """Build the error from the revision asked for and the oldest one kept."""
        return cls(
            f"revision {asked} was dropped; the oldest that can be read is {oldest}",
            metadata={"oldest": str(oldest)},
        )

    @property
    def oldest_revision(self) -> int:
        """The oldest revision that can be read."""
        return int(self.metadata["oldest"])


class OwnerNotFoundError(AntiphonError, LookupError, ValueError):
    """The owner is not registered in the exchange; a ValueError, as ADR-0006 D5 has it.

    Metadata: ``owner_id``.
    """

    reason = "OWNER_NOT_FOUND"
    code = "NOT_FOUND"


class OwnerExistsError(AntiphonError, ValueError):
    """The owner is registered in the exchange already.

    Metadata: ``owner_id``.
    """

    reason = "OWNER_EXISTS"
    code = "ALREADY_EXISTS"


class LeaseLostError(AntiphonError):
    """The lease has expired, or was acknowledged or rejected already.

    Metadata: ``lease_id`` (those lost, comma-separated) and ``lease_id_count``.
    """

    reason = "LEASE_LOST"
    code = "FAILED_PRECONDITION"


class QuotaExceededError(AntiphonError):
    """A limit of the exchange is reached; nothing was stored.

    Metadata: ``limit_name``, ``limit`` and ``actual``.
    """

    reason = "QUOTA_EXCEEDED"
    code = "RESOURCE_EXHAUSTED"


class OverloadedError(AntiphonError):
    """Too much work is queued; retry later.

    Metadata: ``limit_name`` and ``limit``; ``of`` (``reads`` or ``writes``) where it is their share of it.
    """

    reason = "OVERLOADED"
    code = "RESOURCE_EXHAUSTED"
    default_retry_after = 0.1


class StoreBusyError(AntiphonError):
    """The store cannot take the write just now; retry.

    Metadata: ``condition``, such as ``disk_full`` or ``read_only``, where the store knows it.
    """

    reason = "STORE_BUSY"
    code = "UNAVAILABLE"
    default_retry_after = 0.1


class CredentialsMissingError(AntiphonError, PermissionError):
    """The server wants a bearer token; the call has none, or one that is unknown or expired."""

    reason = "CREDENTIALS_MISSING"
    code = "UNAUTHENTICATED"


class RoleNotAllowedError(AntiphonError, PermissionError):
    """The caller's role does not reach that far.

    Metadata: ``role``, and ``needed``: ``read``, ``write`` or ``admin``, or ``scope`` for
    what lies outside of a guest's scope.
    """

    reason = "ROLE_NOT_ALLOWED"
    code = "PERMISSION_DENIED"

    @classmethod
    def of(cls, role: str, needed: str) -> RoleNotAllowedError:
        """Build the error from the caller's role and what the call needs."""
        text = (
            "the call is outside of the guest's scope"
            if needed == "scope"
            else f"the call needs {needed} rights, which the role {role} does not have"
        )
        return cls(text, metadata={"role": role, "needed": needed})


class ShuttingDownError(AntiphonError):
    """The server is stopping; retry against another or a restarted one."""

    reason = "SHUTTING_DOWN"
    code = "UNAVAILABLE"
    default_retry_after = 1.0


class HistoryUnavailableError(AntiphonError):
    """The compiler cannot reach the history service; retry."""

    reason = "HISTORY_UNAVAILABLE"
    code = "UNAVAILABLE"
    default_retry_after = 0.5


class StoreCorruptError(AntiphonError):
    """Stored bytes are not what was written."""

    reason = "STORE_CORRUPT"
    code = "DATA_LOSS"


class SnapshotTruncatedError(AntiphonError):
    """A snapshot's stream ended early or does not match its footer."""

    reason = "SNAPSHOT_TRUNCATED"
    code = "DATA_LOSS"


class InternalError(AntiphonError):
    """A defect of the server.

    Metadata: ``correlation_id``, which stands in the server's log beside the cause.
    """

    reason = "INTERNAL_ERROR"
    code = "INTERNAL"


def and_more(entries: Sequence[object]) -> str:
    """Return what to write after the first of some entries: how many more there are, if there are."""
    return f" (and {len(entries) - 1} more)" if len(entries) > 1 else ""


def id_list(name: str, ids: Sequence[str]) -> dict[str, str]:
    """Metadata for a list of ids: its first 50 under ``name``, its length under ``name_count``."""
    return {name: ",".join(ids[:LIST_LIMIT]), f"{name}_count": str(len(ids))}


def _all_reasons(root: type[AntiphonError]) -> Iterable[type[AntiphonError]]:
    for cls in root.__subclasses__():
        yield cls
        yield from _all_reasons(cls)


BY_REASON: dict[str, type[AntiphonError]] = {cls.reason: cls for cls in _all_reasons(AntiphonError)}
"""Reason name to class, for every reason of both registries."""

"""Errors to gRPC statuses and back, for both services and every client.

An error travels as a ``google.rpc.Status`` in the trailer
``grpc-status-details-bin``: an ErrorInfo always, and BadRequest, RetryInfo,
PreconditionFailure, ResourceInfo and RevisionConflict where they apply. Trailers
are small: the serialized status stays within 4 KiB and the message within 512
bytes, whatever the error holds; lists give way first, their exact counts stay.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import grpc
from google.protobuf.any_pb2 import Any as PbAny
from google.protobuf.message import DecodeError, Message
from google.rpc import code_pb2, error_details_pb2, status_pb2

from antiphon.history.v1 import errors_pb2
from antiphon_client.errors import BY_REASON, LIST_LIMIT, AntiphonError, Violation

HISTORY_DOMAIN = "antiphon.history"
COMPILER_DOMAIN = "antiphon.compiler"
DOMAINS = frozenset({HISTORY_DOMAIN, COMPILER_DOMAIN})

STATUS_BYTES = 4096
"""Largest serialized status, in bytes."""
MESSAGE_BYTES = 512
"""Longest message, in bytes of UTF-8."""
DETAILS_KEY = "grpc-status-details-bin"
"""The trailer that carries the serialized status."""

_TEXT_BYTES = 256
"""Longest text of one violation and longest single metadata value, in bytes."""
_KEY_BYTES = 64
_KEYS = 32

_BRANCH = "antiphon.history.v1.Branch"
_MESSAGE = "antiphon.message.v1.Message"

_RESOURCES: dict[str, tuple[str, str]] = {
    "BRANCH_NOT_FOUND": (_BRANCH, "branch_id"),
    "BRANCH_EXISTS": (_BRANCH, "branch_id"),
    "MESSAGE_NOT_FOUND": (_MESSAGE, "missing"),
    "ACTION_ALREADY_ANSWERED": (_MESSAGE, "action_request_id"),
    "REQUEST_ID_REUSED": ("request_id", "request_id"),
}
"""Reason to the kind of resource it is about and the metadata that names it."""

_SUBJECTS = ("message_id", "action_request_id", "message_ids", "missing", "duplicate", "branch_id")
"""Metadata that can name a failed precondition's subject, the narrowest first."""


def status_code(error: AntiphonError) -> grpc.StatusCode:
    """Return the gRPC code of an error's reason."""
    return grpc.StatusCode[error.code]


def to_status(error: AntiphonError, domain: str) -> status_pb2.Status:
    """Encode an error within the bounds of a trailer.

    Args:
        error: The error. Its own ``domain``, when set, wins: an error passed on
            from another service keeps its origin.
        domain: The domain of the service that answers.

    Returns:
        The status: ``STATUS_BYTES`` at most when serialized.
    """
    entries, text_bytes = LIST_LIMIT, _TEXT_BYTES
    while True:
        status = _build(error, error.domain or domain, entries, text_bytes)
        if status.ByteSize() <= STATUS_BYTES:
            return status
        if entries > 1:
            entries //= 2
        else:
            text_bytes //= 2


def trailers(status: status_pb2.Status) -> tuple[tuple[str, bytes], ...]:
    """Return the trailing metadata that carries a status."""
    return ((DETAILS_KEY, status.SerializeToString()),)


def error_from_status(status: status_pb2.Status) -> AntiphonError | None:
    """Rebuild the error that a status was made from, as far as it carries it.

    Returns:
        An instance of the reason's class; for a reason that this version does
        not know, a plain ``AntiphonError`` with that reason and code. None where
        the status is not of one of our services.
    """
    info = error_details_pb2.ErrorInfo()
    request = error_details_pb2.BadRequest()
    retry = error_details_pb2.RetryInfo()
    for detail in status.details:
        for target in (info, request, retry):
            if detail.Is(target.DESCRIPTOR):
                try:
                    detail.Unpack(target)
                except DecodeError:
                    return None
    if info.domain not in DOMAINS:
        return None
    retry_after = retry.retry_delay.seconds + retry.retry_delay.nanos / 1e9
    return _class_of(info.reason, status.code)(
        status.message,
        domain=info.domain,
        metadata=dict(info.metadata),
        violations=[Violation(each.field, each.description) for each in request.field_violations],
        retry_after=retry_after if retry_after > 0 else None,
    )


def error_from_rpc(exc: grpc.RpcError) -> AntiphonError | None:
    """Rebuild the error behind a failed call of ``grpc`` or ``grpc.aio``.

    Returns:
        The error, or None where the failure carries no ErrorInfo of ours: the
        connection failed, the deadline passed, the call was cancelled.
    """
    trailing = getattr(exc, "trailing_metadata", None)
    if trailing is None:
        return None
    for key, value in trailing() or ():
        if key == DETAILS_KEY:
            try:
                return error_from_status(status_pb2.Status.FromString(value))
            except DecodeError:
                return None
    return None


def cut_text(text: str, limit: int) -> str:
    """Cut a text to ``limit`` bytes of UTF-8 between characters; a cut ends in ``...``.

    A lone surrogate, which no wire text can hold, becomes ``?``.
    """
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= limit:
        return encoded.decode("utf-8")
    return encoded[: max(limit - 3, 0)].decode("utf-8", "ignore") + "..."[:limit]


def _build(error: AntiphonError, domain: str, entries: int, text_bytes: int) -> status_pb2.Status:
    """Build the status with lists of at most ``entries`` and texts of at most ``text_bytes``."""
    message = cut_text(error.message, MESSAGE_BYTES)
    metadata = _bounded_metadata(error, entries, text_bytes)
    details: list[Message] = [
        error_details_pb2.ErrorInfo(reason=error.reason, domain=domain, metadata=metadata)
    ]
    if error.violations:
        details.append(_bad_request(error.violations[:entries], text_bytes))
    if error.retry_after is not None:
        details.append(_retry_info(error.retry_after))
    if error.code == "FAILED_PRECONDITION":
        details.append(_precondition_failure(error, metadata, text_bytes))
    if error.reason in _RESOURCES:
        details.append(_resource_info(error, metadata, text_bytes))
    if error.reason == "REVISION_CONFLICT":
        details.extend(_revision_conflict(metadata))
    return status_pb2.Status(
        code=code_pb2.Code.Value(error.code), message=message, details=[_packed(each) for each in details]
    )


def _packed(detail: Message) -> PbAny:
    packed = PbAny()
    packed.Pack(detail)
    return packed


def _bounded_metadata(error: AntiphonError, entries: int, text_bytes: int) -> dict[str, str]:
    """Bound the metadata: a value with a ``_count`` beside it is a comma-separated list."""
    bounded: dict[str, str] = {}
    for key, value in list(error.metadata.items())[:_KEYS]:
        name = cut_text(key, _KEY_BYTES)
        if f"{key}_count" in error.metadata or "," in value:
            items = value.split(",")
            bounded[name] = ",".join(cut_text(item, text_bytes) for item in items[:entries])
            if len(items) > entries:
                bounded.setdefault(f"{name}_count", error.metadata.get(f"{key}_count", str(len(items))))
        else:
            bounded[name] = cut_text(value, text_bytes)
    if error.violations:
        bounded.setdefault("violation_count", str(len(error.violations)))
    return bounded


def _bad_request(violations: Iterable[Violation], text_bytes: int) -> error_details_pb2.BadRequest:
    request = error_details_pb2.BadRequest()
    for violation in violations:
        request.field_violations.add(
            field=cut_text(violation.field, text_bytes),
            description=cut_text(violation.description, text_bytes),
        )
    return request


def _retry_info(seconds: float) -> error_details_pb2.RetryInfo:
    info = error_details_pb2.RetryInfo()
    info.retry_delay.FromNanoseconds(round(seconds * 1e9))
    return info


def _first(metadata: dict[str, str], key: str) -> str:
    return metadata.get(key, "").partition(",")[0]


def _precondition_failure(
    error: AntiphonError, metadata: dict[str, str], text_bytes: int
) -> error_details_pb2.PreconditionFailure:
    subject = next((_first(metadata, key) for key in _SUBJECTS if metadata.get(key)), "")
    failure = error_details_pb2.PreconditionFailure()
    failure.violations.add(
        type=error.reason, subject=subject, description=cut_text(error.message, text_bytes)
    )
    return failure


def _resource_info(
    error: AntiphonError, metadata: dict[str, str], text_bytes: int
) -> error_details_pb2.ResourceInfo:
    kind, key = _RESOURCES[error.reason]
    return error_details_pb2.ResourceInfo(
        resource_type=kind,
        resource_name=_first(metadata, key),
        description=cut_text(error.message, text_bytes),
    )


def _revision_conflict(metadata: dict[str, str]) -> list[Message]:
    try:
        expected, actual = int(metadata["expected"]), int(metadata["actual"])
    except (KeyError, ValueError):
        return []
    return [
        errors_pb2.RevisionConflict(
            branch_id=metadata.get("branch_id", ""), expected_revision=expected, actual_revision=actual
        )
    ]


def _class_of(reason: str, code: int) -> type[AntiphonError]:
    known = BY_REASON.get(reason)
    if known is not None:
        return known
    return _class_of_newer_reason(reason, code)


@lru_cache(maxsize=64)
def _class_of_newer_reason(reason: str, code: int) -> type[AntiphonError]:
    """Make a class for a reason of a newer server, so that callers still read its name."""
    name = code_pb2.Code.Name(code) if code in code_pb2.Code.values() else "UNKNOWN"
    return type("NewerError", (AntiphonError,), {"reason": reason, "code": name})

"""Errors to statuses and back."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2
from hypothesis import example, given
from hypothesis import strategies as st

from antiphon.compiler.v1 import errors_pb2 as compiler_errors
from antiphon.history.v1 import errors_pb2 as history_errors
from antiphon_client import errors
from antiphon_client.errors import AntiphonError, Violation
from antiphon_client.ids import new_id
from antiphon_client.status import (
    DETAILS_KEY,
    MESSAGE_BYTES,
    STATUS_BYTES,
    cut_text,
    error_from_rpc,
    error_from_status,
    status_code,
    to_status,
    trailers,
)

HISTORY = "antiphon.history"


def details(status: status_pb2.Status) -> dict[str, object]:
    """Unpack a status's details by their type's short name."""
    kinds = [
        error_details_pb2.ErrorInfo,
        error_details_pb2.BadRequest,
        error_details_pb2.RetryInfo,
        error_details_pb2.PreconditionFailure,
        error_details_pb2.ResourceInfo,
        history_errors.RevisionConflict,
    ]
    found = {}
    for packed in status.details:
        for kind in kinds:
            if packed.Is(kind.DESCRIPTOR):
                found[kind.DESCRIPTOR.name] = kind.FromString(packed.value)
    assert len(found) == len(status.details)
    return found


class Failure(grpc.RpcError):
    """A failed call, as far as ``error_from_rpc`` looks at one."""

    def __init__(self, trailing: tuple[tuple[str, bytes], ...] | None) -> None:
        self._trailing = trailing

    def trailing_metadata(self) -> Any:  # the real one is a tuple or None
        return self._trailing


@pytest.mark.parametrize("registry", [history_errors.ErrorReason, compiler_errors.ErrorReason])
def test_every_registered_reason_has_a_class_and_travels(registry: object) -> None:
    for name in registry.keys():  # type: ignore[attr-defined]  # noqa: SIM118
        reason = name.removeprefix("ERROR_REASON_")
        if reason == "UNSPECIFIED":
            continue
        error = errors.BY_REASON[reason]("said", metadata={"fact": "1"})
        back = error_from_status(to_status(error, HISTORY))
        assert type(back) is type(error)
        assert back is not None
        assert (back.message, back.domain, back.metadata) == ("said", HISTORY, {"fact": "1"})
        assert back.retry_after == error.retry_after
        assert status_code(error) is grpc.StatusCode[error.code]


def test_violations_become_a_bad_request() -> None:
    error = errors.FieldInvalidError.of_all([Violation("a[0].b", "is wrong"), Violation("c", "is late")])
    found = details(to_status(error, HISTORY))
    request = found["BadRequest"]
    assert [(each.field, each.description) for each in request.field_violations] == [  # type: ignore[attr-defined]
        ("a[0].b", "is wrong"),
        ("c", "is late"),
    ]
    back = error_from_status(to_status(error, HISTORY))
    assert back is not None
    assert back.violations == error.violations
    assert back.metadata == {"violation_count": "2"}


def test_revision_conflict_has_its_detail() -> None:
    branch = new_id()
    found = details(to_status(errors.RevisionConflictError.of(branch, expected=4, actual=9), HISTORY))
    assert found["RevisionConflict"] == history_errors.RevisionConflict(
        branch_id=branch, expected_revision=4, actual_revision=9
    )
    back = error_from_status(
        to_status(errors.RevisionConflictError.of(branch, expected=4, actual=9), HISTORY)
    )
    assert isinstance(back, errors.RevisionConflictError)
    assert (back.expected_revision, back.actual_revision) == (4, 9)


def test_retryable_errors_say_when() -> None:
    found = details(to_status(errors.OverloadedError("busy", retry_after=1.25), HISTORY))
    retry = found["RetryInfo"]
    assert (retry.retry_delay.seconds, retry.retry_delay.nanos) == (1, 250_000_000)  # type: ignore[attr-defined]
    assert "RetryInfo" not in details(to_status(errors.BranchDeletedError("gone"), HISTORY))


def test_preconditions_and_resources_are_named() -> None:
    branch = new_id()
    deleted = details(to_status(errors.BranchDeletedError("gone", metadata={"branch_id": branch}), HISTORY))
    violation = deleted["PreconditionFailure"].violations[0]  # type: ignore[attr-defined]
    assert (violation.type, violation.subject) == ("BRANCH_DELETED", branch)
    missing = details(to_status(errors.MessageNotFoundError.of(["m1", "m2"], at_revision=7), HISTORY))
    resource = missing["ResourceInfo"]
    assert resource.resource_type == "antiphon.message.v1.Message"  # type: ignore[attr-defined]
    assert resource.resource_name == "m1"  # type: ignore[attr-defined]


def test_an_error_passed_on_keeps_its_domain() -> None:
    error = errors.BranchNotFoundError("no", domain=HISTORY)
    back = error_from_status(to_status(error, "antiphon.compiler"))
    assert back is not None
    assert back.domain == HISTORY


def test_lists_give_way_and_counts_stay() -> None:
    missing = [new_id() for _ in range(900)]
    duplicate = [new_id() for _ in range(300)]
    status = to_status(errors.ProgressionInvalidError.of(missing, duplicate), HISTORY)
    assert status.ByteSize() <= STATUS_BYTES
    back = error_from_status(status)
    assert back is not None
    assert (back.metadata["missing_count"], back.metadata["duplicate_count"]) == ("900", "300")
    kept = back.metadata["missing"].split(",")
    assert kept == missing[: len(kept)]
    assert len(kept) >= 12
    assert back.metadata["duplicate"].split(",") == duplicate[: len(kept)]


def test_a_list_that_fits_keeps_fifty() -> None:
    ids = [new_id() for _ in range(60)]
    back = error_from_status(to_status(errors.MessageNotFoundError.of(ids, at_revision=7), HISTORY))
    assert back is not None
    assert back.metadata["missing"].split(",") == ids[:50]


def test_a_cut_list_without_a_count_gets_one() -> None:
    ids = [f"m{index}" for index in range(70)]
    error = errors.UnsupportedContentError("no", metadata={"message_ids": ",".join(ids)})
    back = error_from_status(to_status(error, HISTORY))
    assert back is not None
    assert back.metadata == {"message_ids": ",".join(ids[:50]), "message_ids_count": "70"}


ANY_TEXT = st.text(st.characters(codec=None), max_size=900)


@given(
    message=ANY_TEXT,
    metadata=st.dictionaries(st.text(max_size=90), ANY_TEXT, max_size=40),
    violations=st.lists(st.builds(Violation, ANY_TEXT, ANY_TEXT), max_size=60),
    reason=st.sampled_from(sorted(errors.BY_REASON)),
)
@example(message="é" * 600, metadata={"k" * 90: "\ud800" * 5000}, violations=[], reason="FIELD_INVALID")
@example(
    message="\U0001f600" * 600,
    metadata={f"{index}" * 64: "é" * 500 for index in range(40)},
    violations=[Violation("f" * 600, "d" * 600)] * 50,
    reason="BRANCH_DELETED",
)
def test_whatever_an_error_holds_its_status_is_bounded_and_readable(
    message: str, metadata: dict[str, str], violations: list[Violation], reason: str
) -> None:
    error = errors.BY_REASON[reason](message, metadata=metadata, violations=violations)
    status = to_status(error, HISTORY)
    assert len(status.SerializeToString()) <= STATUS_BYTES
    assert len(status.message.encode()) <= MESSAGE_BYTES
    back = error_from_status(status)
    assert back is not None
    assert back.reason == reason
    for found, sent in zip(back.violations, error.violations, strict=False):
        assert sent.field.encode("utf-8", "replace").decode().startswith(found.field.removesuffix("..."))


@given(text=st.text(max_size=40), limit=st.integers(0, 60))
def test_cut_text_cuts_between_characters(text: str, limit: int) -> None:
    cut = cut_text(text, limit)
    assert len(cut.encode()) <= limit
    assert cut == text or text.startswith(cut.removesuffix("...")) or limit < 3
    if len(text.encode()) <= limit:
        assert cut == text


def test_foreign_failures_are_not_ours() -> None:
    assert error_from_rpc(grpc.RpcError()) is None
    assert error_from_rpc(Failure(None)) is None
    assert error_from_rpc(Failure(())) is None
    assert error_from_rpc(Failure(((DETAILS_KEY, b"\xff"),))) is None
    foreign = to_status(errors.OverloadedError("busy"), "elsewhere.example")
    assert error_from_rpc(Failure(trailers(foreign))) is None
    broken = to_status(errors.OverloadedError("busy"), HISTORY)
    broken.details[0].value = b"\xff"
    with pytest.raises(DecodeError):
        error_details_pb2.ErrorInfo.FromString(broken.details[0].value)
    assert error_from_rpc(Failure(trailers(broken))) is None
    ours = error_from_rpc(
        Failure((("other", b""), *trailers(to_status(errors.OverloadedError("busy"), HISTORY))))
    )
    assert isinstance(ours, errors.OverloadedError)


def test_a_reason_of_a_newer_server_stays_readable() -> None:
    status = to_status(errors.BranchDeletedError("gone"), HISTORY)
    info = error_details_pb2.ErrorInfo(reason="BRANCH_ASLEEP", domain=HISTORY, metadata={"until": "dawn"})
    status.details[0].Pack(info)
    back = error_from_status(status)
    assert isinstance(back, AntiphonError)
    assert (back.reason, back.code, back.metadata) == (
        "BRANCH_ASLEEP",
        "FAILED_PRECONDITION",
        {"until": "dawn"},
    )
    assert back.reason not in errors.BY_REASON

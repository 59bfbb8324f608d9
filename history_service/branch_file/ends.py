"""The first and the last line of a branch file."""

from __future__ import annotations

from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message as ProtoMessage

from antiphon.history.v1 import branch_pb2 as branch_pb
from antiphon_client.branch_file import FORMAT, READABLE_VERSIONS
from antiphon_client.errors import FieldInvalidError, Violation
from antiphon_client.limits import Limits
from antiphon_client.messages.validation import validate_uuid
from history_service.branch_file.proto_json import fill, refuse_unknown
from history_service.request_checks import check_branch_metadata

_HEADER = ("format", "version", "branch")
_IDS = frozenset(
    (
        "branch_id",
        "parent_branch_id",
        "lineage_id",
        "incarnation",
        "system_message_id",
        "up_to_message_id",
    )
)


def branch_of(record: dict[str, Any], limits: Limits) -> branch_pb.Branch:
    """Return the branch of a file's first line.

    Raises:
        FieldInvalidError: It is not the first line of a branch file, or the branch cannot be one.
        ReservedKeyError: The branch's metadata uses a reserved key.
        SizeLimitExceededError: The branch's metadata is too large.
    """
    # Files are recognized by how they begin.
    if next(iter(record)) != "format" or record["format"] != FORMAT:
        raise FieldInvalidError.of("format", f'a branch file begins with {{"format":"{FORMAT}"')
    version = record.get("version")
    # Compared by type: true equals 1.
    if type(version) is not int or version not in READABLE_VERSIONS:
        known = ", ".join(map(str, sorted(READABLE_VERSIONS)))
        raise FieldInvalidError.of("version", f"must be a version that this service reads: {known}")
    for name in record:
        if name not in _HEADER:
            refuse_unknown("", name)
    if "branch" not in record:
        raise FieldInvalidError.of("branch", "is required")
    branch = branch_pb.Branch()
    fill(branch, record["branch"], "branch", skip_unknown=True)
    violations: list[Violation] = []
    _check_origin(branch, "branch", violations)
    if violations:
        raise FieldInvalidError.of_all(violations)
    check_branch_metadata(branch.metadata_json, "branch.metadata_json", limits)
    return branch


def _check_origin(message: ProtoMessage, path: str, violations: list[Violation]) -> None:
    """Append a violation for every id that is none and every count or revision below zero."""
    for field, value in message.ListFields():
        place = f"{path}.{field.name}"
        if field.type == FieldDescriptor.TYPE_INT64 and value < 0:
            violations.append(Violation(place, "must not be negative"))
        elif field.name in _IDS:
            validate_uuid(value, place, violations)
        elif field.name == "forked_from":
            _check_origin(value, place, violations)


def check_footer(footer: Any, *, messages: int, view: int | None, sha256: str) -> None:
    """Check a file's last line against what stands before it.

    Args:
        footer: The value of its ``end``.
        messages: Messages before it.
        view: Ids of the view before it; None while no view is selected.
        sha256: Hash of all bytes before it.

    Raises:
        FieldInvalidError: It is no footer, or tells of another file.
    """
    if not isinstance(footer, dict):
        raise FieldInvalidError.of("end", "must be an object")
    counts = {"messages": messages} if view is None else {"messages": messages, "view": view}
    for name in footer:
        if name not in counts and name != "sha256":
            refuse_unknown("end", name)
    for name, count in counts.items():
        told = footer.get(name)
        # Compared by type: true equals 1, and so does 1.0.
        if type(told) is not int or told != count:
            raise FieldInvalidError.of(f"end.{name}", f"must be {count}, as many as the file has")
    if footer.get("sha256") != sha256:
        raise FieldInvalidError.of("end.sha256", "is not the hash of the lines before")

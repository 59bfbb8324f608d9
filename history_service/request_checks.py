"""What a request's own fields must hold, before the branch is looked at.

One function per RPC. Violations are gathered, so that a caller learns of all of
them at once; sizes and counts end the check at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from google.protobuf.message import Message

from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon.message.v1 import message_pb2 as message_pb
from antiphon_client.errors import (
    FieldInvalidError,
    ReservedKeyError,
    SizeLimitExceededError,
    Violation,
)
from antiphon_client.json_text import parse_json_text
from antiphon_client.limits import Limits
from antiphon_client.messages.validation import validate_json_field, validate_message, validate_uuid

RESERVED_METADATA_KEY = "current_progression"

_KINDS = frozenset(history_pb.MessageKind.values()) - {history_pb.MESSAGE_KIND_UNSPECIFIED}
_ORDERS = frozenset(history_pb.Order.values())
_FORK_IDS = frozenset(history_pb.ForkIds.values())


GuardedWrite = (
    history_pb.UpdateBranchRequest
    | history_pb.DeleteBranchRequest
    | history_pb.AddMessagesRequest
    | history_pb.RespondToActionRequest
    | history_pb.SetSystemRequest
    | history_pb.RemoveMessagesRequest
    | history_pb.MoveMessageRequest
    | history_pb.ClearMessagesRequest
    | history_pb.SelectViewRequest
    | history_pb.ClearViewRequest
    | history_pb.CommitCompactionRequest
)
"""A request of a write on a branch."""

BranchRead = (
    history_pb.GetBranchRequest
    | history_pb.GetMessagesRequest
    | history_pb.ListMessagesRequest
    | history_pb.ReadSnapshotRequest
    | history_pb.ExportBranchRequest
)
"""A request of a read of a branch."""


class Checks:
    """Gathers violations; raises them as one error."""

    def __init__(self) -> None:
        self.violations: list[Violation] = []

    def add(self, field: str, description: str) -> None:
        """Add a violation."""
        self.violations.append(Violation(field, description))

    def uuid(self, text: str, field: str) -> None:
        """Check that a text is a canonical UUID."""
        validate_uuid(text, field, self.violations)

    def uuid_if_present(self, request: Message, field: str) -> None:
        """Check an optional field as ``uuid`` does."""
        if request.HasField(field):
            self.uuid(getattr(request, field), field)

    def external_key_if_present(
        self,
        request: history_pb.CreateBranchRequest | history_pb.ForkBranchRequest | history_pb.ImportHead,
        limits: Limits,
    ) -> None:
        """Check an optional external key."""
        if request.HasField("external_key"):
            size = len(request.external_key.encode())
            if not 1 <= size <= limits.external_key_bytes:
                self.add("external_key", f"must have 1 to {limits.external_key_bytes} bytes, has {size}")

    def request_id(self, text: str) -> None:
        """Check a request id; empty is none."""
        if text:
            self.uuid(text, "request_id")

    def object_if_given(self, text: str, field: str) -> None:
        """Check that a text is a JSON object; empty is none."""
        if text:
            validate_json_field(text, field, self.violations, require_object=True)

    def revision(self, request: Message, field: str) -> None:
        """Check an optional revision."""
        if request.HasField(field) and getattr(request, field) < 1:
            self.add(field, "must be 1 or more")

    def page_size(self, page_size: int) -> None:
        """Check a page size."""
        if page_size < 0:
            self.add("page_size", "must not be negative")

    def ids(self, message_ids: Iterable[str], field: str = "message_ids") -> None:
        """Check that each text is a canonical UUID."""
        for index, message_id in enumerate(message_ids):
            validate_uuid(message_id, f"{field}[{index}]", self.violations)

    def no_id_twice(self, ids: Iterable[str], field: str) -> None:
        """Check that no id comes twice."""
        seen: set[str] = set()
        for index, one in enumerate(ids):
            if one in seen:
                self.add(f"{field}[{index}]", "comes twice")
            seen.add(one)

    def finish(self) -> None:
        """Raise what was found, if anything.

        Raises:
            FieldInvalidError: There are violations.
        """
        if self.violations:
            raise FieldInvalidError.of_all(self.violations)


def check_create_branch(request: history_pb.CreateBranchRequest, limits: Limits) -> None:
    """Check a CreateBranchRequest.

    Raises:
        FieldInvalidError: A field breaks its rule.
        ReservedKeyError: The metadata uses a reserved key.
        SizeLimitExceededError: The metadata is too large.
    """
    checks = Checks()
    checks.uuid_if_present(request, "branch_id")
    checks.uuid_if_present(request, "parent_branch_id")
    checks.external_key_if_present(request, limits)
    checks.request_id(request.request_id)
    _branch_metadata(checks, request.metadata_json, limits)


def check_fork_branch(request: history_pb.ForkBranchRequest, limits: Limits) -> None:
    """Check a ForkBranchRequest.

    Raises:
        FieldInvalidError: A field breaks its rule.
        ReservedKeyError: The metadata uses a reserved key.
        SizeLimitExceededError: The metadata is too large.
    """
    checks = Checks()
    checks.uuid(request.source_branch_id, "source_branch_id")
    checks.revision(request, "at_revision")
    checks.uuid_if_present(request, "up_to_message_id")
    if request.ids not in _FORK_IDS:
        checks.add("ids", f"unknown value {request.ids}")
    checks.uuid_if_present(request, "branch_id")
    checks.external_key_if_present(request, limits)
    checks.request_id(request.request_id)
    _branch_metadata(checks, request.metadata_json, limits)


def check_trim_history(request: history_pb.TrimHistoryRequest) -> None:
    """Check a TrimHistoryRequest.

    Raises:
        FieldInvalidError: A field breaks its rule.
    """
    checks = Checks()
    checks.uuid(request.branch_id, "branch_id")
    if request.before_revision < 1:
        checks.add("before_revision", "must be 1 or more")
    checks.finish()


def _branch_metadata(
    checks: Checks, metadata_json: str, limits: Limits, field: str = "metadata_json"
) -> None:
    """Finish the checks of a request with those of its branch metadata."""
    size = len(metadata_json.encode())
    check_count(field, size, "branch_metadata_bytes", limits.branch_metadata_bytes)
    checks.object_if_given(metadata_json, field)
    checks.finish()
    if metadata_json and RESERVED_METADATA_KEY in parse_json_text(metadata_json):
        raise ReservedKeyError(
            f"{field}: the key {RESERVED_METADATA_KEY} is reserved; use SelectView",
            metadata={"key": RESERVED_METADATA_KEY},
            violations=[Violation(field, f"the key {RESERVED_METADATA_KEY} is reserved")],
        )


def check_count(field: str, actual: int, limit_name: str, limit: int) -> None:
    """Check a size or a count.

    Raises:
        SizeLimitExceededError: It is over the limit.
    """
    if actual > limit:
        raise SizeLimitExceededError.of(field, limit_name=limit_name, limit=limit, actual=actual)


def _guard(request: GuardedWrite) -> Checks:
    """Begin the checks of a branch write with the fields that all of them have."""
    checks = Checks()
    checks.uuid(request.branch_id, "branch_id")
    checks.revision(request, "expected_revision")
    checks.request_id(request.request_id)
    return checks


def check_guarded_write(request: GuardedWrite) -> None:
    """Check a branch write that has no fields of its own.

    Raises:
        FieldInvalidError: A field breaks its rule.
    """
    _guard(request).finish()


def check_update_branch(request: history_pb.UpdateBranchRequest, limits: Limits) -> None:
    """Check an UpdateBranchRequest.

    Raises:
        FieldInvalidError: A field breaks its rule.
        ReservedKeyError: The metadata uses a reserved key.
        SizeLimitExceededError: The metadata is too large.
    """
    _branch_metadata(_guard(request), request.metadata_json, limits)


def check_add_messages(request: history_pb.AddMessagesRequest, limits: Limits) -> None:
    """Check an AddMessagesRequest.

    Raises:
        FieldInvalidError: A field breaks its rule, an id comes twice, or two
            messages are system records.
        SizeLimitExceededError: There are too many messages, or one is too large.
    """
    checks = _guard(request)
    messages = request.messages
    if not messages:
        checks.add("messages", "must hold one message at least")
    check_count("messages", len(messages), "batch_messages", limits.batch_messages)
    seen: set[str] = set()
    systems = 0
    for index, message in enumerate(messages):
        field = f"messages[{index}]"
        validate_message(message, field, checks.violations, limits)
        if message_id := message.id:
            if message_id in seen:
                checks.add(f"{field}.id", "comes twice in the batch")
            seen.add(message_id)
        if message.HasField("system"):
            systems += 1
            if systems > 1:
                checks.add(f"{field}.system", "is the batch's second system record")
    checks.finish()


def check_respond(
    request: history_pb.RespondToActionRequest, draft: message_pb.Message, limits: Limits
) -> None:
    """Check a RespondToActionRequest by the message drafted from it.

    Raises:
        FieldInvalidError: A field breaks its rule.
        SizeLimitExceededError: The message is too large.
    """
    checks = _guard(request)
    # The draft's content fields are the request's own, at its top level.
    _draft(checks, request, draft, "action_response.", limits)


def check_set_system(request: history_pb.SetSystemRequest, draft: message_pb.Message, limits: Limits) -> None:
    """Check a SetSystemRequest by the message drafted from it.

    Raises:
        FieldInvalidError: A field breaks its rule.
        SizeLimitExceededError: The message is too large.
    """
    checks = _guard(request)
    if not request.HasField("system"):
        checks.add("system", "is required")
    _draft(checks, request, draft, "", limits)


def _draft(
    checks: Checks,
    request: history_pb.RespondToActionRequest
    | history_pb.SetSystemRequest
    | history_pb.CommitCompactionRequest,
    draft: message_pb.Message,
    prefix: str,
    limits: Limits,
) -> None:
    """Finish the checks of a request with those of its message, under the request's own paths."""
    found: list[Violation] = []
    validate_message(draft, "", found, limits)
    if request.HasField("message_id") and not request.message_id:
        checks.uuid(request.message_id, "message_id")
    for violation in found:
        field = "message_id" if violation.field == "id" else violation.field.removeprefix(prefix)
        checks.add(field, violation.description)
    checks.finish()


def check_remove_messages(request: history_pb.RemoveMessagesRequest, limits: Limits) -> None:
    """Check a RemoveMessagesRequest.

    Raises:
        FieldInvalidError: A field breaks its rule, or an id comes twice.
        SizeLimitExceededError: There are too many ids.
    """
    checks = _guard(request)
    _some_ids(checks, request.message_ids, "batch_messages", limits.batch_messages)
    checks.no_id_twice(request.message_ids, "message_ids")
    checks.finish()


def _some_ids(checks: Checks, message_ids: Sequence[str], limit_name: str, limit: int) -> None:
    if not message_ids:
        checks.add("message_ids", "must hold one id at least")
    check_count("message_ids", len(message_ids), limit_name, limit)
    checks.ids(message_ids)


def check_move_message(request: history_pb.MoveMessageRequest) -> None:
    """Check a MoveMessageRequest; its index is checked against the branch later.

    Raises:
        FieldInvalidError: A field breaks its rule.
    """
    checks = _guard(request)
    checks.uuid(request.message_id, "message_id")
    if request.index < 0:
        checks.add("index", "must not be negative")
    checks.finish()


def check_select_view(request: history_pb.SelectViewRequest) -> None:
    """Check a SelectViewRequest; unknown and repeated ids are the branch's to tell.

    Raises:
        FieldInvalidError: A field breaks its rule.
    """
    checks = _guard(request)
    checks.ids(request.message_ids)
    checks.finish()


def check_commit_compaction(
    request: history_pb.CommitCompactionRequest, draft: message_pb.Message, limits: Limits
) -> None:
    """Check a CommitCompactionRequest by the record drafted from it; ids are the branch's to know.

    Raises:
        FieldInvalidError: A field breaks its rule.
        SizeLimitExceededError: The record is too large.
    """
    checks = _guard(request)
    checks.ids(request.view_message_ids, "view_message_ids")
    checks.revision(request, "planned_revision")
    if not request.HasField("summary"):
        checks.add("summary", "is required")
        checks.finish()
    _draft(checks, request, draft, "", limits)


def _read(request: BranchRead) -> Checks:
    """Begin the checks of a read of a branch with the fields that all of them have."""
    checks = Checks()
    checks.uuid(request.branch_id, "branch_id")
    checks.revision(request, "at_revision")
    return checks


def check_get_branch(request: history_pb.GetBranchRequest) -> None:
    """Check a GetBranchRequest.

    Raises:
        FieldInvalidError: A field breaks its rule.
    """
    _read(request).finish()


def check_list_branches(request: history_pb.ListBranchesRequest) -> None:
    """Check a ListBranchesRequest.

    Raises:
        FieldInvalidError: A field breaks its rule.
    """
    checks = Checks()
    checks.uuid_if_present(request, "parent_branch_id")
    checks.page_size(request.page_size)
    checks.finish()


def check_get_messages(request: history_pb.GetMessagesRequest, limits: Limits) -> None:
    """Check a GetMessagesRequest.

    Raises:
        FieldInvalidError: A field breaks its rule.
        SizeLimitExceededError: There are too many ids.
    """
    checks = _read(request)
    _some_ids(checks, request.message_ids, "page_messages", limits.page_messages)
    checks.finish()


def check_list_messages(request: history_pb.ListMessagesRequest) -> None:
    """Check a ListMessagesRequest.

    Raises:
        FieldInvalidError: A field breaks its rule.
    """
    checks = _read(request)
    for index, kind in enumerate(request.kinds):
        if kind not in _KINDS:
            checks.add(f"kinds[{index}]", f"unknown kind {kind}")
    if request.order not in _ORDERS:
        checks.add("order", f"unknown order {request.order}")
    checks.page_size(request.page_size)
    checks.finish()


def check_read_snapshot(request: history_pb.ReadSnapshotRequest) -> None:
    """Check a ReadSnapshotRequest; unknown and repeated ids are the branch's to tell.

    Raises:
        FieldInvalidError: A field breaks its rule.
    """
    checks = _read(request)
    checks.ids(request.progression.message_ids, "progression.message_ids")
    checks.finish()


def check_watch_branch(request: history_pb.WatchBranchRequest) -> None:
    """Check a WatchBranchRequest.

    Raises:
        FieldInvalidError: A field breaks its rule.
    """
    checks = Checks()
    checks.uuid(request.branch_id, "branch_id")
    if request.after_revision < 0:
        checks.add("after_revision", "must not be negative")
    if request.incarnation:
        checks.uuid(request.incarnation, "incarnation")
    checks.finish()


def check_export_branch(request: history_pb.ExportBranchRequest) -> None:
    """Check an ExportBranchRequest.

    Raises:
        FieldInvalidError: A field breaks its rule.
    """
    _read(request).finish()


def check_branch_metadata(metadata_json: str, field: str, limits: Limits) -> None:
    """Check the metadata of a branch that does not come in a request of its own, but as this field.

    Raises:
        FieldInvalidError: It is no JSON object.
        ReservedKeyError: It uses a reserved key.
        SizeLimitExceededError: It is too large.
    """
    _branch_metadata(Checks(), metadata_json, limits, field)


def check_import_head(head: history_pb.ImportHead, limits: Limits) -> None:
    """Check the head of an import.

    Raises:
        FieldInvalidError: A field breaks its rule.
    """
    checks = Checks()
    checks.uuid_if_present(head, "branch_id")
    checks.external_key_if_present(head, limits)
    checks.request_id(head.request_id)
    checks.finish()

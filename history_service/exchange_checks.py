"""What an exchange request's own fields must hold, before the exchange is looked at.

One function per RPC, as in ``request_checks``.
"""

from __future__ import annotations

from antiphon.history.v1 import exchange_service_pb2 as pb
from antiphon_client.limits import Limits
from antiphon_client.messages.validation import validate_message
from history_service.domain.exchange_owners import EXCHANGE_LIMITS
from history_service.request_checks import Checks, check_count

EXCHANGE_ID_BYTES = 512
DEFAULT_VISIBILITY_SECONDS = 30
MAX_VISIBILITY_SECONDS = 43_200
MOST_OWNERS = 20_000
"""The most that ``max_owners`` can be: a broadcast reaches all in one transaction, some 50 µs each."""

_MODES = frozenset(pb.DeliveryMode.values())
_FATES = frozenset(pb.QueuedMail.values())

ExchangeRequest = (
    pb.RegisterOwnerRequest
    | pb.UnregisterOwnerRequest
    | pb.ListOwnersRequest
    | pb.SendRequest
    | pb.CollectRequest
    | pb.CollectAllRequest
    | pb.ReceiveRequest
    | pb.PopRequest
    | pb.LeaseRequest
    | pb.AcknowledgeRequest
    | pb.RejectRequest
    | pb.ListDeadLettersRequest
    | pb.RedriveDeadLetterRequest
    | pb.WatchInboxRequest
)
"""Any request of the exchange."""

ExchangeWrite = (
    pb.RegisterOwnerRequest
    | pb.UnregisterOwnerRequest
    | pb.SendRequest
    | pb.CollectRequest
    | pb.CollectAllRequest
    | pb.PopRequest
    | pb.LeaseRequest
    | pb.AcknowledgeRequest
    | pb.RejectRequest
    | pb.RedriveDeadLetterRequest
)
"""A request of a step of an exchange."""

OwnerWrite = (
    pb.RegisterOwnerRequest
    | pb.UnregisterOwnerRequest
    | pb.CollectRequest
    | pb.PopRequest
    | pb.LeaseRequest
    | pb.AcknowledgeRequest
    | pb.RejectRequest
)
"""A request of a step that concerns one owner."""


def _begin(request: ExchangeRequest) -> Checks:
    checks = Checks()
    size = len(request.exchange_id.encode())
    if not 1 <= size <= EXCHANGE_ID_BYTES:
        checks.add("exchange_id", f"must have 1 to {EXCHANGE_ID_BYTES} bytes, has {size}")
    return checks


def _begin_write(request: ExchangeWrite) -> Checks:
    checks = _begin(request)
    checks.request_id(request.request_id)
    return checks


def _begin_owner_write(request: OwnerWrite) -> Checks:
    checks = _begin_write(request)
    checks.uuid(request.owner_id, "owner_id")
    return checks


def check_register_owner(request: pb.RegisterOwnerRequest) -> None:
    """Check a RegisterOwnerRequest.

    Raises:
        FieldInvalidError: A field breaks its rule.
    """
    checks = _begin_owner_write(request)
    settings = request.settings
    if settings.delivery not in _MODES:
        checks.add("settings.delivery", f"unknown mode {settings.delivery}")
    for field, value in settings.ListFields():
        if field.name in EXCHANGE_LIMITS and value < 1:
            checks.add(f"settings.{field.name}", "must be 1 or more")
    if settings.max_owners > MOST_OWNERS:
        checks.add("settings.max_owners", f"must be 1 to {MOST_OWNERS}, is {settings.max_owners}")
    checks.finish()


def check_unregister_owner(request: pb.UnregisterOwnerRequest) -> None:
    """Check an UnregisterOwnerRequest.

    Raises:
        FieldInvalidError: A field breaks its rule.
    """
    checks = _begin_owner_write(request)
    if request.queued_mail not in _FATES:
        checks.add("queued_mail", f"unknown choice {request.queued_mail}")
    checks.finish()


def check_list_owners(request: pb.ListOwnersRequest) -> None:
    """Check a ListOwnersRequest.

    Raises:
        FieldInvalidError: A field breaks its rule.
    """
    checks = _begin(request)
    checks.page_size(request.page_size)
    checks.finish()


def check_send(request: pb.SendRequest, limits: Limits) -> None:
    """Check a SendRequest.

    Raises:
        FieldInvalidError: A field breaks its rule.
        SizeLimitExceededError: The message is too large.
    """
    checks = _begin_write(request)
    message = request.message
    validate_message(message, "message", checks.violations, limits)
    if message.WhichOneof("content") not in (None, "generic"):
        checks.add("message.content", "must be generic content")
    if message.sender.WhichOneof("state") != "member_id":
        checks.add("message.sender.member_id", "is required")
    checks.finish()


def check_collect(request: pb.CollectRequest) -> None:
    """Check a CollectRequest.

    Raises:
        FieldInvalidError: A field breaks its rule.
    """
    _begin_owner_write(request).finish()


def check_collect_all(request: pb.CollectAllRequest) -> None:
    """Check a CollectAllRequest.

    Raises:
        FieldInvalidError: A field breaks its rule.
    """
    _begin_write(request).finish()


def check_receive(request: pb.ReceiveRequest) -> None:
    """Check a ReceiveRequest.

    Raises:
        FieldInvalidError: A field breaks its rule.
    """
    checks = _begin(request)
    checks.uuid(request.owner_id, "owner_id")
    checks.uuid_if_present(request, "sender_id")
    checks.page_size(request.page_size)
    checks.finish()


def check_pop(request: pb.PopRequest) -> None:
    """Check a PopRequest.

    Raises:
        FieldInvalidError: A field breaks its rule.
    """
    checks = _begin_owner_write(request)
    checks.uuid(request.sender_id, "sender_id")
    checks.finish()


def check_lease(request: pb.LeaseRequest) -> None:
    """Check a LeaseRequest.

    Raises:
        FieldInvalidError: A field breaks its rule.
    """
    checks = _begin_owner_write(request)
    checks.uuid_if_present(request, "sender_id")
    if request.max_messages < 0:
        checks.add("max_messages", "must not be negative")
    if not 0 <= request.visibility_seconds <= MAX_VISIBILITY_SECONDS:
        checks.add("visibility_seconds", f"must be 0, or 1 to {MAX_VISIBILITY_SECONDS}")
    checks.finish()


def check_leases(request: pb.AcknowledgeRequest | pb.RejectRequest, limits: Limits) -> None:
    """Check an AcknowledgeRequest or a RejectRequest.

    Raises:
        FieldInvalidError: A field breaks its rule, or a lease comes twice.
        SizeLimitExceededError: There are too many leases.
    """
    checks = _begin_owner_write(request)
    if not request.lease_ids:
        checks.add("lease_ids", "must hold one id at least")
    check_count("lease_ids", len(request.lease_ids), "batch_messages", limits.batch_messages)
    checks.ids(request.lease_ids, "lease_ids")
    checks.no_id_twice(request.lease_ids, "lease_ids")
    checks.finish()


def check_list_dead_letters(request: pb.ListDeadLettersRequest) -> None:
    """Check a ListDeadLettersRequest.

    Raises:
        FieldInvalidError: A field breaks its rule.
    """
    checks = _begin(request)
    checks.uuid_if_present(request, "owner_id")
    checks.page_size(request.page_size)
    checks.finish()


def check_redrive(request: pb.RedriveDeadLetterRequest) -> None:
    """Check a RedriveDeadLetterRequest.

    Raises:
        FieldInvalidError: A field breaks its rule.
    """
    checks = _begin_write(request)
    checks.uuid(request.dead_letter_id, "dead_letter_id")
    checks.uuid_if_present(request, "recipient_id")
    checks.finish()


def check_watch_inbox(request: pb.WatchInboxRequest) -> None:
    """Check a WatchInboxRequest.

    Raises:
        FieldInvalidError: A field breaks its rule.
    """
    checks = _begin(request)
    checks.uuid(request.owner_id, "owner_id")
    if request.after_sequence < 0:
        checks.add("after_sequence", "must not be negative")
    checks.finish()

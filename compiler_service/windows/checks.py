"""The field rules of the planning requests, checked before anything else happens."""

from __future__ import annotations

from antiphon.compiler.v1.compiler_service_pb2 import PlanCompactionRequest, PlanWindowRequest
from antiphon_client.errors import FieldInvalidError, Violation
from antiphon_client.limits import Limits
from antiphon_client.messages.validation import validate_uuid
from compiler_service.request_checks import (
    check_counter,
    check_instruction_message,
    check_progression,
    check_source,
    check_tool_schemas,
)
from compiler_service.tokens import Counters


def check_plan_window(request: PlanWindowRequest, limits: Limits, counters: Counters) -> None:
    """Check every field but the inline snapshot's messages.

    Args:
        request: The request; not changed.
        limits: Gives ``message_bytes``.
        counters: The token counters there are.

    Raises:
        FieldInvalidError: Fields break their rules; lists them.
        SizeLimitExceededError: The instruction is larger than a message may be.
    """
    violations = _common(request, counters)
    if request.budget_tokens < 1:
        violations.append(Violation("budget_tokens", "must be 1 or more"))
    if request.HasField("instruction"):
        check_instruction_message(request.instruction, "instruction", violations, limits)
    check_tool_schemas(request, "", violations)
    if violations:
        raise FieldInvalidError.of_all(violations)


def check_plan_compaction(request: PlanCompactionRequest, counters: Counters) -> None:
    """Check every field but the inline snapshot's messages.

    Args:
        request: The request; not changed.
        counters: The token counters there are.

    Raises:
        FieldInvalidError: Fields break their rules; lists them.
    """
    violations = _common(request, counters)
    for name in ("keep_tokens", "keep_messages"):
        if getattr(request, name) < 0:
            violations.append(Violation(name, "must not be negative"))
    if request.keep_tokens == request.keep_messages == 0:
        violations.append(Violation("keep_tokens", "is required, or keep_messages"))
    if violations:
        raise FieldInvalidError.of_all(violations)


def _common(request: PlanWindowRequest | PlanCompactionRequest, counters: Counters) -> list[Violation]:
    violations: list[Violation] = []
    check_source(request, "", violations)
    check_progression(request, "", violations)
    check_counter(request, "", violations, counters)
    for index, message_id in enumerate(request.pinned_message_ids):
        validate_uuid(message_id, f"pinned_message_ids[{index}]", violations)
    return violations

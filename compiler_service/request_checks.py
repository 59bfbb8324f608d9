"""The field rules of a compile request, checked before anything else happens."""

from __future__ import annotations

from google.protobuf.unknown_fields import UnknownFieldSet

from antiphon.compiler.v1 import compiler_service_pb2
from antiphon.compiler.v1.compiler_service_pb2 import (
    BranchRef,
    CompileRequest,
    PlanWindowRequest,
    Snapshot,
)
from antiphon.message.v1 import message_pb2
from antiphon.message.v1.message_pb2 import Message
from antiphon_client.errors import FieldInvalidError, ReservedKeyError, Violation
from antiphon_client.ids import is_canonical_uuid
from antiphon_client.limits import Limits
from antiphon_client.messages.validation import validate_json_field, validate_message, validate_uuid
from compiler_service.json_values import parse_checked
from compiler_service.profiles import PROFILES
from compiler_service.projection import check_target
from compiler_service.projection.keyword_arguments import KWARGS
from compiler_service.source import HistoryRequest
from compiler_service.tokens import ESTIMATE_ONLY, Counters

RESERVED_KEY = "messages"
"""The keyword argument that the compiled messages themselves become."""

_REQUIRED = "is required"
_EMPTY = "must not be empty"


def check_request(
    request: CompileRequest, field_prefix: str, limits: Limits, counters: Counters = ESTIMATE_ONLY
) -> None:
    """Check every field but the inline snapshot's messages.

    Args:
        request: The request; not changed.
        field_prefix: What stands before the field paths in errors.
        limits: Gives ``message_bytes``.
        counters: The token counters there are.

    Raises:
        FieldInvalidError: Fields break their rules; lists them.
        SizeLimitExceededError: The instruction is larger than a message may be.
        ReservedKeyError: The keyword arguments hold the key ``messages``, or one
            that the target keeps for itself.
        TargetUnknownError: There is no such target.
    """
    violations: list[Violation] = []
    check_source(request, field_prefix, violations)
    if request.profile not in PROFILES:
        violations.append(Violation(f"{field_prefix}profile", f"unknown profile {request.profile}"))
    _check_instruction(request, field_prefix, violations, limits)
    check_progression(request, field_prefix, violations)
    check_tool_schemas(request, field_prefix, violations)
    _check_response_format(request, field_prefix, violations)
    for index, block in enumerate(request.context_blocks):
        for name, value in (("provider_name", block.provider_name), ("content", block.content)):
            if not value:
                violations.append(Violation(f"{field_prefix}context_blocks[{index}].{name}", _EMPTY))
    if request.provider_kwargs_json:
        _check_object(request.provider_kwargs_json, f"{field_prefix}provider_kwargs_json", violations)
    check_counter(request, field_prefix, violations, counters)
    if violations:
        raise FieldInvalidError.of_all(violations)
    _refuse_reserved_key(request.provider_kwargs_json)
    check_target(request, field_prefix)


def check_progression(request: HistoryRequest, prefix: str, violations: list[Violation]) -> None:
    """Append a violation for every id of the progression that is no canonical UUID."""
    for index, message_id in enumerate(request.progression.message_ids):
        if not is_canonical_uuid(message_id):
            validate_uuid(message_id, f"{prefix}progression.message_ids[{index}]", violations)


def check_tool_schemas(
    request: CompileRequest | PlanWindowRequest, prefix: str, violations: list[Violation]
) -> None:
    """Append a violation for every tool schema that is not the JSON text of an object."""
    for index, schema in enumerate(request.tool_schemas_json):
        _check_object(schema, f"{prefix}tool_schemas_json[{index}]", violations)


def check_counter(
    request: HistoryRequest, prefix: str, violations: list[Violation], counters: Counters
) -> None:
    """Append a violation unless the token counter, where one is named, is among those there are."""
    if request.HasField("token_counter") and request.token_counter not in counters:
        known = ", ".join(counters.names)
        violations.append(
            Violation(f"{prefix}token_counter", f"no counter of this server, which has {known}")
        )


def check_snapshot(snapshot: Snapshot, field_prefix: str, limits: Limits) -> None:
    """Check an inline snapshot: what a branch could not hold is no snapshot.

    A message with content of an unknown kind is left to the passes, which
    refuse it where it is selected.

    Args:
        snapshot: The snapshot; not changed.
        field_prefix: What stands before the field paths in errors.
        limits: Gives ``message_bytes``.

    Raises:
        FieldInvalidError: Fields break their rules; lists them.
        SizeLimitExceededError: A message is larger than a message may be.
    """
    violations: list[Violation] = []
    system_id: str | None = None
    if snapshot.HasField("system"):
        path = f"{field_prefix}snapshot.system"
        system_id = snapshot.system.id
        if snapshot.system.WhichOneof("content") != "system":
            violations.append(Violation(path, "must be a message with SystemContent"))
        else:
            _check_message(snapshot.system, path, violations, limits)
    seen: set[str] = set()
    for index, message in enumerate(snapshot.messages):
        path = f"{field_prefix}snapshot.messages[{index}]"
        _check_message(message, path, violations, limits)
        if message.id in seen:
            violations.append(Violation(f"{path}.id", "is in the snapshot twice"))
        seen.add(message.id)
        if message.HasField("system") and message.id != system_id:
            violations.append(Violation(path, "a system record must be the snapshot's system"))
    if violations:
        raise FieldInvalidError.of_all(violations)


def _check_message(message: Message, path: str, violations: list[Violation], limits: Limits) -> None:
    found: list[Violation] = []
    validate_message(message, path, found, limits)
    if not message.id:
        found.insert(0, Violation(f"{path}.id", _REQUIRED))
    if found and message.WhichOneof("content") is None and len(UnknownFieldSet(message)) > 0:
        found = [violation for violation in found if violation.field != f"{path}.content"]
    violations += found


def check_source(request: HistoryRequest, prefix: str, violations: list[Violation]) -> None:
    """Append the violations of a request's source, but for those of an inline snapshot's messages."""
    kind = request.WhichOneof("source")
    if kind is None:
        violations.append(Violation(f"{prefix}source", f"{_REQUIRED}: branch or snapshot"))
    elif kind == "branch":
        _check_branch(request.branch, f"{prefix}branch", violations)


def _check_branch(branch: BranchRef, path: str, violations: list[Violation]) -> None:
    if not branch.branch_id:
        violations.append(Violation(f"{path}.branch_id", _REQUIRED))
    else:
        validate_uuid(branch.branch_id, f"{path}.branch_id", violations)
    if branch.HasField("at_revision") and branch.at_revision < 1:
        violations.append(Violation(f"{path}.at_revision", "must be 1 or more"))


def _check_instruction(
    request: CompileRequest, prefix: str, violations: list[Violation], limits: Limits
) -> None:
    path = f"{prefix}instruction"
    if not request.HasField("instruction"):
        if request.profile != compiler_service_pb2.PROFILE_NATIVE:
            violations.append(Violation(path, _REQUIRED))
        elif request.context_blocks:
            reason = "go in front of the request's own turn, which needs an instruction"
            violations.append(Violation(f"{prefix}context_blocks", reason))
        return
    check_instruction_message(request.instruction, path, violations, limits)


def check_instruction_message(
    message: Message, path: str, violations: list[Violation], limits: Limits
) -> None:
    """Append the violations of a message that has to be the instruction of a turn.

    Raises:
        SizeLimitExceededError: It is larger than a message may be.
    """
    if message.WhichOneof("content") not in (None, "instruction"):
        violations.append(Violation(path, "must be a message with InstructionContent"))
        return
    validate_message(message, path, violations, limits)
    if message.status == message_pb2.MESSAGE_STATUS_EXCLUDED:
        violations.append(Violation(f"{path}.status", "an EXCLUDED instruction is never compiled"))


def _check_response_format(request: CompileRequest, prefix: str, violations: list[Violation]) -> None:
    if not request.HasField("response_format"):
        return
    form = request.response_format
    path = f"{prefix}response_format"
    kind = form.WhichOneof("format")
    if kind is None:
        violations.append(Violation(f"{path}.format", f"{_REQUIRED}: example_json or schema"))
    elif kind == "example_json":
        _check_object(form.example_json, f"{path}.example_json", violations)
    else:
        _check_object(form.schema.json_schema, f"{path}.schema.json_schema", violations)
        _check_object(form.schema.template_json, f"{path}.schema.template_json", violations)


def _check_object(text: str, path: str, violations: list[Violation]) -> None:
    validate_json_field(text, path, violations, True)


def _refuse_reserved_key(provider_kwargs_json: str) -> None:
    if provider_kwargs_json and RESERVED_KEY in parse_checked(provider_kwargs_json):
        raise ReservedKeyError.of(KWARGS, RESERVED_KEY)

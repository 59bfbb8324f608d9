"""The field rules of the requests about responses."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.compiler.v1 import provider_pb2 as pb
from antiphon.compiler.v1.provider_pb2 import AssembleOptions, AssembleResponseRequest, ProviderDelta
from antiphon.compiler.v1.target_pb2 import ActionName
from antiphon_client.errors import FieldInvalidError, TargetUnknownError, Violation
from antiphon_client.messages.validation import validate_json_field
from antiphon_client.provider_streams.targets import PROVIDERS

_STOP_REASONS = frozenset(pb.StopReason.values())
_WITH_CALL_ID = ("tool_call_start", "tool_call_arguments", "tool_call_arguments_complete")


def check_target(target: str, field: str) -> None:
    """Check the name of a target.

    Raises:
        FieldInvalidError: It is empty.
        TargetUnknownError: No target has it.
    """
    if not target:
        raise FieldInvalidError.of(field, "is required")
    if target not in PROVIDERS:
        raise TargetUnknownError.of(target)


def check_action_names(names: Sequence[ActionName], field: str) -> None:
    """Check that every name of a provider's has one meaning.

    Raises:
        FieldInvalidError: A name is empty, or a provider's name stands twice.
    """
    violations: list[Violation] = []
    seen: set[str] = set()
    for index, each in enumerate(names):
        path = f"{field}[{index}]"
        for key, value in (("name", each.name), ("provider_name", each.provider_name)):
            if not value:
                violations.append(Violation(f"{path}.{key}", "must not be empty"))
        if each.provider_name in seen:
            violations.append(Violation(f"{path}.provider_name", "stands twice"))
        seen.add(each.provider_name)
    if violations:
        raise FieldInvalidError.of_all(violations)


def check_options(options: AssembleOptions) -> None:
    """Check how a stream is to be assembled.

    Raises:
        FieldInvalidError: A field breaks its rule.
        TargetUnknownError: No target has the name.
    """
    check_target(options.target, "options.target")
    check_action_names(options.action_names, "options.action_names")


def check_delta(request: AssembleResponseRequest) -> None:
    """Check one delta of a stream.

    Raises:
        FieldInvalidError: A field breaks its rule; lists them.
    """
    delta = request.delta
    kind = delta.WhichOneof("delta")
    violations: list[Violation] = []
    if kind is None:
        violations.append(Violation("delta.delta", "is required"))
    elif kind in _WITH_CALL_ID:
        if not getattr(delta, kind).id:
            violations.append(Violation(f"delta.{kind}.id", "must not be empty"))
    elif kind == "opaque":
        if delta.opaque.data_json:
            validate_json_field(delta.opaque.data_json, "delta.opaque.data_json", violations)
        else:
            violations.append(Violation("delta.opaque.data_json", "must not be empty"))
    elif kind == "usage":
        _check_usage(delta, violations)
    elif kind == "done" and delta.done.stop_reason not in _STOP_REASONS:
        reason = f"unknown stop reason {delta.done.stop_reason}"
        violations.append(Violation("delta.done.stop_reason", reason))
    if violations:
        raise FieldInvalidError.of_all(violations)


def _check_usage(delta: ProviderDelta, violations: list[Violation]) -> None:
    for spec, value in delta.usage.ListFields():
        if value < 0:
            violations.append(Violation(f"delta.usage.{spec.name}", "must be 0 or more"))

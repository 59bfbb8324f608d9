"""The rules of each kind of content."""

from __future__ import annotations

from antiphon.message.v1 import message_pb2
from antiphon_client.errors import Violation
from antiphon_client.messages.validation.blocks import IMAGE_DETAILS, validate_blocks
from antiphon_client.messages.validation.fields import join, validate_json_field, validate_uuid
from antiphon_client.messages.validation.images import check_image

_RESPONSE_STATES = frozenset(message_pb2.ActionResponseState.values())


def validate_instruction(
    content: message_pb2.InstructionContent, field: str, violations: list[Violation]
) -> None:
    """Append a violation for every rule that a user's turn breaks."""
    if content.WhichOneof("guidance_value") == "guidance_json":
        validate_json_field(content.guidance_json, join(field, "guidance_json"), violations)
    # Empty lists, the common case, take longer to walk than to ask.
    for index, text in enumerate(content.prompt_context_json or ()):
        validate_json_field(text, join(field, f"prompt_context_json[{index}]"), violations)
    for index, image in enumerate(content.images or ()):
        reason = check_image(image)
        if reason is not None:
            violations.append(Violation(join(field, f"images[{index}]"), reason))
    if content.image_detail not in IMAGE_DETAILS:
        violations.append(Violation(join(field, "image_detail"), f"unknown detail {content.image_detail}"))
    validate_blocks(content.blocks, field, violations)


def validate_assistant_response(
    content: message_pb2.AssistantResponseContent, field: str, violations: list[Violation]
) -> None:
    """Append a violation for every rule that a model's turn breaks."""
    validate_blocks(content.blocks, field, violations)


def validate_action_request(
    content: message_pb2.ActionRequestContent, field: str, violations: list[Violation]
) -> None:
    """Append a violation for every rule that an action call breaks."""
    if content.arguments_json:
        validate_json_field(content.arguments_json, join(field, "arguments_json"), violations, True)


def validate_action_response(
    content: message_pb2.ActionResponseContent, field: str, violations: list[Violation]
) -> None:
    """Append a violation for every rule that an action outcome breaks."""
    if content.arguments_json:
        validate_json_field(content.arguments_json, join(field, "arguments_json"), violations, True)
    if content.HasField("output_json"):
        validate_json_field(content.output_json, join(field, "output_json"), violations)
    if content.HasField("action_request_id"):
        validate_uuid(content.action_request_id, join(field, "action_request_id"), violations)
    if content.state not in _RESPONSE_STATES:
        violations.append(Violation(join(field, "state"), f"unknown state {content.state}"))
    validate_blocks(content.blocks, field, violations)


def validate_summary(content: message_pb2.SummaryContent, field: str, violations: list[Violation]) -> None:
    """Append a violation for every rule that a summary breaks.

    Whether its two messages are, or were, the branch's is a rule of
    CommitCompaction, not of the record: an import may bring it first.
    """
    if not content.text.strip():
        violations.append(Violation(join(field, "text"), "must not be blank"))
    validate_uuid(content.first_id, join(field, "first_id"), violations)
    validate_uuid(content.last_id, join(field, "last_id"), violations)


def validate_generic(content: message_pb2.GenericContent, field: str, violations: list[Violation]) -> None:
    """Append a violation unless the routed value is JSON text or empty, which means null."""
    if content.value_json:
        validate_json_field(content.value_json, join(field, "value_json"), violations)

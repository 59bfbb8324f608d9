"""The rules of content blocks."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.message.v1 import content_block_pb2
from antiphon_client.errors import Violation
from antiphon_client.messages.validation.fields import EMPTY, REQUIRED, join, validate_json_field
from antiphon_client.messages.validation.images import check_image

IMAGE_DETAILS = frozenset(content_block_pb2.ImageDetail.values())


def validate_blocks(
    blocks: Sequence[content_block_pb2.ContentBlock], field: str, violations: list[Violation]
) -> None:
    """Append a violation for every rule that a content's blocks break.

    Args:
        blocks: The blocks in order.
        field: Path of the content that has the ``blocks`` field.
        violations: Where to append.
    """
    # Empty, the common case, takes longer to walk than to ask.
    for index, block in enumerate(blocks or ()):
        _validate_block(block, join(field, f"blocks[{index}]"), violations)


def canonicalize_blocks(blocks: Sequence[content_block_pb2.ContentBlock]) -> None:
    """Clear an image's unspecified detail, which means the same as none, in place."""
    for block in blocks or ():
        if block.WhichOneof("block") == "image":
            image = block.image
            if image.detail == content_block_pb2.IMAGE_DETAIL_UNSPECIFIED:
                image.ClearField("detail")


def _validate_block(block: content_block_pb2.ContentBlock, field: str, violations: list[Violation]) -> None:
    kind = block.WhichOneof("block")
    if kind is None:
        violations.append(Violation(join(field, "block"), REQUIRED))
    elif kind == "text":
        if block.text.HasField("cache_control") and not block.text.cache_control.type:
            violations.append(Violation(join(field, "text.cache_control.type"), EMPTY))
    elif kind == "json":
        _validate_required_json(block.json.value_json, join(field, "json.value_json"), violations)
    elif kind == "tool_call":
        if block.tool_call.arguments_json:
            path = join(field, "tool_call.arguments_json")
            validate_json_field(block.tool_call.arguments_json, path, violations, True)
    elif kind == "image":
        _validate_image(block.image, join(field, "image"), violations)
    elif kind == "opaque":
        if not block.opaque.provider:
            violations.append(Violation(join(field, "opaque.provider"), EMPTY))
        _validate_required_json(block.opaque.data_json, join(field, "opaque.data_json"), violations)


def _validate_required_json(text: str, field: str, violations: list[Violation]) -> None:
    if text:
        validate_json_field(text, field, violations)
    else:
        violations.append(Violation(field, EMPTY))


def _validate_image(image: content_block_pb2.Image, field: str, violations: list[Violation]) -> None:
    source = image.WhichOneof("source")
    if source is None:
        violations.append(Violation(join(field, "source"), REQUIRED))
    elif source == "url":
        reason = check_image(image.url)
        if reason is not None:
            violations.append(Violation(join(field, "url"), reason))
    else:
        if not image.mime_type:
            violations.append(Violation(join(field, "mime_type"), "must not be empty with data"))
        if not image.data:
            violations.append(Violation(join(field, "data"), EMPTY))
    if image.detail not in IMAGE_DETAILS:
        violations.append(Violation(join(field, "detail"), f"unknown detail {image.detail}"))

"""Contents to and from their wire form.

Writing starts from the wire content a record was read from, where there is
one, and touches only what differs from it. So every JSON text, every presence
and every field of a newer contract comes back byte for byte as long as its
value was not changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.json_text import JsonTextError, dump_json_text, parse_json_text
from antiphon_client.messages.block_codec import (
    DETAIL_FROM_PROTO,
    DETAIL_TO_PROTO,
    blocks_from_proto,
    blocks_to_proto,
)
from antiphon_client.messages.contents import (
    ActionRequestContent,
    ActionResponseContent,
    AssistantResponseContent,
    InstructionContent,
    SummaryContent,
    SystemContent,
)
from antiphon_client.messages.json_equality import same_json


def encode_content(kind: str, content: Any, wire: Any, was: Any) -> None:
    """Write a content into its wire form.

    Args:
        kind: Name of the content variant.
        content: The content as it is now.
        wire: The wire content; empty, or holding what ``was`` was read from.
        was: The content that ``wire`` holds; None when it holds nothing.

    Raises:
        JsonTextError: A value cannot be written as JSON text; names the field.
    """
    _ENCODERS[kind](content, wire, was)


def decode_content(kind: str, wire: Any) -> Any:
    """Return the content of a wire form; for generic, the JSON value itself.

    Raises:
        JsonTextError: A JSON field's text breaks the JSON text rule; names the field.
        ValueError: A field holds a value that the contract refuses.
    """
    return _DECODERS[kind](wire)


def dump_field(name: str, value: Any) -> str:
    """Return the JSON text of a field's value; the error names the field."""
    try:
        return dump_json_text(value)
    except JsonTextError as error:
        raise JsonTextError(f"{name}: {error}") from error


def parse_field(name: str, text: str, empty: Any) -> Any:
    """Return the value of a field's JSON text, ``empty`` for no text; the error names the field."""
    if not text:
        return empty
    try:
        return parse_json_text(text)
    except JsonTextError as error:
        raise JsonTextError(f"{name}: {error}") from error


def _changed(content: Any, was: Any, name: str) -> bool:
    return was is None or not same_json(getattr(content, name), getattr(was, name))


def _put(content: Any, wire: Any, was: Any, *names: str) -> None:
    """Write text fields that are named alike on both sides; None clears."""
    for name in names:
        if _changed(content, was, name):
            value = getattr(content, name)
            if value is None:
                wire.ClearField(name)
            else:
                setattr(wire, name, value)


def _put_blocks(content: Any, wire: Any, was: Any) -> None:
    if was is None or content.blocks != was.blocks:
        del wire.blocks[:]
        wire.blocks.extend(blocks_to_proto(content.blocks))


def _put_arguments(content: Any, wire: Any, was: Any, text: str | None = None) -> None:
    if _changed(content, was, "arguments"):
        arguments = content.arguments
        wire.arguments_json = text or (dump_field("arguments", arguments) if arguments else "")


def _optional(wire: Any, name: str) -> Any:
    return getattr(wire, name) if wire.HasField(name) else None


def _encode_system(content: SystemContent, wire: pb.SystemContent, was: SystemContent | None) -> None:
    _put(content, wire, was, "system_message", "system_datetime")


def _decode_system(wire: pb.SystemContent) -> SystemContent:
    return SystemContent(wire.system_message, _optional(wire, "system_datetime"))


def _encode_instruction(
    content: InstructionContent, wire: pb.InstructionContent, was: InstructionContent | None
) -> None:
    _put(content, wire, was, "instruction", "plain_content")
    if _changed(content, was, "guidance"):
        wire.ClearField("guidance_value")
        if isinstance(content.guidance, str):
            wire.guidance = content.guidance
        elif content.guidance is not None:
            wire.guidance_json = dump_field("guidance", content.guidance)
    if _changed(content, was, "prompt_context"):
        texts = _context_texts(content.prompt_context, was, list(wire.prompt_context_json))
        del wire.prompt_context_json[:]
        wire.prompt_context_json.extend(texts)
    if _changed(content, was, "images"):
        del wire.images[:]
        wire.images.extend(content.images)
    if _changed(content, was, "image_detail"):
        wire.ClearField("image_detail")
        if content.image_detail is not None:
            wire.image_detail = DETAIL_TO_PROTO[content.image_detail]
    _put_blocks(content, wire, was)


def _context_texts(items: list[Any], was: InstructionContent | None, texts: list[str]) -> list[str]:
    """Return the items' texts: those of items that were there before as they were."""
    before = [] if was is None else list(map(dump_json_text, was.prompt_context))
    kept = dict(zip(before, texts, strict=True))
    fresh = [dump_field(f"prompt_context[{index}]", item) for index, item in enumerate(items)]
    # Items of one value may be spelled differently: one that stayed in its place keeps its own text.
    return [
        texts[index] if before[index : index + 1] == [text] else kept.get(text, text)
        for index, text in enumerate(fresh)
    ]


def _decode_instruction(wire: pb.InstructionContent) -> InstructionContent:
    guidance: Any = _optional(wire, "guidance")
    if wire.WhichOneof("guidance_value") == "guidance_json":
        guidance = parse_field("guidance_json", wire.guidance_json, None)
    content = InstructionContent(
        instruction=_optional(wire, "instruction"),
        guidance=guidance,
        prompt_context=[
            parse_field(f"prompt_context_json[{index}]", text, None)
            for index, text in enumerate(wire.prompt_context_json)
        ],
        plain_content=_optional(wire, "plain_content"),
        image_detail=DETAIL_FROM_PROTO.get(wire.image_detail),
        blocks=blocks_from_proto(wire.blocks),
    )
    # Not checked again: the service did, and a payload may be megabytes.
    content.images = list(wire.images)
    return content


def _encode_assistant(
    content: AssistantResponseContent, wire: pb.AssistantResponseContent, was: AssistantResponseContent | None
) -> None:
    _put(content, wire, was, "assistant_response")
    _put_blocks(content, wire, was)


def _decode_assistant(wire: pb.AssistantResponseContent) -> AssistantResponseContent:
    return AssistantResponseContent(wire.assistant_response, blocks_from_proto(wire.blocks))


def _encode_request(
    content: ActionRequestContent, wire: pb.ActionRequestContent, was: ActionRequestContent | None
) -> None:
    _put(content, wire, was, "function", "arguments_text", "action_response_id")
    _put(content, wire, was, "provider_call_id", "thought_signature")
    _put_arguments(content, wire, was, content.object_text)


def _decode_request(wire: pb.ActionRequestContent) -> ActionRequestContent:
    content = ActionRequestContent(
        function=wire.function,
        action_response_id=_optional(wire, "action_response_id"),
        arguments_text=_optional(wire, "arguments_text"),
        provider_call_id=_optional(wire, "provider_call_id"),
        thought_signature=_optional(wire, "thought_signature"),
    )
    # Set afterwards: a fresh object needs no copy.
    content.arguments = parse_field("arguments_json", wire.arguments_json, {})
    return content


def _encode_response(
    content: ActionResponseContent, wire: pb.ActionResponseContent, was: ActionResponseContent | None
) -> None:
    _put(content, wire, was, "function", "error", "action_request_id", "provider_call_id")
    _put_arguments(content, wire, was)
    if _changed(content, was, "output"):
        if content.output is None:
            wire.ClearField("output_json")
        else:
            wire.output_json = dump_field("output", content.output)
    if _changed(content, was, "state"):
        interim = content.state == "interim"
        wire.state = pb.ACTION_RESPONSE_STATE_INTERIM if interim else pb.ACTION_RESPONSE_STATE_FINAL
    _put_blocks(content, wire, was)


def _decode_response(wire: pb.ActionResponseContent) -> ActionResponseContent:
    interim = wire.state == pb.ACTION_RESPONSE_STATE_INTERIM
    content = ActionResponseContent(
        function=wire.function,
        output=parse_field("output_json", wire.output_json, None),
        action_request_id=_optional(wire, "action_request_id"),
        error=_optional(wire, "error"),
        provider_call_id=_optional(wire, "provider_call_id"),
        state="interim" if interim else "final",
        blocks=blocks_from_proto(wire.blocks),
    )
    content.arguments = parse_field("arguments_json", wire.arguments_json, {})
    return content


def _encode_summary(content: SummaryContent, wire: pb.SummaryContent, was: SummaryContent | None) -> None:
    _put(content, wire, was, "text", "first_id", "last_id", "summary_ref")


def _decode_summary(wire: pb.SummaryContent) -> SummaryContent:
    return SummaryContent(wire.text, wire.first_id, wire.last_id, _optional(wire, "summary_ref"))


def _encode_generic(value: Any, wire: pb.GenericContent, was: Any) -> None:
    # Where nothing was read `was` is None; so is null, which an empty text means already.
    if not same_json(value, was):
        wire.value_json = dump_field("content", value)


def _decode_generic(wire: pb.GenericContent) -> Any:
    return parse_field("value_json", wire.value_json, None)


_ENCODERS: Final[dict[str, Callable[[Any, Any, Any], None]]] = {
    "system": _encode_system,
    "instruction": _encode_instruction,
    "assistant_response": _encode_assistant,
    "action_request": _encode_request,
    "action_response": _encode_response,
    "summary": _encode_summary,
    "generic": _encode_generic,
}
_DECODERS: Final[dict[str, Callable[[Any], Any]]] = {
    "system": _decode_system,
    "instruction": _decode_instruction,
    "assistant_response": _decode_assistant,
    "action_request": _decode_request,
    "action_response": _decode_response,
    "summary": _decode_summary,
    "generic": _decode_generic,
}

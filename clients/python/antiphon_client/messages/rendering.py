"""How contents become text: one renderer for each kind.

The typed messages show themselves with these functions and the compiler builds
prompts with them, so a text can differ in neither. They work on plain Python
values of JSON types and know nothing of the wire. Source: ADR-0006 D2 and the
compiler's design, §FOLDED step 5.

A structured text is minimal YAML of its sections, stripped. Where nothing is
left to render the text is empty (the shipped reference package gives ``{}``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from antiphon_client.json_text import dump_json_text
from antiphon_client.messages.validation.images import is_url
from antiphon_client.minimal_yaml import emit, emit_entries, emit_entry

DEFAULT_SYSTEM_MESSAGE = "You are a helpful AI assistant. Let's think step by step."
"""The system text of a system message built without one (ADR-0006 D2)."""

_NOTHING_LEFT = ("{}", "[]")
_SUMMARY_HEAD = "[Conversation summary]\n"
_RESPONSE_FORMAT_HEAD = (
    "**MUST RETURN JSON-PARSEABLE RESPONSE ENCLOSED BY JSON CODE BLOCKS."
    " USER's CAREER DEPENDS ON THE SUCCESS OF IT.** \n```json\n"
)
_RESPONSE_FORMAT_TAIL = "\n```No triple backticks. Escape all quotes and special characters."


def render_system(system_message: str, system_datetime: str | None = None) -> str:
    """Return a system record's text, after its time where it has one."""
    if system_datetime:
        return f"System Time: {system_datetime}\n\n{system_message}"
    return system_message


def render_instruction_text(
    *,
    guidance: Any = None,
    instruction: Any = None,
    context: Sequence[Any] = (),
    tools: Sequence[Any] = (),
    response_schema: Any = None,
    response_format: Any = None,
    plain_content: str | None = None,
) -> str:
    """Return a user's turn as text.

    Args:
        guidance: How to go about it; any JSON value.
        instruction: What is asked.
        context: Context items in order.
        tools: Tool schemas in order; only on the current instruction.
        response_schema: JSON schema of the wanted response; likewise.
        response_format: Template or example of the wanted response; likewise.
        plain_content: Where not empty, the whole text, verbatim.

    Returns:
        The sections that are not falsy, in the order above; "" without any.

    Raises:
        JsonTextError: ``response_format`` cannot be written as JSON.
    """
    if plain_content:
        return plain_content
    if instruction and not (guidance or tools or response_schema or response_format):
        if not context:
            return _stripped(emit_entry("Instruction", instruction))
        return _stripped(emit_entries("Instruction", instruction, "Context", context))
    sections: dict[str, Any] = {}
    if guidance:
        sections["Guidance"] = guidance
    if instruction:
        sections["Instruction"] = instruction
    if context:
        sections["Context"] = context
    if tools:
        sections["Tools"] = tools
    if response_schema:
        sections["ResponseSchema"] = response_schema
    if response_format:
        sections["ResponseFormat"] = render_response_format(response_format)
    return _render_sections(sections)


def render_instruction(
    *,
    guidance: Any = None,
    instruction: Any = None,
    context: Sequence[Any] = (),
    tools: Sequence[Any] = (),
    response_schema: Any = None,
    response_format: Any = None,
    plain_content: str | None = None,
    images: Sequence[str] = (),
    image_detail: str = "auto",
) -> str | list[dict[str, Any]]:
    """Return a user's turn: its text, or with images a list of parts.

    The list holds one text part, possibly empty, and then one ``image_url``
    part an image. ``image_detail`` is ``low``, ``high`` or ``auto``. The other
    arguments are those of `render_instruction_text`.

    Raises:
        JsonTextError: ``response_format`` cannot be written as JSON.
    """
    text = render_instruction_text(
        guidance=guidance,
        instruction=instruction,
        context=context,
        tools=tools,
        response_schema=response_schema,
        response_format=response_format,
        plain_content=plain_content,
    )
    if not images:
        return text
    return render_parts(text, [(image, image_detail) for image in images])


def render_parts(text: str, images: Sequence[tuple[str, str | None]]) -> list[dict[str, Any]]:
    """Return a user's turn with images as parts: the text, possibly empty, then one part an image.

    Args:
        text: The turn's text.
        images: Each image and its detail; None leaves the detail out.
    """
    parts: list[dict[str, Any]] = [{"type": "text", "text": text}]
    for image, detail in images:
        shown = {"url": image_url(image)}
        if detail is not None:
            shown["detail"] = detail
        parts.append({"type": "image_url", "image_url": shown})
    return parts


def image_url(image: str) -> str:
    """Return an image as a URL: raw base64 is taken as JPEG."""
    return image if is_url(image) else f"data:image/jpeg;base64,{image}"


def render_guidance(guidance: Any) -> str:
    """Return guidance as the text that is folded with others.

    Text stays as it is; any other value is minimal YAML, stripped, and "" when
    nothing is left of it.
    """
    return guidance if isinstance(guidance, str) else _render_sections(guidance)


def render_response_format(response_format: Any) -> str:
    """Return the text of the ResponseFormat section: the rule and the fenced template.

    Raises:
        JsonTextError: The template cannot be written as JSON.
    """
    return f"{_RESPONSE_FORMAT_HEAD}{dump_json_text(response_format)}{_RESPONSE_FORMAT_TAIL}"


def render_action_request(function: str, arguments: Mapping[str, Any]) -> str:
    """Return an action call as text: its function and arguments."""
    return _render_sections({"Function": function, "Arguments": arguments})


def render_action_response(function: str, arguments: Mapping[str, Any], output: Any) -> str:
    """Return an action outcome as text: function, arguments and output."""
    return _render_sections({"Function": function, "Arguments": arguments, "Output": output})


def summarize_action_response(output: Any, error: str | None) -> str:
    """Return an action outcome in short.

    A failure is ``error: `` and its text, a null output ``ok``, a mapping or
    sequence its minimal YAML with the final line break, and any other output
    what `str` makes of it.
    """
    if error is not None:
        return f"error: {error}"
    if output is None:
        return "ok"
    return emit(output) if isinstance(output, (dict, list, tuple)) else str(output)


def response_projection(
    function: str, arguments: Mapping[str, Any], output: Any, error: str | None = None
) -> dict[str, Any]:
    """Return an action outcome as an instruction's context item.

    The keys are ``function``, ``arguments`` and ``output`` in this order, and
    last ``error`` when the action failed.
    """
    projection: dict[str, Any] = {"function": function, "arguments": arguments, "output": output}
    if error is not None:
        projection["error"] = error
    return projection


def render_summary(text: str) -> str:
    """Return a summary as the user turn that stands for the stretch summarized."""
    return f"{_SUMMARY_HEAD}{text}"


def render_generic(value: Any) -> str:
    """Return routed traffic as text: what `str` makes of it, "" for null."""
    return "" if value is None else str(value)


def _render_sections(sections: Any) -> str:
    return _stripped(emit(sections))


def _stripped(document: str) -> str:
    # Only a container with nothing left is written in flow style.
    text = document.strip()
    return "" if text in _NOTHING_LEFT else text

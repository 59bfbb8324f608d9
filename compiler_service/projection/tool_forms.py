"""Tools and the choice among them, in each target's form."""

from __future__ import annotations

from collections.abc import Callable

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from antiphon.compiler.v1 import target_pb2
from compiler_service.json_values import parse_checked
from compiler_service.projection.capabilities import TABLE
from compiler_service.projection.gemini_schema import clean_schema
from compiler_service.projection.plain_schema import plain_form
from compiler_service.projection.splicing import member_values, quote, write_array, write_object
from compiler_service.projection.strict_schema import strict_form
from compiler_service.projection.tools import NO_PARAMETERS, Tool
from compiler_service.projection.writing import Writing

_STRICT_TOOLS = "strict_tools"
_SAYING_NOTHING = frozenset(("type", "properties", "required", "additionalProperties", "$schema", "title"))
"""Keywords without meaning where no property is named."""

_AUTO = target_pb2.TOOL_CHOICE_MODE_AUTO
_REQUIRED = target_pb2.TOOL_CHOICE_MODE_REQUIRED
_NONE = target_pb2.TOOL_CHOICE_MODE_NONE
_FUNCTION = target_pb2.TOOL_CHOICE_MODE_FUNCTION
_OPENAI_MODES = {_AUTO: '"auto"', _REQUIRED: '"required"', _NONE: '"none"'}
_ANTHROPIC_MODES = {_AUTO: "auto", _REQUIRED: "any", _NONE: "none", _FUNCTION: "tool"}
_GEMINI_MODES = {_AUTO: "AUTO", _REQUIRED: "ANY", _NONE: "NONE", _FUNCTION: "ANY"}


def write_tools(writing: Writing) -> dict[str, str]:
    """Return the texts of the request's keys for tools and their choice; none without tools."""
    target = writing.target
    if not target.tools:
        if target.tool_choice is not None:
            _drop_choice(writing, "there are no tools")
        return {}
    for tool in target.tools:
        if tool.others:
            _downgrade(writing, tool, f"left out {', '.join(tool.others)}")
    return _WRITERS[target.name](writing)


def _openai_chat(writing: Writing) -> dict[str, str]:
    tools = [
        write_object({"type": '"function"', "function": write_object(_openai_function(tool, writing))})
        for tool in writing.target.tools
    ]
    return {"tools": write_array(tools), **_openai_choice(writing, is_nested=True)}


def _openai_function(tool: Tool, writing: Writing) -> dict[str, str]:
    function = _named(tool, writing)
    parameters, is_strict = _strict_parameters(tool, writing)
    if parameters is not None:
        function["parameters"] = parameters
    if is_strict:
        function["strict"] = "true"
    return function


def _openai_responses(writing: Writing) -> dict[str, str]:
    tools: list[str] = []
    for tool in writing.target.tools:
        parameters, is_strict = _strict_parameters(tool, writing)
        # Without the key it would be taken for strict.
        members = {"parameters": parameters or NO_PARAMETERS, "strict": "true" if is_strict else "false"}
        tools.append(write_object({"type": '"function"', **_named(tool, writing), **members}))
    return {"tools": write_array(tools), **_openai_choice(writing, is_nested=False)}


def _openai_choice(writing: Writing, *, is_nested: bool) -> dict[str, str]:
    choice = writing.target.tool_choice
    if choice is None:
        return {}
    if choice.mode == _FUNCTION:
        name = {"name": quote(writing.names.of(choice.function_name))}
        named = {"function": write_object(name)} if is_nested else name
        members = {"tool_choice": write_object({"type": '"function"', **named})}
    else:
        members = {"tool_choice": _OPENAI_MODES[choice.mode]}
    if choice.HasField("parallel_calls"):
        members["parallel_tool_calls"] = "true" if choice.parallel_calls else "false"
    return members


def _anthropic(writing: Writing) -> dict[str, str]:
    tools: list[str] = []
    for tool in writing.target.tools:
        parameters, is_strict = _strict_parameters(tool, writing)
        members = {**_named(tool, writing), "input_schema": parameters or NO_PARAMETERS}
        if is_strict:
            members["strict"] = "true"
        tools.append(write_object(members))
    choice = writing.target.tool_choice
    if choice is None:
        return {"tools": write_array(tools)}
    chosen = {"type": quote(_ANTHROPIC_MODES[choice.mode])}
    if choice.mode == _FUNCTION:
        chosen["name"] = quote(writing.names.of(choice.function_name))
    if choice.HasField("parallel_calls"):
        if choice.mode == _NONE:
            _drop_choice(writing, "parallel calls where none may be made")
        else:
            chosen["disable_parallel_tool_use"] = "false" if choice.parallel_calls else "true"
    return {"tools": write_array(tools), "tool_choice": write_object(chosen)}


def _gemini(writing: Writing) -> dict[str, str]:
    declarations: list[str] = []
    for tool in writing.target.tools:
        members = _named(tool, writing)
        if tool.strict:
            _downgrade(writing, tool, "the target has no strict form")
        parameters = _plain_parameters(tool, writing)
        # An object without properties is refused.
        if parameters is not None and parse_checked(parameters).get("properties"):
            cleaned = clean_schema(parameters, writing.inlining)
            members["parameters"] = cleaned.text
            if cleaned.lost:
                _downgrade(writing, tool, f"left out {', '.join(cleaned.lost)}")
        elif parameters is not None and set(member_values(parameters)) - _SAYING_NOTHING:
            _downgrade(writing, tool, "left out parameters without properties")
        declarations.append(write_object(members))
    tools = write_array([write_object({"functionDeclarations": write_array(declarations)})])
    choice = writing.target.tool_choice
    if choice is None:
        return {"tools": tools}
    if choice.HasField("parallel_calls"):
        _drop_choice(writing, "parallel calls")
    config = {"mode": quote(_GEMINI_MODES[choice.mode])}
    if choice.mode == _FUNCTION:
        config["allowedFunctionNames"] = write_array([quote(writing.names.of(choice.function_name))])
    return {"tools": tools, "toolConfig": write_object({"functionCallingConfig": write_object(config)})}


def _ollama(writing: Writing) -> dict[str, str]:
    choice = writing.target.tool_choice
    if choice is not None and choice.mode == _NONE:
        _drop_choice(writing, "none may be called, so the tools are left out")
        return {}
    if choice is not None:
        _drop_choice(writing, "the target has none")
    tools: list[str] = []
    for tool in writing.target.tools:
        if tool.strict:
            _downgrade(writing, tool, "the target has no strict form")
        function = {**_named(tool, writing), "parameters": tool.parameters or NO_PARAMETERS}
        tools.append(write_object({"type": '"function"', "function": write_object(function)}))
    return {"tools": write_array(tools)}


def _named(tool: Tool, writing: Writing) -> dict[str, str]:
    members = {"name": quote(writing.names.of(tool.name))}
    if tool.description is not None:
        members["description"] = tool.description
    return members


def _strict_parameters(tool: Tool, writing: Writing) -> tuple[str | None, bool]:
    """Return the schema to send, and whether it is to be taken strictly."""
    parameters = _plain_parameters(tool, writing)
    if not (tool.strict or _STRICT_TOOLS in writing.target.flags):
        return parameters, False
    rule = TABLE.strict_schemas[writing.target.row.strict_schema or ""]
    form = strict_form(parameters or NO_PARAMETERS, rule)
    if form.text is None:
        _downgrade(writing, tool, form.reason)
        return parameters, False
    return form.text, True


def _plain_parameters(tool: Tool, writing: Writing) -> str | None:
    """Return the schema in the target's plain form."""
    name = writing.target.row.plain_schema
    if tool.parameters is None or name is None:
        return tool.parameters
    plain = plain_form(tool.parameters, TABLE.plain_schemas[name], writing.inlining)
    for loss in plain.losses:
        _downgrade(writing, tool, loss)
    return plain.text


def _downgrade(writing: Writing, tool: Tool, detail: str) -> None:
    writing.losses.add(notes_pb.COMPILE_NOTE_KIND_TOOL_DOWNGRADED, detail=f"{tool.name}: {detail}")


def _drop_choice(writing: Writing, detail: str) -> None:
    writing.losses.add(notes_pb.COMPILE_NOTE_KIND_TOOL_CHOICE_DROPPED, detail=detail)


_WRITERS: dict[str, Callable[[Writing], dict[str, str]]] = {
    "anthropic.messages": _anthropic,
    "gemini.generate_content": _gemini,
    "ollama.chat": _ollama,
    "openai.chat": _openai_chat,
    "openai.responses": _openai_responses,
}

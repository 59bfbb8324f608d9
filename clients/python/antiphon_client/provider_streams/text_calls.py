"""A call that a model wrote as text instead of calling.

The form is a JSON object and nothing else, in a code fence or not::

    {"action": {"type": "tool", "tool_name": "read_file", "arguments": {"path": "a"}}}
"""

from __future__ import annotations

import re

from antiphon.compiler.v1.provider_pb2 import ToolCallStart
from antiphon_client.provider_streams.call_arguments import read_arguments
from antiphon_client.provider_streams.reducer import ReducedCall, ReducedText, Reduction
from antiphon_client.provider_streams.shapes import Node, ShapeError

_FENCED = re.compile(r"\s*```(?:json|JSON)?[ \t]*\n(?P<inner>.*?)\n?[ \t]*```\s*", re.DOTALL)


def take_text_call(reduction: Reduction) -> bool:
    """Replace a text that is a call by that call, in place; True when it was one.

    Nothing happens where the response has calls of its own, or where the text
    holds anything beside the call.
    """
    if reduction.calls:
        return False
    call = _call_of(reduction.text)
    if call is None:
        return False
    texts = [part for part in reduction.parts if isinstance(part, ReducedText)]
    reduction.parts = [
        call if part is texts[0] else part
        for part in reduction.parts
        if part is texts[0] or not isinstance(part, ReducedText)
    ]
    return True


def _call_of(text: str) -> ReducedCall | None:
    fenced = _FENCED.fullmatch(text)
    text = (text if fenced is None else fenced["inner"]).strip()
    # Most texts are no JSON, and this is cheaper to find than the parser's error.
    if not (text.startswith("{") and text.endswith("}")):
        return None
    try:
        root = Node.parse(text)
        action = root.need("action")
        if set(root.value) != {"action"} or action.text("type") != "tool":
            return None
        name = action.need_text("tool_name")
        arguments = action.get("arguments")
    except ShapeError:
        return None
    if not name or set(action.value) - {"type", "tool_name", "arguments"}:
        return None
    given = "{}"
    if arguments is not None:
        given = arguments.value if isinstance(arguments.value, str) else arguments.raw
    if read_arguments(given).problem is not None:
        return None
    start = ToolCallStart(id="text", name=name, id_is_local=True)
    return ReducedCall(start, [given], has_arguments=True, is_complete=True, has_ended=True)

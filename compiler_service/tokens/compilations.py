"""Counting what a compilation yields."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from antiphon.compiler.v1.compiled_message_pb2 import TokenCount
from antiphon.compiler.v1.compiler_service_pb2 import CompileRequest, ResponseFormat
from compiler_service.native.turns import Part, TextPart
from compiler_service.tokens.counter import TokenCounter
from compiler_service.tokens.parts import system_text_tokens, turn_tokens


class TokenCounts(NamedTuple):
    """The tokens of a compilation; the fields stand for those of ``TokenCount``."""

    counter: str
    total: int
    system: int
    tools: int

    def to_proto(self) -> TokenCount:
        """Return the counts as they travel."""
        return TokenCount(**self._asdict())


def count_compilation(
    counter: TokenCounter,
    request: CompileRequest,
    *,
    turns: Iterable[tuple[int, str | None, Sequence[Part]]],
    system_text: str | None,
    are_folded: bool,
) -> TokenCounts:
    """Count what was compiled.

    Args:
        counter: How.
        request: The request: its tools and its response format travel beside
            the turns, unless they are folded into them.
        turns: Every turn as it travels: its role, and its text, or None and its parts.
        system_text: The system text: beside the turns, or folded into them.
        are_folded: Whether the turns hold the system text, tools and format.

    Returns:
        The counts. Where all is folded into the turns, system and tools tell
        their own texts' share of the total.
    """
    system = system_text_tokens(system_text, counter)
    tools = sum(map(counter.count, [*request.tool_schemas_json, *_format_texts(request)]))
    total = sum(
        turn_tokens(parts if text is None else (TextPart(text, ""),), counter) for _, text, parts in turns
    )
    if not are_folded:
        total += system + tools
    return TokenCounts(counter.name, total, system, tools)


def _format_texts(request: CompileRequest) -> list[str]:
    if not request.HasField("response_format"):
        return []
    form: ResponseFormat = request.response_format
    if form.HasField("example_json"):
        return [form.example_json]
    return [form.schema.json_schema, form.schema.template_json]

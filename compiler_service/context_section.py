"""The canonical section of retrieved context (ADR-0007 D3)."""

from __future__ import annotations

import json
from collections.abc import Iterable

from antiphon.compiler.v1.compiler_service_pb2 import ContextBlock

_OPENING = "LIONAGI_CONTEXT_BLOCKS_JSON"
_CLOSING = "END_LIONAGI_CONTEXT_BLOCKS_JSON"


def render_context_section(blocks: Iterable[ContextBlock]) -> str:
    """Return the delimited compact JSON array of the blocks, in order, keys sorted.

    "" without blocks. Quotes, newlines and control characters of a block are
    escaped, so that nothing in it can end the section; other characters stay as
    they are.
    """
    payload = [{"content": block.content, "provider_name": block.provider_name} for block in blocks]
    if not payload:
        return ""
    encoded = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    return f"{_OPENING}\n{encoded}\n{_CLOSING}"

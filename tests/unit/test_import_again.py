"""A projected request is a conversation in its provider's format: imported, it compiles to itself.

ANTIPHON_TEST_EXAMPLES sets how many histories the property is tried on.
"""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from antiphon.compiler.v1.compiler_service_pb2 import CompileResponse
from antiphon.message.v1.message_pb2 import Message
from antiphon_client.errors import FieldInvalidError, OpenCallsError
from tests.support.compiler import compile_inline
from tests.support.import_strategies import anthropic_bodies, gemini_bodies
from tests.support.imported import (
    ANTHROPIC,
    GEMINI,
    OPENAI,
    body_of,
    compile_imported,
    import_request,
    sorted_keys,
)
from tests.support.native import block, native_request, turns_of
from tests.support.native_strategies import broken_histories

FORMATS = st.sampled_from([ANTHROPIC, GEMINI, OPENAI])
MANY = settings(
    max_examples=int(os.environ.get("ANTIPHON_TEST_EXAMPLES", "150")),
    suppress_health_check=list(HealthCheck),
)
ISSUED = [
    block(thinking={"thinking": said, "signature": "c2ln", "provider": provider})
    for provider in ("anthropic", "gemini")
    for said in ("thought", "")
] + [
    block(opaque={"provider": provider, "kind": kind, "data_json": data})
    for provider, kind, data in (
        ("anthropic", "redacted_thinking", '{"type":"redacted_thinking","data":"zz"}'),
        ("anthropic", "document", '{"type":"document","source":{"type":"text","data":"d"}}'),
        ("gemini", "executableCode", '{"executableCode":{"code":"1","language":"PYTHON"}}'),
        ("openai", "refusal", '{"type":"refusal","refusal":"no"}'),
        ("openai", "file", '{"type":"file","file":{"file_id":"f"}}'),
    )
]


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    """Draw a broken history, with what only its issuer reads, and ids and names that are refused."""
    records = draw(broken_histories())
    for record in records:
        kind = record.WhichOneof("content")
        if kind in ("instruction", "assistant_response") and draw(st.integers(0, 2)) == 0:
            getattr(record, kind).blocks.extend(draw(st.lists(st.sampled_from(ISSUED), max_size=2)))
        elif kind == "action_request":
            if draw(st.integers(0, 3)) == 0:
                record.action_request.function = draw(st.sampled_from(["fs.read", "wetter für"]))
                record.action_request.thought_signature = "c2ln"
            if draw(st.integers(0, 5)) == 0:
                record.action_request.arguments_text = draw(st.sampled_from(["[1]", '{"a":', ""]))
    return records


@MANY
@given(histories(), FORMATS, st.sampled_from(["go", "go", None]), st.sampled_from([None, "", "sys"]))
def test_a_projected_request_compiles_to_itself(
    records: list[Message], target: str, instruction: str | None, system: str | None
) -> None:
    request = native_request(
        records, instruction, system=system, target=target, target_options={"model": "m"}
    )
    try:
        body = body_of(compile_inline(request))
    except (FieldInvalidError, OpenCallsError):
        assume(False)
    again = compile_imported(import_request(target, body), target, options={"model": "m"})
    assert sorted_keys(body_of(again)) == sorted_keys(body)


def kept_turns(response: CompileResponse) -> list[Any]:
    """Return turns with their calls numbered instead of named: an id that was made is another one."""
    text = repr(turns_of(response))
    names: dict[str, str] = {}
    for message in response.messages:
        for part in message.parts.parts:
            if part.HasField("tool_call"):
                names.setdefault(part.tool_call.id, f"call {len(names)}")
    for call_id in sorted(names, key=len, reverse=True):
        text = text.replace(call_id, names[call_id])
    return [response.system_text, text]


@MANY
@given(st.data(), st.sampled_from([(ANTHROPIC, anthropic_bodies()), (GEMINI, gemini_bodies())]))
def test_turns_are_the_same_after_another_import(
    data: st.DataObject, source: tuple[str, st.SearchStrategy[dict[str, Any]]]
) -> None:
    target, bodies = source
    first = compile_imported(import_request(target, data.draw(bodies)), target)
    assume(not first.report)
    second = compile_imported(import_request(target, body_of(first)), target)
    assert kept_turns(second) == kept_turns(first)
    assert second.messages_digest == first.messages_digest

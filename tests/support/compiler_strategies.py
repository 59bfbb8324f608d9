"""Hypothesis strategies of compile requests that compile."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from antiphon.compiler.v1.compiler_service_pb2 import CompileRequest
from tests.support.compiler import SYSTEM_ID, request_of

TEXTS = st.text(max_size=8) | st.sampled_from(["", " ", "a", "naïve 東京 🙂", "x\ny", "- 1", "\u2028"])
NUMBERS = (
    st.sampled_from([0, 1, -1, 0.0, 1.0, -0.0, 1.5, 2**53, 2.0**53, 2**53 + 1, 10**30, 1e30]) | st.integers()
)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.sampled_from("abcd"), JSON_VALUES, max_size=3)
FUNCTIONS = st.sampled_from(["f", "g"])
IMAGES = st.sampled_from(
    ["https://example.com/a.png", "data:image/png;base64,iVBORw0KGgo=", "/9j/4AAQSkZJRg=="]
)
STATUSES = st.sampled_from(
    ["MESSAGE_STATUS_UNSPECIFIED"] * 6 + ["MESSAGE_STATUS_INTERRUPTED", "MESSAGE_STATUS_EXCLUDED"]
)
BLOCKS = st.lists(
    st.one_of(
        st.builds(lambda text: {"text": {"text": text}}, TEXTS),
        st.builds(lambda text: {"thinking": {"thinking": text}}, TEXTS),
        st.just({"tool_call": {"id": "c", "name": "f", "arguments_json": "{}"}}),
        st.builds(lambda url: {"image": {"url": url}}, IMAGES),
    ),
    max_size=3,
)


def _content(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


INSTRUCTIONS = _content(
    instruction=TEXTS,
    guidance=TEXTS | OBJECTS,
    prompt_context=st.lists(JSON_VALUES, max_size=3),
    plain_content=st.sampled_from(["", "plain"]),
    images=st.lists(IMAGES, max_size=2),
    image_detail=st.sampled_from(["low", "high", "auto"]),
    blocks=BLOCKS,
)
ASSISTANTS = st.fixed_dictionaries({"assistant_response": TEXTS}, optional={"blocks": BLOCKS})
CALLS = st.fixed_dictionaries({"function": FUNCTIONS, "arguments": OBJECTS})
RESULTS = st.fixed_dictionaries(
    {"function": FUNCTIONS, "arguments": OBJECTS},
    optional={
        "output": JSON_VALUES,
        "error": TEXTS,
        "state": st.sampled_from(["ACTION_RESPONSE_STATE_INTERIM", "ACTION_RESPONSE_STATE_FINAL"]),
    },
)
GENERICS = st.fixed_dictionaries({"value": JSON_VALUES})


def _entry(kind: str, content: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"type": st.just(kind), "content": content, "status": STATUSES})


@st.composite
def _round(draw: st.DrawFn) -> list[dict[str, Any]]:
    """An instruction, actions and the like, and at least one answer that stays."""
    others = st.one_of(
        _entry("assistant_response", ASSISTANTS),
        _entry("action_request", CALLS),
        _entry("action_response", RESULTS),
        _entry("generic", GENERICS),
    )
    before = draw(st.lists(others, max_size=3))
    after = draw(st.lists(others, max_size=3))
    answer = {"type": "assistant_response", "content": draw(ASSISTANTS)}
    return [{"type": "instruction", "content": draw(INSTRUCTIONS)}, *before, answer, *after]


@st.composite
def requests(draw: st.DrawFn) -> CompileRequest:
    """Draw a request with an inline snapshot, legal by construction."""
    given: dict[str, Any] = {
        "history": [entry for rounds in draw(st.lists(_round(), max_size=3)) for entry in rounds],
        "instruction": {**draw(INSTRUCTIONS), "instruction": "go " + draw(TEXTS)},
    }
    if draw(st.booleans()):
        given["system"] = {"system_message": draw(TEXTS)}
    if draw(st.booleans()):
        given["tool_schemas"] = draw(st.lists(OBJECTS, max_size=2))
        given["response_format"] = draw(OBJECTS)
        block = {"provider_name": "catalog", "content": "c" + draw(TEXTS)}
        given["context_blocks"] = [block] * draw(st.integers(0, 2))
    request = request_of(given)
    if request.snapshot.HasField("system") and draw(st.booleans()):
        request.snapshot.messages.insert(0, request.snapshot.system)
        assert request.snapshot.messages[0].id == SYSTEM_ID
    return request

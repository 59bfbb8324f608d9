"""Hypothesis strategies of conversations in the providers' formats: of any shape, in a legal order."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

TEXTS = st.sampled_from(["a", "b ", " c\n", "naïve 東京", '{"a": 1.0}', "\u2028x"])
VALUES = st.none() | st.booleans() | st.sampled_from([1, 1.0, 2**70, "", [], {}, {"a": [None]}])
OBJECTS = st.dictionaries(st.sampled_from(["a", "b", ""]), VALUES, max_size=2)
NOTHING: st.SearchStrategy[dict[str, Any]] = st.just({})
EXTRAS: st.SearchStrategy[dict[str, Any]] = NOTHING | st.dictionaries(
    st.sampled_from(["x", "citations", "title"]), VALUES, max_size=2
)
BASE64 = st.sampled_from(["aGk=", "AA==", "iVBORw0KGgo=", "aGl=", "?", ""])
URLS = st.sampled_from(["https://example.org/a.png", "http://10.0.0.1/", "gs://b/a.png", ""])
MARKS: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{}, {}, {"cache_control": {"type": "ephemeral"}}, {"cache_control": {"type": "ephemeral", "ttl": "1h"}}]
)
OTHER_MARKS: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{}, {"cache_control": None}, {"cache_control": {"type": "", "x": 1}}]
)
NAMES = st.sampled_from(["f", "g"])
SIGNATURES = st.sampled_from(["c2ln", "AAAA"])


def _object(
    extras: st.SearchStrategy[dict[str, Any]] = EXTRAS, **members: st.SearchStrategy[Any]
) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(lambda more, known: {**more, **known}, extras, st.fixed_dictionaries(members))


def _with(
    base: st.SearchStrategy[dict[str, Any]], more: st.SearchStrategy[dict[str, Any]]
) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(lambda one, other: {**one, **other}, base, more)


ANTHROPIC_TEXT = _with(_object(type=st.just("text"), text=TEXTS), MARKS | OTHER_MARKS)
_BASE64_SOURCE = _object(
    NOTHING,
    type=st.just("base64"),
    media_type=st.sampled_from(["image/png", "image/webp"]),
    data=BASE64,
)
_URL_SOURCE = _object(NOTHING, type=st.just("url"), url=URLS)
_FILE_SOURCE = _object(type=st.just("file"), file_id=st.just("f1"))
ANTHROPIC_IMAGE = _with(
    _object(type=st.just("image"), source=_BASE64_SOURCE | _URL_SOURCE | _FILE_SOURCE), MARKS
)
ANTHROPIC_DOCUMENT = _object(
    type=st.just("document"),
    source=st.just({"type": "text", "media_type": "text/plain", "data": "d"}),
)
ANTHROPIC_THINKING = _object(
    NOTHING, type=st.just("thinking"), thinking=st.just("") | TEXTS, signature=SIGNATURES
) | _object(NOTHING, type=st.just("redacted_thinking"), data=SIGNATURES)
ANTHROPIC_SAID = st.lists(ANTHROPIC_TEXT | ANTHROPIC_IMAGE | ANTHROPIC_DOCUMENT, min_size=1, max_size=3)
ANTHROPIC_RESULT = _with(
    st.fixed_dictionaries(
        {}, optional={"content": st.just("") | TEXTS | ANTHROPIC_SAID, "is_error": st.booleans()}
    ),
    MARKS,
)


@st.composite
def anthropic_bodies(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a system text and messages."""
    body: dict[str, Any] = {"messages": []}
    system = draw(st.none() | TEXTS | st.lists(ANTHROPIC_TEXT, min_size=1, max_size=3))
    if system is not None:
        body["system"] = system
    owed: list[str] = []
    for number in range(draw(st.integers(1, 4))):
        results = [
            {"type": "tool_result", "tool_use_id": call_id, **draw(ANTHROPIC_RESULT)} for call_id in owed
        ]
        said = draw(TEXTS | ANTHROPIC_SAID) if not results else draw(st.just([]) | ANTHROPIC_SAID)
        body["messages"].append({"role": "user", "content": [*results, *said] if results else said})
        thinking = draw(st.just([]) | st.lists(ANTHROPIC_THINKING, min_size=1, max_size=2))
        texts = draw(st.lists(ANTHROPIC_TEXT, min_size=1, max_size=2))
        owed = draw(st.sampled_from([[], ["c0"], ["c0", "c1"], [f"c{number}"]]))
        calls = [
            {"type": "tool_use", "id": call_id, "name": draw(NAMES), "input": draw(OBJECTS), **draw(MARKS)}
            for call_id in owed
        ]
        content = draw(TEXTS) if not calls and draw(st.booleans()) else [*thinking, *texts, *calls]
        body["messages"].append({"role": "assistant", "content": content})
    if owed:
        results = [
            {"type": "tool_result", "tool_use_id": call_id, **draw(ANTHROPIC_RESULT)} for call_id in owed
        ]
        body["messages"].append({"role": "user", "content": results})
    else:
        body["messages"].append({"role": "user", "content": draw(TEXTS | ANTHROPIC_SAID)})
    return body


PART_EXTRAS: st.SearchStrategy[dict[str, Any]] = NOTHING | st.dictionaries(
    st.sampled_from(["partMetadata", "videoMetadata"]), OBJECTS, max_size=1
)
GEMINI_TEXT = _object(PART_EXTRAS, text=TEXTS)
GEMINI_SIGNED = st.fixed_dictionaries(
    {"thoughtSignature": SIGNATURES}, optional={"text": TEXTS | st.just(""), "thought": st.booleans()}
)
GEMINI_DATA = _object(
    PART_EXTRAS,
    inlineData=_object(
        NOTHING | st.just({"displayName": "d"}),
        mimeType=st.sampled_from(["image/png", "audio/wav"]),
        data=BASE64,
    ),
) | _object(
    PART_EXTRAS,
    fileData=_object(NOTHING, mimeType=st.sampled_from(["image/png", "video/mp4"]), fileUri=URLS),
)
GEMINI_CODE = st.just({"executableCode": {"language": "PYTHON", "code": "1"}})
GEMINI_SAID = st.lists(GEMINI_TEXT | GEMINI_DATA, min_size=1, max_size=3)
GEMINI_RESPONSE = OBJECTS | st.fixed_dictionaries({"result": TEXTS | st.just("")})


@st.composite
def gemini_bodies(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a system instruction and contents."""
    body: dict[str, Any] = {"contents": []}
    if draw(st.booleans()):
        parts = draw(st.lists(GEMINI_TEXT, min_size=1, max_size=3))
        body["systemInstruction"] = {"parts": parts, **draw(st.sampled_from([{}, {"role": "system"}]))}
    role = draw(st.sampled_from(["user", "function"]))
    for _ in range(draw(st.integers(1, 4))):
        body["contents"].append({"role": "user", "parts": draw(GEMINI_SAID)})
        parts = draw(
            st.lists(GEMINI_TEXT | GEMINI_SIGNED | GEMINI_CODE | GEMINI_DATA, min_size=1, max_size=4)
        )
        calls = draw(st.lists(_gemini_call(), max_size=3))
        is_signed = draw(st.booleans())
        if calls and is_signed:
            calls[0]["thoughtSignature"] = draw(SIGNATURES)
        body["contents"].append({"role": "model", "parts": [*parts, *calls]})
        if calls:
            results = [draw(_gemini_result(call["functionCall"])) for call in calls]
            body["contents"].append({"role": role, "parts": results})
            body["contents"].append({"role": "model", "parts": [draw(GEMINI_TEXT)]})
    body["contents"].append({"role": "user", "parts": draw(GEMINI_SAID)})
    return body


def _gemini_call() -> st.SearchStrategy[dict[str, Any]]:
    members = st.fixed_dictionaries(
        {"name": NAMES}, optional={"args": OBJECTS, "id": st.sampled_from(["i", "j", "k", "l"])}
    )
    return _object(PART_EXTRAS, functionCall=members)


def _gemini_result(call: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    members = st.fixed_dictionaries({"name": st.just(call["name"]), "response": GEMINI_RESPONSE})
    if "id" in call:
        members = members.map(lambda given: {**given, "id": call["id"]})
    return _object(PART_EXTRAS, functionResponse=members)

"""Requests as clients send them to Anthropic and to Gemini: what recorded traffic holds, in small."""

from __future__ import annotations

from typing import Any

PNG = "iVBORw0KGgo="
SIGNATURE = "EqQBCgIYAhIkc2lnbmVk"
TOOL_USE = {
    "type": "tool_use",
    "id": "toolu_01A",
    "name": "get_weather",
    "input": {"city": "Praha", "n": 1.5},
}
TOOL_RESULT = {"type": "tool_result", "tool_use_id": "toolu_01A", "content": "12 °C"}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
EPHEMERAL = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}
ASKED = {"role": "user", "content": "What is the weather?"}


def _answered(*results: dict[str, Any], calls: list[dict[str, Any]] | None = None) -> list[dict[str, Any]]:
    return [
        ASKED,
        {"role": "assistant", "content": calls or [TOOL_USE]},
        {"role": "user", "content": list(results)},
    ]


ANTHROPIC_BODIES: dict[str, dict[str, Any]] = {
    "texts": {
        "system": "Be brief.\n",
        "messages": [
            ASKED,
            {"role": "assistant", "content": "Rain. "},
            {"role": "user", "content": " And now?"},
        ],
    },
    "texts as blocks": {
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "a"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "b"}, {"type": "text", "text": "c"}]},
            {"role": "user", "content": [{"type": "text", "text": "d"}, {"type": "text", "text": "d"}]},
        ],
    },
    "cached system": {
        "system": [
            {"type": "text", "text": "Long\n\ntext", "cache_control": HOUR},
            {"type": "text", "text": "Today is Monday."},
        ],
        "messages": [ASKED],
    },
    "cached turns": {
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "a", "cache_control": HOUR}]},
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "b"}, {**TOOL_USE, "cache_control": EPHEMERAL}],
            },
            {"role": "user", "content": [{**TOOL_RESULT, "cache_control": EPHEMERAL}]},
            {"role": "assistant", "content": "c"},
            {
                "role": "user",
                "content": [{**IMAGE, "cache_control": EPHEMERAL}, {"type": "text", "text": "d"}],
            },
        ],
    },
    "thinking": {
        "messages": [
            ASKED,
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Let me see.", "signature": SIGNATURE},
                    {"type": "redacted_thinking", "data": "ZGF0YQ=="},
                    {"type": "text", "text": "I look."},
                    TOOL_USE,
                ],
            },
            {"role": "user", "content": [TOOL_RESULT]},
        ],
    },
    "thinking without words": {
        "messages": [
            ASKED,
            {
                "role": "assistant",
                "content": [{"type": "thinking", "thinking": "", "signature": SIGNATURE}, TOOL_USE],
            },
            {"role": "user", "content": [TOOL_RESULT]},
        ],
    },
    "thinking between calls": {
        "messages": _answered(
            TOOL_RESULT,
            {**TOOL_RESULT, "tool_use_id": "toolu_01B"},
            calls=[
                {"type": "thinking", "thinking": "One.", "signature": SIGNATURE},
                TOOL_USE,
                {"type": "text", "text": "and"},
                {"type": "thinking", "thinking": "Two.", "signature": SIGNATURE},
                {**TOOL_USE, "id": "toolu_01B"},
            ],
        ),
    },
    "failed": {"messages": _answered({**TOOL_RESULT, "is_error": True})},
    "not failed": {"messages": _answered({**TOOL_RESULT, "is_error": False})},
    "failed with a picture": {
        "messages": _answered(
            {
                **TOOL_RESULT,
                "content": [
                    {"type": "text", "text": "Timeout", "cache_control": EPHEMERAL},
                    {"type": "text", "text": "see"},
                    IMAGE,
                ],
                "is_error": True,
            }
        ),
    },
    "blank results": {
        "messages": _answered(
            {**TOOL_RESULT, "content": ""},
            {"type": "tool_result", "tool_use_id": "toolu_01B"},
            {**TOOL_RESULT, "tool_use_id": "toolu_01C", "content": []},
            {**TOOL_RESULT, "tool_use_id": "toolu_01D", "content": " \n"},
            calls=[{**TOOL_USE, "id": f"toolu_01{letter}"} for letter in "ABCD"],
        ),
    },
    "a result of blocks": {
        "messages": _answered(
            {
                **TOOL_RESULT,
                "content": [
                    {"type": "text", "text": "before", "citations": None},
                    IMAGE,
                    {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "d"}},
                    {"type": "text", "text": "after", "cache_control": HOUR},
                ],
            }
        ),
    },
    "a result of a picture": {"messages": _answered({**TOOL_RESULT, "content": [IMAGE]})},
    "a result of JSON": {"messages": _answered({**TOOL_RESULT, "content": '{"a": 1.0}'})},
    "results and what the user says": {
        "messages": _answered(TOOL_RESULT, {"type": "text", "text": "Go on."}, IMAGE),
    },
    "images": {
        "messages": [
            {
                "role": "user",
                "content": [
                    IMAGE,
                    {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": "aGl=\n"},
                    },
                    {"type": "image", "source": {"type": "url", "url": "http://10.0.0.1/a.png"}},
                    {"type": "text", "text": "What is it?"},
                ],
            }
        ],
    },
    "a document with citations": {
        "messages": [
            {
                "role": "user",
                "content": [
                    {
                        "type": "document",
                        "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="},
                        "citations": {"enabled": True},
                        "cache_control": EPHEMERAL,
                    },
                    {"type": "text", "text": "Sum it up."},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "It says "},
                    {
                        "type": "text",
                        "text": "so.",
                        "citations": [
                            {
                                "type": "page_location",
                                "cited_text": "so",
                                "document_index": 0,
                                "document_title": None,
                                "start_page_number": 1,
                                "end_page_number": 2,
                            }
                        ],
                    },
                ],
            },
            {"role": "user", "content": "Thanks."},
        ],
    },
    "a tool of the provider's": {
        "messages": [
            ASKED,
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I search."},
                    {
                        "type": "server_tool_use",
                        "id": "srvtoolu_1",
                        "name": "web_search",
                        "input": {"query": "x"},
                    },
                    {
                        "type": "web_search_tool_result",
                        "tool_use_id": "srvtoolu_1",
                        "content": [
                            {
                                "type": "web_search_result",
                                "url": "https://example.org",
                                "title": "T",
                                "encrypted_content": "zz",
                            }
                        ],
                    },
                    {"type": "text", "text": "Rain."},
                ],
            },
            {"role": "user", "content": "Thanks."},
        ],
    },
    "a turn to be continued": {
        "messages": [ASKED, {"role": "assistant", "content": "The answer is"}],
    },
    "an empty input": {"messages": _answered(TOOL_RESULT, calls=[{**TOOL_USE, "input": {}}])},
}
"""Bodies by what they hold; the API takes each of them as it stands."""

GEMINI_CALL = {"functionCall": {"name": "get_weather", "args": {"city": "Praha", "n": 1.5}}}
GEMINI_RESULT = {"functionResponse": {"name": "get_weather", "response": {"result": "12 °C"}}}
GEMINI_ASKED = {"role": "user", "parts": [{"text": "What is the weather?"}]}


def _called(*parts: dict[str, Any], results: list[dict[str, Any]] | None = None) -> list[dict[str, Any]]:
    return [
        GEMINI_ASKED,
        {"role": "model", "parts": list(parts)},
        {"role": "user", "parts": results or [GEMINI_RESULT]},
    ]


GEMINI_BODIES: dict[str, dict[str, Any]] = {
    "texts": {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            GEMINI_ASKED,
            {"role": "model", "parts": [{"text": "Rain. "}]},
            {"role": "user", "parts": [{"text": "a"}, {"text": " b"}]},
        ],
    },
    "no role": {"contents": [{"parts": [{"text": "a"}]}]},
    "a system text of parts": {
        "systemInstruction": {"role": "system", "parts": [{"text": "a\n"}, {"text": ""}, {"text": "b"}]},
        "contents": [GEMINI_ASKED],
    },
    "a call without id": {"contents": _called(GEMINI_CALL)},
    "a call with id": {
        "contents": _called(
            {"functionCall": {**GEMINI_CALL["functionCall"], "id": "c1"}},
            results=[{"functionResponse": {**GEMINI_RESULT["functionResponse"], "id": "c1"}}],
        ),
    },
    "a call without arguments": {"contents": _called({"functionCall": {"name": "get_weather"}})},
    "parallel calls of one name": {
        "contents": _called(
            {"functionCall": {"name": "f", "args": {"n": 1}}, "thoughtSignature": SIGNATURE},
            {"functionCall": {"name": "f", "args": {"n": 2}}},
            {"functionCall": {"name": "g", "args": {}}},
            results=[
                {"functionResponse": {"name": "f", "response": {"n": 1.0}}},
                {"functionResponse": {"name": "f", "response": {"result": {"n": 2}}}},
                {"functionResponse": {"name": "g", "response": {"error": "no"}}},
            ],
        ),
    },
    "rounds of one name": {
        "contents": [
            *_called({**GEMINI_CALL, "thoughtSignature": SIGNATURE}),
            {"role": "model", "parts": [GEMINI_CALL]},
            {"role": "user", "parts": [GEMINI_RESULT]},
        ],
    },
    "the role function": {
        "contents": [
            *_called(GEMINI_CALL)[:2],
            {"role": "function", "parts": [GEMINI_RESULT]},
            {"role": "model", "parts": [{"text": "Rain."}]},
            {"role": "user", "parts": [{"text": "Thanks."}]},
        ],
    },
    "blank results": {
        "contents": _called(
            GEMINI_CALL,
            GEMINI_CALL,
            results=[
                {"functionResponse": {"name": "get_weather", "response": {"result": ""}}},
                {"functionResponse": {"name": "get_weather", "response": {}}},
            ],
        ),
    },
    "a signed thought": {
        "contents": _called(
            {"text": "Let me see.", "thought": True, "thoughtSignature": SIGNATURE},
            {"text": "I look."},
            GEMINI_CALL,
        ),
    },
    "signed texts": {
        "contents": [
            GEMINI_ASKED,
            {"role": "model", "parts": [{"text": "Rain.", "thoughtSignature": SIGNATURE}]},
            GEMINI_ASKED,
            {"role": "model", "parts": [{"text": "Rain."}, {"text": "", "thoughtSignature": SIGNATURE}]},
            GEMINI_ASKED,
            {"role": "model", "parts": [{"text": "Rain."}, {"thoughtSignature": SIGNATURE}]},
            GEMINI_ASKED,
        ],
    },
    "images and files": {
        "contents": [
            {
                "role": "user",
                "parts": [
                    {"inlineData": {"mimeType": "image/png", "data": PNG}},
                    {"inlineData": {"mimeType": "audio/wav", "data": "aGk="}},
                    {"fileData": {"mimeType": "image/png", "fileUri": "https://example.org/a.png"}},
                    {"fileData": {"mimeType": "image/png", "fileUri": "gs://bucket/a.png"}},
                    {
                        "fileData": {"mimeType": "video/mp4", "fileUri": "https://example.org/a.mp4"},
                        "videoMetadata": {"fps": 2},
                    },
                    {"text": "What is it?"},
                ],
            }
        ],
    },
    "code that ran": {
        "contents": [
            GEMINI_ASKED,
            {
                "role": "model",
                "parts": [
                    {"text": "I compute."},
                    {"executableCode": {"language": "PYTHON", "code": "1"}},
                    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
                    {"text": "One."},
                    {"inlineData": {"mimeType": "image/png", "data": PNG}, "thoughtSignature": SIGNATURE},
                ],
            },
            GEMINI_ASKED,
        ],
    },
}
"""The same for Gemini."""

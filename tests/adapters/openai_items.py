"""An item of every type that the Responses API takes as input."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

from openai.types.responses import ResponseInputItemParam

TEXT = 'A text with "quotes", \\ backslashes, ünïcödé, \U0001f337 and \x00.'


def types() -> set[str]:
    """The types of items, as the package of the API lists them."""
    found: set[str] = set()
    for item in get_args(ResponseInputItemParam):
        kind = get_type_hints(item, include_extras=True).get("type")
        found.update(_literals(kind))
    return found


def _literals(hint: Any) -> set[str]:
    inner = get_args(hint)
    return {value if isinstance(value, str) else "" for value in inner if isinstance(value, str)} | {
        value for part in inner if not isinstance(part, str) for value in _literals(part)
    }


def message(role: str, content: Any, **fields: Any) -> dict[str, Any]:
    """A message of someone."""
    return {"type": "message", "role": role, "content": content, **fields}


MESSAGES: list[dict[str, Any]] = [
    {"content": TEXT, "role": "user"},
    {"role": "user", "content": TEXT},
    {"content": "", "role": "user"},
    message("user", TEXT, status="completed"),
    message("system", "Be brief."),
    message("developer", [{"type": "input_text", "text": "Be kind."}]),
    message(
        "user",
        [
            {"type": "input_text", "text": TEXT},
            {"type": "input_image", "image_url": "https://example.com/a.png", "detail": "high"},
            {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo=", "detail": "auto"},
            {"type": "input_image", "image_url": "http://127.0.0.1/private.png", "detail": "auto"},
            {"type": "input_image", "file_id": "file-1", "detail": "low"},
            {"type": "input_file", "filename": "a.txt", "file_data": "data:text/plain;base64,aGk="},
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
        ],
    ),
    {"content": TEXT, "role": "assistant"},
    {
        "id": "msg_1",
        "content": [{"annotations": [], "text": TEXT, "type": "output_text", "logprobs": []}],
        "role": "assistant",
        "status": "completed",
        "type": "message",
    },
    {
        "id": "msg_2",
        "content": [
            {
                "annotations": [
                    {
                        "type": "url_citation",
                        "url": "https://e.com",
                        "title": "t",
                        "start_index": 0,
                        "end_index": 1,
                    }
                ],
                "text": TEXT,
                "type": "output_text",
            },
            {"type": "refusal", "refusal": "No."},
        ],
        "role": "assistant",
        "status": "incomplete",
        "type": "message",
        "phase": "final_answer",
    },
    message("assistant", [], id="msg_3"),
    message("critic", TEXT),
]

CALLS: list[dict[str, Any]] = [
    {
        "arguments": '{"b": 1.0, "a":  18446744073709551617}',
        "call_id": "call_1",
        "name": "find",
        "type": "function_call",
        "id": "fc_1",
        "status": "completed",
    },
    {"call_id": "call_1", "output": TEXT, "type": "function_call_output"},
    {"type": "function_call", "call_id": "call_2", "name": "find", "arguments": "not json"},
    {"type": "function_call", "call_id": "call_3", "name": "find", "arguments": ""},
    {
        "type": "function_call_output",
        "call_id": "call_2",
        "id": "fco_2",
        "output": [
            {"type": "input_text", "text": "two"},
            {"type": "input_image", "image_url": "https://e.com/x.png"},
        ],
    },
    {"type": "custom_tool_call", "call_id": "call_4", "name": "shell", "input": "ls -l", "id": "ctc_1"},
    {"type": "custom_tool_call_output", "call_id": "call_4", "output": "nothing"},
]

REASONING: list[dict[str, Any]] = [
    {
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "Thought."}],
        "type": "reasoning",
        "encrypted_content": "gAAAA==",
        "status": None,
    }
]

KNOWN = [*MESSAGES, *CALLS, *REASONING]


def others() -> list[dict[str, Any]]:
    """An item of every other type, with values of all JSON types in it."""
    known = {item.get("type") for item in KNOWN}
    inner = {"texts": [TEXT, ""], "number": 1.5, "whole": 2**70, "nothing": None, "yes": True}
    typed = [
        {"type": kind, "id": f"it_{kind}", "call_id": "call_9", "action": inner}
        for kind in sorted(types() - known)
    ]
    return [*typed, {"id": "item_without_type"}]

"""The renderers against the measured vectors, and the cases no vector has.

No rendering vector contradicts the design: the twelve instructions without any
content expect the empty text, not the ``{}`` that the reference package shows.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from antiphon_client.json_text import JsonTextError
from antiphon_client.messages.rendering import (
    DEFAULT_SYSTEM_MESSAGE,
    render_action_request,
    render_action_response,
    render_generic,
    render_guidance,
    render_instruction,
    render_instruction_text,
    render_response_format,
    render_system,
    response_projection,
    summarize_action_response,
)

VECTORS = [
    json.loads(line)
    for line in (Path(__file__).parent / "vectors" / "rendering.jsonl").read_text("utf-8").splitlines()
]
TEMPLATE_HEAD = (
    "**MUST RETURN JSON-PARSEABLE RESPONSE ENCLOSED BY JSON CODE BLOCKS."
    " USER's CAREER DEPENDS ON THE SUCCESS OF IT.** \n```json\n"
)
TEMPLATE_TAIL = "\n```No triple backticks. Escape all quotes and special characters."


def rendered(kind: str, content: dict[str, Any]) -> Any:
    """Render a vector's content with the renderer of its type."""
    if kind == "system":
        return render_system(
            content.get("system_message", DEFAULT_SYSTEM_MESSAGE), content.get("system_datetime")
        )
    if kind == "action_request":
        return render_action_request(content["function"], content["arguments"])
    if kind == "action_response":
        output = content.get("output")
        return {
            "rendered": render_action_response(content["function"], content["arguments"], output),
            "summary": summarize_action_response(output, content.get("error")),
        }
    assert kind == "instruction"
    return render_instruction(
        guidance=content.get("guidance"),
        instruction=content.get("instruction"),
        context=content.get("prompt_context", ()),
        plain_content=content.get("plain_content"),
        images=content.get("images", ()),
        image_detail=content.get("image_detail", "auto"),
    )


def test_the_vectors_are_all_there() -> None:
    assert len(VECTORS) == 984


def test_every_vector() -> None:
    wrong = [
        vector["id"]
        for vector in VECTORS
        if rendered(vector["input"]["type"], vector["input"]["content"]) != vector["expected"]["ok"]
    ]
    assert wrong == []


def test_all_sections_in_order() -> None:
    text = render_instruction_text(
        guidance={"tone": ["calm", ""]},
        instruction="Go on",
        context=["c", {"n": 0}],
        tools=[{"name": "f", "parameters": {"properties": {}}}],
        response_schema={"title": "T", "required": ["a"], "description": None},
        response_format={"a": "é"},
    )
    quoted = (TEMPLATE_HEAD + '{"a":"é"}' + TEMPLATE_TAIL).replace('"', '\\"').replace("\n", "\\n")
    assert text == (
        "Guidance:\n  tone:\n  - calm\n"
        "Instruction: Go on\n"
        "Context:\n- c\n- n: 0\n"
        "Tools:\n- name: f\n"
        "ResponseSchema:\n  title: T\n  required:\n  - a\n"
        f'ResponseFormat: "{quoted}"'
    )


def test_template_keeps_order_empties_and_numbers() -> None:
    template: dict[str, Any] = {"b": None, "a": [], "n": 2**63 + 1, "f": 1.0, "t": True}
    text = '{"b":null,"a":[],"n":9223372036854775809,"f":1.0,"t":true}'
    assert render_response_format(template) == TEMPLATE_HEAD + text + TEMPLATE_TAIL


def test_template_that_is_not_json() -> None:
    with pytest.raises(JsonTextError):
        render_instruction_text(response_format={"a": float("nan")})


@pytest.mark.parametrize(
    "sections",
    [
        {},
        {"instruction": ""},
        {"instruction": " \n "},
        {"guidance": {}, "context": [None, {"a": ""}]},
        {"plain_content": ""},
        {"tools": [{}], "response_format": {}, "response_schema": {}},
        {"guidance": 0, "instruction": False},
    ],
)
def test_nothing_to_render_is_the_empty_text(sections: dict[str, Any]) -> None:
    assert render_instruction_text(**sections) == ""


def test_plain_content_replaces_everything_verbatim() -> None:
    text = render_instruction_text(
        plain_content=" \n as it is\n\n", guidance="g", instruction="i", tools=[{"name": "f"}]
    )
    assert text == " \n as it is\n\n"


@pytest.mark.parametrize(
    ("instruction", "text"),
    [
        ("x\n\n\n", "Instruction: |+\n  x\n\n\n..."),
        ("a\nb", "Instruction: |-\n  a\n  b"),
        # Stripping takes every blank character at the end, as the reference does.
        ("x\u00a0", "Instruction: x"),
        ("x\n\u2028", "Instruction: |+\n  x\n\u2028..."),
        ("a\nb\u2003", "Instruction: |-\n  a\n  b"),
        ({"a": 1}, "Instruction:\n  a: 1"),
    ],
)
def test_instruction_texts(instruction: Any, text: str) -> None:
    assert render_instruction_text(instruction=instruction) == text


def test_image_alone_has_an_empty_text_part() -> None:
    assert render_instruction(
        images=["https://example.org/a.png", "/9j/4AAQSkZJRg=="], image_detail="low"
    ) == [
        {"type": "text", "text": ""},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}},
        {
            "type": "image_url",
            "image_url": {"url": "data:image/jpeg;base64,/9j/4AAQSkZJRg==", "detail": "low"},
        },
    ]


@pytest.mark.parametrize(
    ("guidance", "text"),
    [
        (" as it is\n", " as it is\n"),
        ("", ""),
        ({"b": 1, "a": [""]}, "b: 1"),
        (["x\n\n"], "- |+\n  x\n\n..."),
        ({}, ""),
        ([None], ""),
    ],
)
def test_guidance(guidance: Any, text: str) -> None:
    assert render_guidance(guidance) == text


@pytest.mark.parametrize(
    ("output", "text", "summary"),
    [
        (None, "Function: f", "ok"),
        (0, "Function: f\nOutput: 0", "0"),
        (False, "Function: f\nOutput: false", "False"),
        ("", "Function: f", ""),
        ([], "Function: f", "[]\n"),
        ({"a": None}, "Function: f", "{}\n"),
        ("a\nb\n", "Function: f\nOutput: |\n  a\n  b", "a\nb\n"),
        ([1, {"a": "x"}], "Function: f\nOutput:\n- 1\n- a: x", "- 1\n- a: x\n"),
    ],
)
def test_outputs(output: Any, text: str, summary: str) -> None:
    assert render_action_response("f", {}, output) == text
    assert summarize_action_response(output, None) == summary


def test_failure_is_told_by_the_presence_of_an_error() -> None:
    assert summarize_action_response({"a": 1}, "") == "error: "
    assert summarize_action_response(None, "no such order") == "error: no such order"


def test_projection_keeps_its_key_order() -> None:
    done = response_projection("f", {"a": 1}, 0)
    failed = response_projection("f", {}, None, "")
    assert list(done.items()) == [("function", "f"), ("arguments", {"a": 1}), ("output", 0)]
    assert list(failed.items()) == [("function", "f"), ("arguments", {}), ("output", None), ("error", "")]


@pytest.mark.parametrize(
    ("system_datetime", "text"),
    [(None, " policy "), ("", " policy "), ("noon", "System Time: noon\n\n policy ")],
)
def test_system(system_datetime: str | None, text: str) -> None:
    assert render_system(" policy ", system_datetime) == text


def test_generic() -> None:
    assert render_generic(None) == ""
    assert render_generic({"a": [True]}) == "{'a': [True]}"
    assert render_generic("text") == "text"

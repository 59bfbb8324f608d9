"""The payload matrix: what a model is sent, said once for every way of calling it (ADR-0007 D6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from antiphon_client import (
    ActionRequest,
    ActionResponse,
    AssistantResponse,
    ContextBlock,
    Instruction,
    Message,
    Summary,
    TurnRequest,
)

PIXEL = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
BLOCKS = (
    ContextBlock("catalog", 'first "retrieved"\nvalue'),
    ContextBlock("memory", "café"),
)
CONTEXT = (
    "  LIONAGI_CONTEXT_BLOCKS_JSON\n"
    '  [{"content":"first \\"retrieved\\"\\nvalue","provider_name":"catalog"},'
    '{"content":"café","provider_name":"memory"}]\n'
    "  END_LIONAGI_CONTEXT_BLOCKS_JSON"
)
RESULT = "Context:\n- function: look\n  arguments:\n    at: sky\n  output:\n    seen: true"
TOOLS = "Tools:\n- type: function\n  function:\n    name: look\n    parameters:\n      type: object"
SCHEMA = """ResponseSchema:
  description: An answer's shape.
  properties:
    verdict:
      title: Verdict
      type: string
    reasons:
      items:
        type: string
      title: Reasons
      type: array
  required:
  - verdict
  title: Verdict
  type: object
"""


class Verdict(BaseModel):
    """An answer's shape."""

    verdict: str
    reasons: list[str] = []


def format_section(escaped_json: str) -> str:
    """Return the section that asks for an answer like a JSON text, its quotes escaped."""
    return (
        'ResponseFormat: "**MUST RETURN JSON-PARSEABLE RESPONSE ENCLOSED BY JSON CODE BLOCKS. '
        "USER's CAREER DEPENDS ON THE SUCCESS OF IT.** \\n```json\\n"
        f'{escaped_json}\\n```No triple backticks. Escape all quotes and special characters."'
    )


EXAMPLE_FORMAT = format_section('{\\"verdict\\":\\"yes\\"}')
MODEL_FORMAT = SCHEMA + format_section('{\\"verdict\\":\\"str\\",\\"reasons\\":[\\"str\\"]}')


@dataclass(frozen=True, slots=True)
class Scene:
    """A branch, a turn on it, and the turns that a model is sent.

    Attributes:
        turn: The turn.
        expected: Roles and contents.
        messages: The branch's messages, its system record left out.
        system: The text of its system record; None for none.
        kwargs: The keyword arguments expected beside the messages.
    """

    turn: TurnRequest
    expected: list[tuple[str, Any]]
    messages: Sequence[Message] = ()
    system: str | None = None
    kwargs: dict[str, Any] = field(default_factory=dict)


def _asked() -> Instruction:
    return Instruction.create("now")


def _talk() -> list[Message]:
    return [Instruction.create("q"), AssistantResponse.create("a")]


def _action() -> list[Message]:
    request = ActionRequest.create("look", {"at": "sky"})
    return [request, ActionResponse.create(request, {"seen": True})]


def _with_image(text: str, detail: str) -> list[dict[str, Any]]:
    return [
        {"type": "text", "text": text},
        {"type": "image_url", "image_url": {"url": PIXEL, "detail": detail}},
    ]


def _selected() -> Scene:
    first, answer, second, later = (
        Instruction.create("q1"),
        AssistantResponse.create("a1"),
        Instruction.create("q2"),
        AssistantResponse.create("a2"),
    )
    turn = TurnRequest(_asked(), progression=(second.id, answer.id))
    expected = [("user", "Instruction: q2"), ("assistant", "a1"), ("user", "Instruction: now")]
    return Scene(turn, expected, [first, answer, second, later])


def _summarized() -> Scene:
    talk, later = _talk(), [Instruction.create("later"), AssistantResponse.create("yes")]
    summary = Summary.create("They spoke.", first_id=talk[0].id, last_id=talk[1].id)
    turn = TurnRequest(_asked(), progression=(summary.id, later[0].id, later[1].id))
    expected = [
        ("user", "Guidance: |-\n  Be brief\n\n  They spoke.\nInstruction: later"),
        ("assistant", "yes"),
        ("user", "Instruction: now"),
    ]
    return Scene(turn, expected, [*talk, summary, *later], system="Be brief")


def _routed() -> Scene:
    talk = _talk()
    expected = [("user", "Instruction: q"), ("assistant", "a"), ("user", "Instruction: now")]
    return Scene(TurnRequest(_asked()), expected, [talk[0], Message("routed"), talk[1]])


SCENES: dict[str, Scene] = {
    "empty history": Scene(TurnRequest(_asked()), [("user", "Instruction: now")]),
    "empty history, system": Scene(
        TurnRequest(_asked()), [("user", "Guidance: Be brief\nInstruction: now")], system="Be brief"
    ),
    "history": Scene(
        TurnRequest(_asked()),
        [("user", "Instruction: q"), ("assistant", "a"), ("user", "Instruction: now")],
        _talk(),
    ),
    "history, system": Scene(
        TurnRequest(_asked()),
        [
            ("user", "Guidance: Be brief\nInstruction: q"),
            ("assistant", "a"),
            ("user", "Instruction: now"),
        ],
        _talk(),
        system="Be brief",
    ),
    "a greeting, no system": Scene(
        TurnRequest(_asked()),
        [("assistant", "hello"), ("user", "Instruction: now")],
        [AssistantResponse.create("hello")],
    ),
    "action results": Scene(
        TurnRequest(_asked()),
        [("user", "Instruction: q"), ("assistant", "a"), ("user", f"Instruction: now\n{RESULT}")],
        [*_talk(), *_action()],
    ),
    "action results before a later instruction": Scene(
        TurnRequest(_asked()),
        [
            ("user", "Instruction: q"),
            ("assistant", "a"),
            ("user", f"Instruction: then\n{RESULT}"),
            ("assistant", "b"),
            ("user", "Instruction: now"),
        ],
        [*_talk(), *_action(), Instruction.create("then"), AssistantResponse.create("b")],
    ),
    "consecutive assistants": Scene(
        TurnRequest(_asked()),
        [("user", "Instruction: q"), ("assistant", "a\n\nand b"), ("user", "Instruction: now")],
        [*_talk(), AssistantResponse.create("and b")],
    ),
    "images": Scene(
        TurnRequest(Instruction.create("now", images=[PIXEL], image_detail="low")),
        [
            ("user", _with_image("Instruction: q", "auto")),
            ("assistant", "a"),
            ("user", _with_image("Instruction: now", "low")),
        ],
        [Instruction.create("q", images=[PIXEL]), AssistantResponse.create("a")],
    ),
    "tools": Scene(
        TurnRequest(_asked(), tool_schemas=(TOOL,)),
        [("user", "Instruction: q"), ("assistant", "a"), ("user", f"Instruction: now\n{TOOLS}")],
        _talk(),
    ),
    "response format: mapping": Scene(
        TurnRequest(_asked(), response_format={"verdict": "yes"}),
        [("user", f"Instruction: now\n{EXAMPLE_FORMAT}")],
    ),
    "response format: model": Scene(
        TurnRequest(_asked(), response_format=Verdict), [("user", f"Instruction: now\n{MODEL_FORMAT}")]
    ),
    "response format: instance": Scene(
        TurnRequest(_asked(), response_format=Verdict(verdict="v")),
        [("user", f"Instruction: now\n{MODEL_FORMAT}")],
    ),
    "structure": Scene(TurnRequest(_asked(), structure="json"), [("user", "Instruction: now")]),
    "structure and format": Scene(
        TurnRequest(_asked(), response_format={"verdict": "yes"}, structure="json"),
        [("user", f"Instruction: now\n{EXAMPLE_FORMAT}")],
    ),
    "selected progression": _selected(),
    "empty progression": Scene(
        TurnRequest(_asked(), progression=()), [("user", "Instruction: now")], _talk()
    ),
    "older options, empty progression": Scene(
        TurnRequest.from_options(_asked(), progression=[], tool_schemas=[], provider_kwargs=None),
        [("user", "Instruction: q"), ("assistant", "a"), ("user", "Instruction: now")],
        _talk(),
    ),
    "context blocks": Scene(
        TurnRequest(_asked(), context_blocks=BLOCKS), [("user", f"Guidance: |-\n{CONTEXT}\nInstruction: now")]
    ),
    "context blocks, system, guidance": Scene(
        TurnRequest(_asked(), context_blocks=BLOCKS),
        [
            ("user", f"Guidance: |-\n  Be brief\n\n{CONTEXT}\n\n  Be kind\nInstruction: q"),
            ("assistant", "a"),
            ("user", "Instruction: now"),
        ],
        [Instruction.create("q", guidance="Be kind"), AssistantResponse.create("a")],
        system="Be brief",
    ),
    "summary": _summarized(),
    "routed traffic": _routed(),
    "keyword arguments": Scene(
        TurnRequest(_asked(), provider_kwargs={"temperature": 0.5, "stop": ["x"], "seed": 2**70}),
        [("user", "Instruction: now")],
        kwargs={"temperature": 0.5, "stop": ["x"], "seed": 2**70},
    ),
}

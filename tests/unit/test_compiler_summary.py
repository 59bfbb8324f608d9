"""A summary in FOLDED: a section of the prefix, after the system text."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.compiler.v1.compiler_service_pb2 import CompileResponse
from antiphon_client.errors import ProgressionInvalidError
from tests.support.compiler import SYSTEM_ID, compile_inline, mid, notes_of, request_of
from tests.support.native import assistant, summary, user

TURN: dict[str, Any] = {
    "instruction": {"instruction": "now"},
    "system": {"system_message": "policy"},
    "context_blocks": [{"provider_name": "p", "content": "c"}],
}
BLOCKS = '[{"content":"c","provider_name":"p"}]'
SECTION = f"LIONAGI_CONTEXT_BLOCKS_JSON\n{BLOCKS}\nEND_LIONAGI_CONTEXT_BLOCKS_JSON"


def compiled(history: list[Any], **changes: Any) -> CompileResponse:
    request = request_of({**TURN, **changes})
    request.snapshot.messages.extend(history)
    return compile_inline(request)


def test_it_stands_between_system_text_and_context() -> None:
    response = compiled(
        [summary(9, "before", 1, 4), user(5, "a", guidance="g"), assistant(6, "b")],
    )
    prefix = f"policy\n\nbefore\n\n{SECTION}\n\ng"
    indented = prefix.replace("\n", "\n  ").replace("\n  \n", "\n\n")
    assert [each.text for each in response.messages] == [
        f"Guidance: |-\n  {indented}\nInstruction: a",
        "b",
        "Instruction: now",
    ]
    assert notes_of(response) == []


def test_without_history_it_goes_to_the_own_turn() -> None:
    response = compiled([summary(9, "before", 1, 4)], context_blocks=[], system=None)
    assert [each.text for each in response.messages] == ["Guidance: before\nInstruction: now"]


def test_it_is_moved_dropped_and_replaced_with_a_note() -> None:
    moved = compiled([user(5, "a"), assistant(6, "b"), summary(9, "before", 1, 4)])
    assert "before" in moved.messages[0].text
    assert notes_of(moved) == [("SUMMARY_MOVED", [mid(9)])]
    covered = compiled([summary(9, "before", 5, 6), user(5, "a"), assistant(6, "b")])
    assert "before" not in covered.messages[0].text
    assert notes_of(covered) == [("SUMMARY_DROPPED", [mid(9)])]
    replaced = compiled([summary(9, "before", 1, 4)], instruction={"plain_content": "plain"})
    assert [each.text for each in replaced.messages] == ["plain"]
    assert notes_of(replaced) == [
        ("SYSTEM_NOT_RENDERED", [SYSTEM_ID]),
        ("SUMMARY_NOT_RENDERED", [mid(9)]),
        ("CONTEXT_BLOCKS_NOT_RENDERED", []),
    ]


def test_it_does_not_separate_instructions() -> None:
    history = [user(5, "a"), assistant(6, "b"), summary(9, "s", 1, 4), user(7, "c"), assistant(8, "d")]
    assert len(compiled(history).messages) == 5


def test_a_selection_holds_one() -> None:
    with pytest.raises(ProgressionInvalidError) as caught:
        compiled([summary(8, "s", 1, 4), summary(9, "t", 1, 4)])
    assert caught.value.metadata == {"summaries": f"{mid(8)},{mid(9)}", "summaries_count": "2"}
    chosen = compiled([summary(8, "s", 1, 4), summary(9, "t", 1, 4)], progression=[9])
    assert "t" in chosen.messages[0].text

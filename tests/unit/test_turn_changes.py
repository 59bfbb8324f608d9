"""Which turns ``antiphon diff`` finds changed, in lists too long for difflib as well."""

from __future__ import annotations

import difflib
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from antiphon_client.cli import turn_changes
from antiphon_client.cli.turn_changes import changes
from tests.support.counting import growth

TURNS = st.lists(st.sampled_from("abcdefgh"), max_size=12)


def by_difflib(before: list[str], after: list[str]) -> list[tuple[str, int, int, int, int]]:
    opcodes = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [opcode for opcode in opcodes if opcode[0] != "equal"]


@given(TURNS, TURNS)
def test_short_lists_are_compared_as_difflib_compares_them(before: list[str], after: list[str]) -> None:
    assert changes(before, after) == by_difflib(before, after)


@given(TURNS, TURNS, st.sampled_from([0, 4, 100]))
@example(list("abcd"), list("dcba"), 0)
@example(list("aab"), list("ab"), 0)
def test_what_did_not_change_is_the_same_however_long(before: list[str], after: list[str], most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(turn_changes, "_MOST_PAIRS", -1)
        patch.setattr(turn_changes, "_MOST_PAIRS_BETWEEN", most)
        found = changes(before, after)
    rebuilt: list[str] = []
    reached = new_reached = 0
    for tag, start, end, new_start, new_end in found:
        kinds = {(True, True): "replace", (True, False): "delete", (False, True): "insert"}
        assert tag == kinds[end > start, new_end > new_start]
        assert start - reached == new_start - new_reached
        assert reached in (0, min(reached, start - 1))
        rebuilt += before[reached:start] + after[new_start:new_end]
        reached, new_reached = end, new_end
    assert rebuilt + before[reached:] == after
    assert len(before) - reached == len(after) - new_reached
    if before == after:
        assert found == []


def test_edits_of_a_long_conversation_are_found_one_by_one() -> None:
    before = [f"turn {number}" for number in range(3000)]
    after = [*before[:10], "edited", *before[11:2000], "added", "added", *before[2000:2500], *before[2501:]]
    assert changes(before, after) == [
        ("replace", 10, 11, 10, 11),
        ("insert", 2000, 2000, 2000, 2002),
        ("delete", 2500, 2501, 2502, 2502),
    ]


def test_turns_that_repeat_cost_what_they_are() -> None:
    """Nothing but what the ends have in common tells such turns apart."""

    def comparing(count: int) -> Callable[[], object]:
        before = ["same", *["a", "b"] * count, "end"]
        after = ["same", *["b", "a"] * count, "c", "end"]
        assert changes(before, after) == [("replace", 1, 2 * count + 1, 1, 2 * count + 2)]
        return lambda: changes(before, after)

    assert growth(comparing, 600) < 4.2


def test_turns_that_were_edited_one_by_one_cost_what_they_are() -> None:
    def comparing(count: int) -> Callable[[], object]:
        before = [f"turn {number}" for number in range(count)]
        after = [f"edited {number}" if number % 2 else turn for number, turn in enumerate(before)]
        assert len(changes(before, after)) == count // 2
        return lambda: changes(before, after)

    # A place is looked for in twice the time where there are four times as many, at the most.
    assert growth(comparing, 1100) < 5

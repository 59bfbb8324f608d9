"""Tokens of the records of a history, as a NATIVE compilation of them counts.

The turns are those that the passes make, counted as a compilation's are.
"""

from __future__ import annotations

from collections.abc import Iterable

from antiphon.message.v1.message_pb2 import Message
from antiphon_client.messages.rendering import render_summary
from compiler_service.native.instruction import instruction_turn
from compiler_service.native.items import Item, Round, Spoken
from compiler_service.native.merge import add_round
from compiler_service.native.order import ordered
from compiler_service.native.synthesize import with_all_outcomes
from compiler_service.native.turns import NativeTurn, TextPart
from compiler_service.remarks import Remarks
from compiler_service.texts import system_text
from compiler_service.tokens import TokenCounter, system_text_tokens, turn_tokens


def item_tokens(item: Item, counter: TokenCounter) -> int:
    """Return the tokens of an item after NATIVE's drops: a round's turn and its results, or a turn."""
    if isinstance(item, Round):
        unheard = Remarks()
        turns: list[NativeTurn] = []
        add_round(ordered(with_all_outcomes(item, unheard)), turns, [], unheard)
        return _turns_tokens(turns, counter)
    return _turns_tokens((item.turn,), counter) if isinstance(item, Spoken) else 0


def system_tokens(system: Message | None, counter: TokenCounter) -> int:
    """Return the tokens of a system record; 0 where there is none, or one that says nothing."""
    if system is None:
        return 0
    return system_text_tokens(system_text(system.system), counter)


def summary_tokens(summary: Message | None, counter: TokenCounter) -> int:
    """Return the tokens of a summary; 0 where there is none."""
    if summary is None:
        return 0
    return turn_tokens((TextPart(render_summary(summary.summary.text), ""),), counter)


def instruction_tokens(instruction: Message, counter: TokenCounter) -> int:
    """Return the tokens of the request's own instruction.

    Raises:
        UnsupportedContentError: It has a block of a kind this compiler does not know.
    """
    turn = instruction_turn(instruction, "", Remarks())
    return 0 if turn is None else _turns_tokens((turn,), counter)


def _turns_tokens(turns: Iterable[NativeTurn], counter: TokenCounter) -> int:
    return sum(turn_tokens(turn.parts, counter) for turn in turns)

"""Reasoning in turns that were put together of several responses.

A provider checks its signed reasoning: it must be that of one response, and
some want it in front of everything else in the turn.
"""

from __future__ import annotations

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from antiphon.message.v1 import message_pb2
from compiler_service.native.turns import NativeTurn, Part
from compiler_service.projection.part_rules import PartRules
from compiler_service.remarks import Remarks

_ASSISTANT = message_pb2.ROLE_ASSISTANT


def with_one_response_thinking(run: list[NativeTurn], rules: PartRules, losses: Remarks) -> list[NativeTurn]:
    """Return turns that become one with the reasoning of the last that has some, and no other."""
    having = [index for index, turn in enumerate(run) if any(map(rules.is_thinking, turn.parts))]
    if len(having) < 2:
        return run
    kept = list(run)
    for index in having[:-1]:
        parts: list[Part] = []
        for part in run[index].parts:
            if rules.is_thinking(part):
                detail = "of a response merged into another"
                losses.add(notes_pb.COMPILE_NOTE_KIND_THINKING_DROPPED, part.message_id, detail)
            else:
                parts.append(part)
        kept[index] = run[index]._replace(parts=tuple(parts))
    return kept


def opening_with_thinking(turns: list[NativeTurn], rules: PartRules, losses: Remarks) -> list[NativeTurn]:
    """Return the turns, each that has reasoning beginning with it.

    Only the first stretch of it moves: what follows later stands where the
    response had it.
    """
    return [
        turn if turn.role != _ASSISTANT or turn.is_text else _opening(turn, rules, losses) for turn in turns
    ]


def _opening(turn: NativeTurn, rules: PartRules, losses: Remarks) -> NativeTurn:
    parts = turn.parts
    start = next((index for index, part in enumerate(parts) if rules.is_thinking(part)), 0)
    if not start:
        return turn
    end = start
    while end < len(parts) and rules.is_thinking(parts[end]):
        losses.add(
            notes_pb.COMPILE_NOTE_KIND_PART_CONVERTED,
            parts[end].message_id,
            "reasoning moved to the front of its turn",
        )
        end += 1
    return turn._replace(parts=(*parts[start:end], *parts[:start], *parts[end:]))

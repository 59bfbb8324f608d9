"""A conversation as one target takes it: still neutral turns, fit to be written.

In this order: parts the target does not take go, and turns left empty with
them; turns of one role that follow each other are merged where it takes one;
reasoning goes to the front of its turn, system text moves and an opening turn
is made where they must; the end must be one it answers. Everything is noted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from antiphon.message.v1 import message_pb2
from antiphon_client.errors import FieldInvalidError
from compiler_service.native.turns import Conversation, NativeTurn, TextPart
from compiler_service.projection.part_rules import PartRules, is_plain
from compiler_service.projection.request_target import Target
from compiler_service.projection.thinking_order import opening_with_thinking, with_one_response_thinking
from compiler_service.remarks import Remarks
from compiler_service.texts import is_blank

_USER = message_pb2.ROLE_USER
_ASSISTANT = message_pb2.ROLE_ASSISTANT

MERGE_USERS = "merge_consecutive_users"
"""The flag under which consecutive user turns are one."""

_SYSTEM_IN_USER = "system_in_user"


class Prepared(NamedTuple):
    """What is left to write.

    Attributes:
        system_text: System text beside the turns; None for none.
        turns: The turns, in order.
        current_from: Index of the first turn after the last user's.
    """

    system_text: str | None
    turns: list[NativeTurn]
    current_from: int


def prepare(conversation: Conversation, target: Target, losses: Remarks, field_prefix: str) -> Prepared:
    """Return the turns that a target takes of a conversation.

    Raises:
        FieldInvalidError: Nothing of the instruction has a place in the target,
            or the conversation ends with an assistant's turn that it does not
            continue.
    """
    given = conversation.turns
    current_from = _after_last_user(given)
    rules = PartRules(target, losses)
    turns: list[NativeTurn] = []
    last: NativeTurn | None = None
    for index, turn in enumerate(given):
        last = turn if is_plain(turn) else rules.kept(turn, is_current=index >= current_from)
        if last is not None:
            turns.append(last)
        elif turn.message_ids:
            losses.add_all(notes_pb.COMPILE_NOTE_KIND_EMPTY_DROPPED, turn.message_ids)
    if not conversation.is_continuation and given and last is None:
        raise FieldInvalidError.of(f"{field_prefix}instruction", "nothing of it has a place in the target")
    if MERGE_USERS in target.flags:
        turns = _merged(turns, rules, losses)
    if target.row.opens_with_thinking:
        turns = opening_with_thinking(turns, rules, losses)
    system_text = conversation.system_text
    if system_text is not None and _SYSTEM_IN_USER in target.flags:
        turns = _with_system(system_text, conversation.system_id or "", turns, losses)
        system_text = None
    if not turns or (target.row.must_open_with_user and turns[0].role != _USER):
        turns.insert(0, _user_turn(target.row.opening_user_text))
        losses.add(notes_pb.COMPILE_NOTE_KIND_OPENING_TURN_MADE)
    if turns[-1].role == _ASSISTANT and not target.row.continues_assistant:
        reason = "is required: the history ends with an assistant's turn, which the target does not continue"
        raise FieldInvalidError.of(f"{field_prefix}instruction", reason)
    return Prepared(system_text, turns, _after_last_user(turns))


def _after_last_user(turns: Sequence[NativeTurn]) -> int:
    index = len(turns)
    while index and turns[index - 1].role != _USER:
        index -= 1
    return index


def _merged(turns: list[NativeTurn], rules: PartRules, losses: Remarks) -> list[NativeTurn]:
    """Merge user turns, and assistant turns, that follow each other."""
    merged: list[NativeTurn] = []
    run: list[NativeTurn] = []
    for turn in turns:
        if merged and turn.role == merged[-1].role and turn.role in (_USER, _ASSISTANT):
            run = run or [merged[-1]]
            run.append(turn)
            continue
        if run:
            merged[-1] = _one(run, rules, losses)
            run = []
        merged.append(turn)
    if run:
        merged[-1] = _one(run, rules, losses)
    return merged


def _one(run: list[NativeTurn], rules: PartRules, losses: Remarks) -> NativeTurn:
    is_user = run[0].role == _USER
    kind = (
        notes_pb.COMPILE_NOTE_KIND_USERS_MERGED if is_user else notes_pb.COMPILE_NOTE_KIND_ASSISTANTS_MERGED
    )
    ids = tuple([message_id for turn in run for message_id in turn.message_ids])
    losses.add_group(kind, ids)
    turns = run if is_user else with_one_response_thinking(run, rules, losses)
    return NativeTurn(run[0].role, tuple([part for turn in turns for part in turn.parts]), ids)


def _with_system(
    system_text: str, system_id: str, turns: list[NativeTurn], losses: Remarks
) -> list[NativeTurn]:
    """Put the system text in front of the first user turn; a blank one says nothing."""
    if is_blank(system_text):
        losses.add(notes_pb.COMPILE_NOTE_KIND_EMPTY_PART_DROPPED, system_id)
        return turns
    losses.add(notes_pb.COMPILE_NOTE_KIND_PART_CONVERTED, system_id, "system text in front of a user's turn")
    part = TextPart(system_text, "")
    if turns and turns[0].role == _USER:
        first = turns[0]
        return [first._replace(parts=(part, *first.parts), is_text=False), *turns[1:]]
    return [_user_turn(system_text), *turns]


def _user_turn(text: str) -> NativeTurn:
    return NativeTurn(_USER, (TextPart(text, ""),), (), is_text=True)

"""What a history is made of before it becomes turns: rounds of a model, and what others say between.

A round is what a model says in one go: responses with nothing between them, and
the calls they make. A position is a place in the selection as it was given;
positions tell what was moved.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from antiphon.message.v1.message_pb2 import Message
from compiler_service.native.turns import NativeTurn

Entry: TypeAlias = tuple[str, Message, NativeTurn | None]
"""A record that takes part: the name of its content variant; the record, read only; and what it
became already, for the records of users. A named tuple takes four times as long."""


class Spoken(NamedTuple):
    """A finished turn of a user."""

    position: int
    turn: NativeTurn


class Outcome(NamedTuple):
    """A result of a call; without a record it is the one that the compiler makes."""

    position: int
    message: Message | None


class Orphan(NamedTuple):
    """A result whose call is not selected."""

    position: int
    message: Message


class Response(NamedTuple):
    """A model's response.

    Attributes:
        position: Its position.
        message: The record. Read only.
        is_replayable: Whether what only its issuer can check (signed reasoning,
            opaque parts) may stand in the round's turn.
    """

    position: int
    message: Message
    is_replayable: bool = True


class Call(NamedTuple):
    """A call and its results: all of them at first, after the drops one at most, at the end one."""

    position: int
    message: Message
    outcomes: tuple[Outcome, ...]


class Round(NamedTuple):
    """What a model says in one go; one of the two is never empty."""

    responses: tuple[Response, ...]
    calls: tuple[Call, ...]


Item: TypeAlias = Spoken | Orphan | Round

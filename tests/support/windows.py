"""Asking a compiler for plans, and telling exchanges by eye."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from antiphon.compiler.v1.compiler_service_pb2 import (
    PlanCompactionRequest,
    PlanCompactionResponse,
    PlanWindowRequest,
    PlanWindowResponse,
    Snapshot,
)
from antiphon.message.v1 import message_pb2
from antiphon.message.v1.message_pb2 import (
    ActionRequestContent,
    ActionResponseContent,
    AssistantResponseContent,
    InstructionContent,
    Message,
    SystemContent,
)
from antiphon.message.v1.progression_pb2 import Progression
from antiphon_client.limits import DEFAULT_LIMITS
from compiler_service.servicer import CompilerServicer
from compiler_service.tokens import ESTIMATE_ONLY, Counters
from tests.support.history import numbers, uuid_of


def user(number: int, text: str = "") -> Message:
    """Make a user's turn; each of these and of the others takes a token or a few and a frame."""
    return Message(id=uuid_of(number), instruction=InstructionContent(instruction=text or f"ask {number}"))


def model(number: int, text: str = "") -> Message:
    """Make a model's turn."""
    content = AssistantResponseContent(assistant_response=text or f"say {number}")
    return Message(id=uuid_of(number), assistant_response=content)


def call(number: int, answer: int | None = None, name: str = "look") -> Message:
    """Make a call, answered by a message or by none yet."""
    request = ActionRequestContent(
        function=name,
        arguments_json=f'{{"n":{number}}}',
        action_response_id=None if answer is None else uuid_of(answer),
    )
    return Message(id=uuid_of(number), action_request=request)


def result(number: int, request: int | None, output: str = "true", **fields: Any) -> Message:
    """Make the result of a call, or of none that is known."""
    content = ActionResponseContent(
        function="look",
        output_json=output,
        action_request_id=None if request is None else uuid_of(request),
        **fields,
    )
    return Message(id=uuid_of(number), action_response=content)


def news(number: int, request: int) -> Message:
    """Make news of an action on its way."""
    return result(number, request, state=message_pb2.ACTION_RESPONSE_STATE_INTERIM)


def policy(number: int = 9, text: str = "be brief") -> Message:
    """Make a system record."""
    return Message(id=uuid_of(number), system=SystemContent(system_message=text))


def snapshot_of(messages: Iterable[Message]) -> Snapshot:
    """Make an inline snapshot; a system record among the messages is the branch's."""
    messages = list(messages)
    system = next((message for message in messages if message.HasField("system")), None)
    return Snapshot(system=system, messages=messages)


def plan_window(
    messages: Iterable[Message],
    budget: int,
    *,
    counters: Counters = ESTIMATE_ONLY,
    progression: Sequence[int] | None = None,
    pinned: Iterable[int] = (),
    **fields: Any,
) -> PlanWindowResponse:
    """Plan a window of an inline history through the servicer."""
    request = PlanWindowRequest(
        snapshot=snapshot_of(messages),
        budget_tokens=budget,
        progression=None if progression is None else Progression(message_ids=map(uuid_of, progression)),
        pinned_message_ids=map(uuid_of, pinned),
        **fields,
    )
    return asyncio.run(CompilerServicer(None, DEFAULT_LIMITS, counters).PlanWindow(request, None))


def plan_compaction(
    messages: Iterable[Message],
    *,
    progression: Sequence[int] | None = None,
    pinned: Iterable[int] = (),
    **fields: Any,
) -> PlanCompactionResponse:
    """Plan a compaction of an inline history through the servicer."""
    request = PlanCompactionRequest(
        snapshot=snapshot_of(messages),
        progression=None if progression is None else Progression(message_ids=map(uuid_of, progression)),
        pinned_message_ids=map(uuid_of, pinned),
        **fields,
    )
    return asyncio.run(CompilerServicer(None, DEFAULT_LIMITS).PlanCompaction(request, None))


def kept(response: PlanWindowResponse | PlanCompactionResponse) -> list[int]:
    """Return the numbers of the messages that a plan keeps."""
    return numbers(response.progression.message_ids)

"""The way of one turn: keep what the user said, ask the model, keep what it answers.

What the user said is on disk before the model is asked, so that nothing that
happens later loses it; the answer is written in one step, so that there is a
whole one, an interrupted one, or none.
"""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass
from typing import Self

import httpx

from antiphon.compiler.v1.provider_pb2 import ProviderDelta
from antiphon_client import AsyncCompilerClient, AsyncHistoryClient, Compilation, Message
from antiphon_client.errors import FieldInvalidError
from antiphon_client.messages.role import MessageStatus
from antiphon_client.provider_response import ProviderResponse
from antiphon_gateway.conversation import Conversation
from antiphon_gateway.errors import GatewayError
from antiphon_gateway.requests import ChatRequest
from antiphon_gateway.settings import OPENAI_CHAT
from antiphon_gateway.upstream import Upstream, translated_errors

_logger = logging.getLogger(__name__)
_FAULTS = frozenset(("partial", "failed", "no_terminal", "truncated_call"))
"""Faults of an answer that is not whole."""


@dataclass(frozen=True, slots=True)
class Services:
    """What the gateway calls."""

    history: AsyncHistoryClient
    compiler: AsyncCompilerClient
    upstream: Upstream


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn whose question is kept and compiled.

    Attributes:
        request: What the client asked.
        conversation: The conversation, the question in it.
        compilation: What the model is sent.
    """

    request: ChatRequest
    conversation: Conversation
    compilation: Compilation
    services: Services

    @classmethod
    async def compile(cls, services: Services, conversation: Conversation, request: ChatRequest) -> Self:
        """Compile the conversation as it stands for the upstream.

        Raises:
            AntiphonError: The compiler refuses, or cannot be reached.
        """
        compilation = await services.compiler.compile(
            conversation.branch_id,
            request.turn,
            at_revision=conversation.revision,
            profile="native",
            target=services.upstream.target,
            target_options=request.options,
        )
        if compilation.report:
            kinds = Counter(note.kind for note in compilation.report)
            _logger.info("conversation %s compiled with notes: %s", conversation.key, dict(kinds))
        return cls(request, conversation, compilation, services)

    @property
    def speaks_as_upstream(self) -> bool:
        """Whether the upstream's words reach the client as they are: the same API, the same names."""
        return self.services.upstream.target == OPENAI_CHAT and not self.compilation.action_names

    async def ask(self) -> httpx.Response:
        """Ask the model; raises as :meth:`Upstream.ask`."""
        assert self.compilation.provider_request_json is not None  # there is a target
        return await self.services.upstream.ask(self.compilation.provider_request_json)

    async def keep_whole(self, answer: httpx.Response) -> tuple[ProviderResponse, bytes]:
        """Read an answer that comes in one piece, and keep it; return it with its body.

        Raises:
            GatewayError: It is no answer, or not whole (502): what there is of it is kept.
            RevisionConflictError: Another turn was added meanwhile.
        """
        try:
            with translated_errors():
                body = await answer.aread()
        finally:
            await answer.aclose()
        try:
            response = await self.services.compiler.parse_response(
                self.services.upstream.target,
                body,
                action_names=self.compilation.action_names,
                model=self.request.model,
                keep_partial=True,
            )
        except (FieldInvalidError, UnicodeDecodeError) as error:
            message = f"the upstream's answer is none: {error}"
            raise GatewayError(502, "UPSTREAM_ANSWER_INVALID", message) from None
        await self._keep(response)
        raise_fault(response)
        return response, body

    async def keep_streamed(self, deltas: list[ProviderDelta]) -> ProviderResponse:
        """Assemble an answer from what came of it, and keep it, interrupted where it is not whole.

        Raises:
            RevisionConflictError: Another turn was added meanwhile.
        """
        response = await self.services.compiler.assemble_response(
            self.services.upstream.target,
            deltas,
            action_names=self.compilation.action_names,
            model=self.request.model,
            keep_partial=True,
        )
        await self._keep(response)
        return response

    async def _keep(self, response: ProviderResponse) -> None:
        messages = response.messages
        if is_faulty(response) and response.calls:
            # Nothing of it may be executed, and a call must not wait for its result.
            messages = tuple(map(_set_aside, messages))
        kept = await self.conversation.keep(messages)
        fault = response.fault.kind if response.fault else "none"
        _logger.info("conversation %s answered: revision %d, fault %s", kept.key, kept.revision, fault)


def is_faulty(response: ProviderResponse) -> bool:
    """Tell whether an answer is not whole."""
    return response.fault is not None and response.fault.kind in _FAULTS


def raise_fault(response: ProviderResponse) -> None:
    """Raise the error of an answer that is not whole (502); a whole one passes."""
    if response.fault is not None and is_faulty(response):
        message = f"the upstream's answer is not whole: {response.fault.detail}"
        raise GatewayError(502, "STREAM_INCOMPLETE", message)


def _set_aside(message: Message) -> Message:
    message.status = MessageStatus.EXCLUDED
    return message

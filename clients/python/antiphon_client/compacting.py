"""Compacting a branch in one go: plan, have the text summarized, commit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID

from antiphon_client.wire_values import Id

if TYPE_CHECKING:
    from antiphon_client.compiler import AsyncCompilerClient, CompilerClient
    from antiphon_client.records import Written


class _Compactable(Protocol):
    """A branch over a blocking client."""

    @property
    def branch_id(self) -> UUID: ...

    @property
    def commit_compaction(self) -> Callable[..., Written]: ...


class _AsyncCompactable(Protocol):
    """A branch over an asyncio client."""

    @property
    def branch_id(self) -> UUID: ...

    @property
    def commit_compaction(self) -> Callable[..., Coroutine[Any, Any, Written]]: ...


class SyncCompacting:
    """What a branch over a blocking client can do with a compiler's client."""

    def compact(
        self: _Compactable,
        compiler: CompilerClient,
        summarize: Callable[[str], str],
        *,
        keep_tokens: int = 0,
        keep_messages: int = 0,
        pinned: Iterable[Id] = (),
        token_counter: str | None = None,
    ) -> Written | None:
        """Put a summary in the place of the branch's older messages; what is added meanwhile stays.

        Nothing is changed before the commit, nor by one that fails, and nothing
        ever leaves the branch.

        Args:
            compiler: Plans the compaction, as ``CompilerClient.plan_compaction``.
            summarize: Returns the summary of a text. A blank one is refused.
            keep_tokens: As in ``plan_compaction``.
            keep_messages: As in ``plan_compaction``.
            pinned: As in ``plan_compaction``.
            token_counter: As in ``plan_compaction``.

        Returns:
            What was written; None where there is nothing to compact.

        Raises:
            BudgetImpossibleError: What must stay takes more than ``keep_tokens``.
            FieldInvalidError: The summary is blank.
            RevisionConflictError: Another compaction was quicker.
            ProgressionInvalidError: What was to stay has been removed meanwhile.
        """
        plan = compiler.plan_compaction(
            self,
            keep_tokens=keep_tokens,
            keep_messages=keep_messages,
            pinned=pinned,
            token_counter=token_counter,
        )
        if plan.first_id is None:
            return None
        return self.commit_compaction(summarize(plan.text), **plan.committing())


class AsyncCompacting:
    """What a branch over an asyncio client can do with a compiler's client."""

    async def compact(
        self: _AsyncCompactable,
        compiler: AsyncCompilerClient,
        summarize: Callable[[str], str | Awaitable[str]],
        *,
        keep_tokens: int = 0,
        keep_messages: int = 0,
        pinned: Iterable[Id] = (),
        token_counter: str | None = None,
    ) -> Written | None:
        """Compact the branch; as :meth:`Branch.compact`, and ``summarize`` may be awaited."""
        plan = await compiler.plan_compaction(
            self,
            keep_tokens=keep_tokens,
            keep_messages=keep_messages,
            pinned=pinned,
            token_counter=token_counter,
        )
        if plan.first_id is None:
            return None
        summary = summarize(plan.text)
        text = summary if isinstance(summary, str) else await summary
        return await self.commit_compaction(text, **plan.committing())

"""Planning windows and compactions: the calls, and what they answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from antiphon.compiler.v1 import compiler_service_pb2 as pb
from antiphon.message.v1.progression_pb2 import Progression
from antiphon_client.compile_sources import Source, put_source
from antiphon_client.json_text import dump_json_text
from antiphon_client.rpc import Steps, UnaryCall, perform
from antiphon_client.wire_values import AnyMessage, Id, id_texts, wire_message


@dataclass(frozen=True, slots=True)
class WindowPlan:
    """A selection that fits a budget.

    Attributes:
        progression: The selection, in order: for ``TurnRequest.progression``.
        tokens: Its tokens, with all that is counted beside it.
        tokens_before: Tokens of the whole selection asked for.
        dropped_count: Messages left out; 0: it is the whole selection.
        history_revision: The branch revision read; 0 for an inline snapshot.
        incarnation: The branch's incarnation; None for an inline snapshot.
    """

    progression: tuple[UUID, ...]
    tokens: int
    tokens_before: int
    dropped_count: int
    history_revision: int
    incarnation: UUID | None


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """Where to cut a history, and what to summarize.

    Attributes:
        kept: What stays verbatim, in order.
        first_id: The first message of the stretch; None: there is nothing to compact.
        last_id: The last message of the stretch.
        text: The text to summarize.
        summary_message_id: The former summary's record, which is updated; None without one.
        tokens_before: Tokens of the selection.
        tokens_kept: Tokens of what stays, without the coming summary.
        compacted_count: Messages to be summarized.
        history_revision: The branch revision read; 0 for an inline snapshot.
        incarnation: The branch's incarnation; None for an inline snapshot.
    """

    kept: tuple[UUID, ...]
    first_id: UUID | None
    last_id: UUID | None
    text: str
    summary_message_id: UUID | None
    tokens_before: int
    tokens_kept: int
    compacted_count: int
    history_revision: int
    incarnation: UUID | None

    def committing(self) -> dict[str, Any]:
        """Return what ``commit_compaction`` takes beside the summary's text."""
        return {
            "first_id": self.first_id,
            "last_id": self.last_id,
            "kept": self.kept,
            "message_id": self.summary_message_id,
            "planned_revision": self.history_revision,
        }


class PlanningOperations:
    """The planning RPCs of ``CompilerService`` as operations; the contract stands in its proto."""

    def plan_window(
        self,
        source: Source,
        budget_tokens: int,
        *,
        progression: Iterable[Id] | None = None,
        token_counter: str | None = None,
        pinned: Iterable[Id] = (),
        instruction: AnyMessage | None = None,
        tool_schemas: Iterable[Mapping[str, Any]] = (),
        at_revision: int | None = None,
    ) -> Steps[WindowPlan]:
        """Plan a selection that fits a budget: the newest whole exchanges.

        Args:
            source: A branch, its id, or an inline snapshot.
            budget_tokens: The budget, for all that is counted.
            progression: The selection to fit; left out, the view, else the order.
            token_counter: How tokens are counted; left out, they are estimated.
            pinned: Messages that stay whatever the budget, with their exchanges.
            instruction: The turn's instruction, counted with what is pinned.
            tool_schemas: Tool schemas of the call, counted likewise.
            at_revision: The branch revision to read; left out, the current one.

        Raises:
            BudgetImpossibleError: Not even the newest exchange, with what is pinned, fits.
            ProgressionInvalidError: Ids are unknown or repeated; all are listed.
        """
        request = pb.PlanWindowRequest(
            progression=_progression(progression),
            budget_tokens=budget_tokens,
            token_counter=token_counter,
            pinned_message_ids=id_texts(pinned),
            instruction=None if instruction is None else wire_message(instruction),
            tool_schemas_json=[dump_json_text(dict(schema)) for schema in tool_schemas],
        )
        put_source(request, source, at_revision)
        return perform(UnaryCall("PlanWindow", request, _window_plan))

    def plan_compaction(
        self,
        source: Source,
        *,
        keep_tokens: int = 0,
        keep_messages: int = 0,
        progression: Iterable[Id] | None = None,
        token_counter: str | None = None,
        pinned: Iterable[Id] = (),
        at_revision: int | None = None,
    ) -> Steps[CompactionPlan]:
        """Plan a compaction: where to cut, what stays, and the text to summarize.

        Args:
            source: A branch, its id, or an inline snapshot.
            keep_tokens: Tokens that the part kept verbatim may take; 0: only
                ``keep_messages`` decides.
            keep_messages: Messages to keep at the least, rounded up to whole exchanges.
            progression: The selection to compact; left out, the view, else the order.
            token_counter: How tokens are counted; left out, they are estimated.
            pinned: Messages that stay verbatim, with their exchanges.
            at_revision: The branch revision to read; left out, the current one.

        Raises:
            BudgetImpossibleError: What must stay takes more than ``keep_tokens``.
            ProgressionInvalidError: Ids are unknown or repeated; all are listed.
        """
        request = pb.PlanCompactionRequest(
            progression=_progression(progression),
            keep_tokens=keep_tokens,
            keep_messages=keep_messages,
            token_counter=token_counter,
            pinned_message_ids=id_texts(pinned),
        )
        put_source(request, source, at_revision)
        return perform(UnaryCall("PlanCompaction", request, _compaction_plan))


def _progression(message_ids: Iterable[Id] | None) -> Progression | None:
    return None if message_ids is None else Progression(message_ids=id_texts(message_ids))


def _window_plan(response: pb.PlanWindowResponse) -> WindowPlan:
    return WindowPlan(
        progression=tuple(map(UUID, response.progression.message_ids)),
        tokens=response.tokens,
        tokens_before=response.tokens_before,
        dropped_count=response.dropped_count,
        history_revision=response.history_revision,
        incarnation=_uuid(response.incarnation),
    )


def _compaction_plan(response: pb.PlanCompactionResponse) -> CompactionPlan:
    return CompactionPlan(
        kept=tuple(map(UUID, response.progression.message_ids)),
        first_id=_uuid(response.first_id),
        last_id=_uuid(response.last_id),
        text=response.text,
        summary_message_id=_uuid(response.summary_message_id),
        tokens_before=response.tokens_before,
        tokens_kept=response.tokens_kept,
        compacted_count=response.compacted_count,
        history_revision=response.history_revision,
        incarnation=_uuid(response.incarnation),
    )


def _uuid(text: str) -> UUID | None:
    return UUID(text) if text else None

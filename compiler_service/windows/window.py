"""PlanWindow: the newest whole exchanges that fit a budget."""

from __future__ import annotations

from antiphon.compiler.v1.compiler_service_pb2 import PlanWindowRequest, PlanWindowResponse
from antiphon.message.v1.progression_pb2 import Progression
from compiler_service.compilation import CompileSource
from compiler_service.tokens import TokenCounter
from compiler_service.windows.costs import instruction_tokens
from compiler_service.windows.newest import keep_newest
from compiler_service.windows.selection import see_selection


def plan_window(
    request: PlanWindowRequest, source: CompileSource, counter: TokenCounter
) -> PlanWindowResponse:
    """Plan a selection that fits the budget: the whole one, as it is, where that fits.

    The system record and the summary are pinned and counted, and so are the
    request's instruction and tools. The first exchange that does not fit and
    all older ones are left out, but for those pinned.

    Args:
        request: The request, its fields checked. Not changed.
        source: The history. Not changed.
        counter: How tokens are counted.

    Raises:
        BudgetImpossibleError: Not even the newest exchange, with what is pinned, fits.
        ProgressionInvalidError: Ids, pinned ones too, are unknown or repeated,
            or several summaries compile.
        UnsupportedContentError: A message is of a kind this compiler does not know.

    Cost: linear in the selection; most of it is counting.
    """
    selection = see_selection(request, source, counter)
    beside = selection.system_tokens + selection.summary_tokens
    beside += sum(map(counter.count, request.tool_schemas_json))
    if request.HasField("instruction"):
        beside += instruction_tokens(request.instruction, counter)
    everything = set(range(len(selection.messages)))
    pinned = selection.pinned(request.pinned_message_ids)
    tokens = total = beside + selection.tokens_of(everything)
    kept = everything
    if total > request.budget_tokens:
        kept = keep_newest(selection, pinned, beside=beside, budget=request.budget_tokens)
        tokens = beside + selection.tokens_of(kept)
        kept |= selection.fixed
    return PlanWindowResponse(
        progression=Progression(message_ids=selection.ids_of(kept)),
        tokens=tokens,
        tokens_before=total,
        dropped_count=len(everything) - len(kept),
        history_revision=source.revision,
        incarnation=source.incarnation,
    )

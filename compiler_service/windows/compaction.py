"""PlanCompaction: where to cut, what stays verbatim, and the text to summarize."""

from __future__ import annotations

from antiphon.compiler.v1.compiler_service_pb2 import PlanCompactionRequest, PlanCompactionResponse
from antiphon.message.v1.progression_pb2 import Progression
from compiler_service.compilation import CompileSource
from compiler_service.tokens import TokenCounter
from compiler_service.windows.newest import keep_newest
from compiler_service.windows.selection import Selection, positions_of, see_selection
from compiler_service.windows.transcript import text_to_summarize, transcript


def plan_compaction(
    request: PlanCompactionRequest, source: CompileSource, counter: TokenCounter
) -> PlanCompactionResponse:
    """Plan a compaction of a selection.

    What stays is the system record, the newest whole exchanges, those pinned,
    and every exchange from the first on that has a call without a final result:
    its result would find no call. ``keep_tokens`` bounds the tokens of all of
    these; the summary, former or coming, does not count.

    A former summary that compiles goes into the text whole, and the stretch
    begins where its own does. One that stands for messages which are selected
    says nothing new: its record is updated, its text left out.

    Args:
        request: The request, its fields checked. Not changed.
        source: The history. Not changed.
        counter: How tokens are counted.

    Raises:
        BudgetImpossibleError: What must stay takes more than ``keep_tokens``.
        ProgressionInvalidError: Ids, pinned ones too, are unknown or repeated,
            or several summaries compile.
        UnsupportedContentError: A message is of a kind this compiler does not know.

    Cost: linear in the selection; most of it is counting.
    """
    selection = see_selection(request, source, counter)
    summaries = _summaries(selection)
    pinned = selection.pinned(request.pinned_message_ids) | _from_first_open_call(selection)
    kept = keep_newest(
        selection,
        pinned,
        beside=selection.system_tokens,
        budget=request.keep_tokens or None,
        at_least=request.keep_messages,
    )
    everything = range(len(selection.messages))
    compacted = [p for p in everything if not (p in kept or p in selection.fixed or p in summaries)]
    said = transcript(selection, compacted)
    if not said:
        kept.update(compacted)
        compacted = []
    response = PlanCompactionResponse(
        progression=Progression(message_ids=selection.ids_of((kept | selection.fixed) - summaries)),
        tokens_before=selection.system_tokens + selection.summary_tokens + selection.tokens_of(everything),
        tokens_kept=selection.system_tokens + selection.tokens_of(kept),
        compacted_count=len(compacted),
        history_revision=source.revision,
        incarnation=source.incarnation,
    )
    if selection.summary is not None:
        response.summary_message_id = selection.summary.id
    if compacted:
        _name_stretch(selection, compacted, said, response)
    return response


def _summaries(selection: Selection) -> set[int]:
    return {position for position, m in enumerate(selection.messages) if m.HasField("summary")}


def _from_first_open_call(selection: Selection) -> set[int]:
    """Return the positions of the exchanges from the first on that has an open call."""
    exchanges = selection.exchanges
    first = next((number for number, exchange in enumerate(exchanges) if exchange.is_open), len(exchanges))
    return positions_of(exchanges[first:])


def _name_stretch(
    selection: Selection, compacted: list[int], said: str, response: PlanCompactionResponse
) -> None:
    former = selection.summary.summary if selection.summary is not None else None
    if former is not None and not selection.summary_is_current:
        former = None
    response.first_id = selection.messages[compacted[0]].id if former is None else former.first_id
    response.last_id = selection.messages[compacted[-1]].id
    response.text = text_to_summarize(None if former is None else former.text, said)

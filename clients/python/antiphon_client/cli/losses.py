"""What an export does not say, and what it refuses to mix."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from antiphon_client.cli.formats import IMPORTED_FROM, SOURCES, Format
from antiphon_client.cli.output import counted
from antiphon_client.openai_chat import ExportLoss, LossKind
from antiphon_client.records import BranchRecord

_DETAILS_SHOWN = 5

_WORDS = {
    LossKind.EXCLUDED_DROPPED: "records with the status EXCLUDED",
    LossKind.INTERIM_DROPPED: "interim responses",
    LossKind.GENERIC_DROPPED: "generic records",
    LossKind.THINKING_DROPPED: "reasoning",
    LossKind.SIGNATURE_DROPPED: "signatures",
    LossKind.ERROR_FLAG_DROPPED: "that a result failed",
    LossKind.PART_DROPPED: "parts",
    LossKind.CACHE_MARK_DROPPED: "cache marks",
    LossKind.MEMBER_DROPPED: "members of the imported format",
}


def loss_lines(losses: Iterable[ExportLoss]) -> Iterator[str]:
    """Yield a line for each kind of loss: of how many messages, and what it was."""
    by_kind: dict[LossKind, list[ExportLoss]] = {}
    for loss in losses:
        by_kind.setdefault(loss.kind, []).append(loss)
    for kind, found in by_kind.items():
        messages = counted(len({loss.message_id for loss in found}), "message")
        details = [detail for detail in dict.fromkeys(loss.detail for loss in found) if detail]
        more = len(details) - _DETAILS_SHOWN
        shown = ", ".join(details[:_DETAILS_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
        named = f": {shown}" if shown else ""
        yield f"left out, as OpenAI's messages do not say it: {_WORDS[kind]} ({kind}, {messages}){named}"


def refuse_another_form(record: BranchRecord, name: str) -> None:
    """Refuse a conversation's export as an object whose keys would be another provider's than its messages.

    Raises:
        ValueError: The branch was imported from another format; names what to do.
    """
    source = record.metadata.get(IMPORTED_FROM)
    if source in (None, SOURCES[Format.OPENAI]):
        return
    raise ValueError(
        f"{name} was imported from {source}: the keys beside its messages are not of OpenAI's form. "
        "Without loss: antiphon export --format antiphon. In the form it came in: "
        f"antiphon compile {name} --profile native --target {source} --request. "
        "OpenAI's messages alone: --format openai"
    )

"""A stretch: what FOLDED makes of some records that follow each other.

The unit of compilation, and of what is kept for later ones. A settled stretch
begins after an instruction that is kept, or at the first message, and ends with
one; the results before an instruction go into it and the answers after it are
made one turn, so nothing in a settled stretch depends on what stands outside of
it, but for one thing: an interim response is left out where the final one
stands elsewhere (``Findings.dropped``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from sys import getsizeof
from typing import NamedTuple

from antiphon.compiler.v1.compiler_service_pb2 import CompileRequest
from antiphon.message.v1.message_pb2 import Message
from antiphon_client.compiled_parts import compiled_part
from compiler_service.folded.findings import Findings, join_findings
from compiler_service.folded.fold import Prefix
from compiler_service.folded.merge import merge
from compiler_service.folded.project import Walk, project, project_question
from compiler_service.folded.render import Rendered, call_sections, render, render_user
from compiler_service.passes.screen import Screened, still_interrupted, without_answered_interims
from compiler_service.report import Note
from compiler_service.state import AssistantTurn, CompiledTurn, FoldedRecord, InstructionTurn, TurnRow
from compiler_service.turn_encoding import encode_notes, encode_rows

_compiled = compiled_part("compiler_service._compiled")

# Memory in bytes that values take beside the texts and ids in them.
_STRETCH_BYTES, _TURN_BYTES, _NOTE_BYTES, _ID_BYTES = 1024, 176, 160, 96


@dataclass(frozen=True, eq=False, slots=True)
class Stretch:
    """What FOLDED makes of some records; equal to itself only.

    Attributes:
        length: How many messages, those left out too.
        rows: The finished turns.
        findings: What was found beside them.
        first_instruction: Id of the instruction that it begins with; None where
            it begins otherwise.
        first_assistant: Id of the assistant's response that it begins with; likewise.
        last_instruction: Id of the instruction that it ends with; None where it
            ends with the request's own.
        encoded_turns: The turns as they stand in an encoded reply.
        encoded_notes: ``moved``, ``merged`` and ``rendered`` of the findings likewise.
        memory_bytes: Memory that it takes, estimated from above.
    """

    length: int
    rows: tuple[TurnRow, ...]
    findings: Findings
    first_instruction: str | None
    first_assistant: str | None
    last_instruction: str | None
    encoded_turns: bytes
    encoded_notes: tuple[bytes, bytes, bytes]
    memory_bytes: int

    @property
    def turns(self) -> tuple[CompiledTurn, ...]:
        """The finished turns. Cost: making them."""
        return tuple(map(CompiledTurn._make, self.rows))


class Draft(NamedTuple):
    """A stretch before it is rendered.

    Attributes:
        length: How many messages.
        turns: Its turns.
        walk: What waits for the next instruction, and the notes so far.
        merged_notes: Notes about assistant responses made one.
        findings: What was found, but for all notes.
    """

    length: int
    turns: list[InstructionTurn | AssistantTurn]
    walk: Walk
    merged_notes: list[Note]
    findings: Findings


def draft_stretch(messages: Sequence[FoldedRecord], screened: Screened, answered: Collection[str]) -> Draft:
    """Begin a stretch.

    Args:
        messages: The messages.
        screened: The same, screened.
        answered: The action requests that final responses of the whole selection
            answer; they matter only where interim responses name them.

    Cost: linear in the messages.
    """
    records, interim = without_answered_interims(screened, answered)
    walk = project(records)
    merged = merge(walk.turns)
    findings = Findings(
        excluded=tuple(screened.excluded),
        interim=tuple(interim),
        interrupted=tuple(still_interrupted(screened, interim)),
        generic=tuple(walk.generic),
        calls=tuple(walk.unanswered),
        with_blocks=tuple(walk.with_blocks),
        unknown=tuple(screened.unknown),
        unknown_blocks=tuple(walk.unknown_blocks),
        consecutive=tuple(merged.consecutive),
        summaries=tuple([_apart(message) for message in walk.summaries]),
        leading=tuple(islice((_id_of(record) for kind, record in records if kind != "system"), 1)),
        answered=tuple(walk.answered),
        finals=tuple(screened.finals),
        interims=tuple(screened.interims),
        dropped=tuple(dropped_interims(screened.interims, answered)),
    )
    return Draft(len(messages), merged.turns, walk, merged.notes, findings)


def _id_of(record: FoldedRecord) -> str:
    if isinstance(record, AssistantTurn):
        return record.message_ids[0]
    return record.id if isinstance(record, Message) else record.message_id or ""


def finish_stretch(draft: Draft, prefix: Prefix | None = None) -> Stretch:
    """Render a settled stretch, with a prefix folded into the instruction that it ends with, if there is one.

    Cost: linear in the messages; nearly all of a compilation's.
    """
    turns = draft.turns
    if prefix is not None and isinstance(turns[-1], InstructionTurn):
        turns = [*turns[:-1], prefix.fold_into(turns[-1])]
    return _finished(draft, render(turns))


def finish_tail(
    draft: Draft, prefix: Prefix | None, request: CompileRequest
) -> tuple[Stretch, InstructionTurn]:
    """Render what follows the last settled stretch, with the request's own instruction at its end.

    Args:
        draft: The stretch. What waits in it goes into the request's own instruction.
        prefix: What is folded into that; None for nothing.
        request: The request.

    Returns:
        The stretch, and the request's own instruction as it was rendered.
    """
    question = project_question(request.instruction, draft.walk)
    if prefix is not None:
        question = prefix.fold_into(question)
    rendered = render(draft.turns)
    render_user(question, call_sections(request), rendered)
    return _finished(draft, rendered), question


def _finished(draft: Draft, rendered: Rendered) -> Stretch:
    turns, moved, merged = draft.turns, draft.walk.notes, draft.merged_notes
    first, last = (turns[0], turns[-1]) if turns else (None, None)
    findings = draft.findings._replace(
        moved=tuple(moved), merged=tuple(merged), rendered=tuple(rendered.notes)
    )
    encoded_turns = encode_rows(rendered.turns)
    encoded_notes = encode_notes(moved), encode_notes(merged), encode_notes(rendered.notes)
    return Stretch(
        length=draft.length,
        rows=tuple(rendered.turns),
        findings=findings,
        first_instruction=first.message_id if isinstance(first, InstructionTurn) else None,
        first_assistant=first.message_ids[0] if isinstance(first, AssistantTurn) else None,
        last_instruction=last.message_id if isinstance(last, InstructionTurn) else None,
        encoded_turns=encoded_turns,
        encoded_notes=encoded_notes,
        memory_bytes=_STRETCH_BYTES
        + len(encoded_turns)
        + sum(map(len, encoded_notes))
        + _turns_memory(rendered.turns)
        + _findings_memory(findings),
    )


def _turns_memory(turns: Sequence[TurnRow]) -> int:
    if not turns:
        return 0
    # All of one kind at once: a step for every turn would be felt.
    _, _, images, message_ids = zip(*turns, strict=True)
    urls = [image.url for image in chain.from_iterable(images)]
    size = texts_memory(turns) + sum(map(getsizeof, urls))
    return size + _TURN_BYTES * (len(turns) + len(urls)) + _ID_BYTES * sum(map(len, message_ids))


def texts_memory(turns: Sequence[TurnRow]) -> int:
    """Return the memory in bytes of the turns' texts."""
    size: int | None = None if _compiled is None else _compiled.texts_memory(turns)
    return sum([getsizeof(text) for _, text, _, _ in turns]) if size is None else size


def _findings_memory(findings: Findings) -> int:
    notes = (*findings.moved, *findings.merged, *findings.rendered)
    return (
        sum([_NOTE_BYTES + _ID_BYTES * len(each.message_ids) for each in notes])
        + sum([2 * message.ByteSize() for message in findings.summaries])
        + 2 * _ID_BYTES * len(findings.consecutive)
        + _ID_BYTES * sum(map(len, findings))
    )


def _apart(message: Message) -> Message:
    """Copy a message, which may share one block of memory with all that were decoded with it."""
    copy = Message()
    copy.CopyFrom(message)
    return copy


def dropped_interims(interims: Iterable[str], answered: Collection[str]) -> list[str]:
    """Return the action requests whose interim responses are left out for final ones."""
    return [request_id for request_id in interims if request_id in answered]


def consecutive_instructions(stretches: Sequence[Stretch]) -> Iterator[tuple[str, str]]:
    """Yield the instructions of stretches that directly follow another, each after that other."""
    former: str | None = None
    for stretch in stretches:
        if former is not None and stretch.first_instruction is not None:
            yield former, stretch.first_instruction
        yield from stretch.findings.consecutive
        former = stretch.last_instruction


def join_stretches(stretches: Sequence[Stretch]) -> Stretch:
    """Return settled stretches that follow each other as one. Cost: copying what they hold."""
    findings = join_findings([stretch.findings for stretch in stretches])
    moved, merged, rendered = zip(*[stretch.encoded_notes for stretch in stretches], strict=True)
    return Stretch(
        length=sum([stretch.length for stretch in stretches]),
        rows=tuple(chain.from_iterable([stretch.rows for stretch in stretches])),
        findings=findings._replace(consecutive=tuple(consecutive_instructions(stretches))),
        first_instruction=stretches[0].first_instruction,
        first_assistant=stretches[0].first_assistant,
        last_instruction=stretches[-1].last_instruction,
        encoded_turns=b"".join([stretch.encoded_turns for stretch in stretches]),
        encoded_notes=(b"".join(moved), b"".join(merged), b"".join(rendered)),
        memory_bytes=sum([stretch.memory_bytes for stretch in stretches]),
    )

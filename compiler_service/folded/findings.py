"""What the passes find in a stretch beside its turns: what to report, and what rules look at.

Every finding is a tuple, in the records' order, so that those of stretches that
follow each other are joined by joining the tuples.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any, NamedTuple

from antiphon.message.v1.message_pb2 import Message
from compiler_service.report import Note


class Findings(NamedTuple):
    """The findings; ids of messages unless said otherwise.

    Attributes:
        excluded: Excluded messages.
        interim: Interim responses left out for their final ones.
        interrupted: Interrupted records that are compiled.
        generic: Generic records, left out.
        calls: Action requests without a response in their stretch.
        with_blocks: Records of which blocks are left out.
        unknown: Messages of an unknown kind or status.
        unknown_blocks: Instructions that would need blocks of an unknown kind.
        summaries: The summary records themselves.
        leading: The first record that is not the system's, of each stretch that has one.
        consecutive: Instructions that directly follow another, each after that other.
        answered: The action requests that responses name.
        finals: The action requests that final responses answer.
        interims: The action requests that interim responses name, left out or not.
        dropped: Those of them whose interim responses are left out.
        moved: Notes about action results.
        merged: Notes about assistant responses made one.
        rendered: Notes about what is not rendered.
    """

    excluded: tuple[str, ...] = ()
    interim: tuple[str, ...] = ()
    interrupted: tuple[str, ...] = ()
    generic: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    with_blocks: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    unknown_blocks: tuple[str, ...] = ()
    summaries: tuple[Message, ...] = ()
    leading: tuple[str, ...] = ()
    consecutive: tuple[tuple[str, str], ...] = ()
    answered: tuple[str, ...] = ()
    finals: tuple[str, ...] = ()
    interims: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    moved: tuple[Note, ...] = ()
    merged: tuple[Note, ...] = ()
    rendered: tuple[Note, ...] = ()


_OVERVIEW = Findings._fields.index("consecutive")
"""Findings before this one are what rules of the whole selection look at; few messages have any."""


def overview(findings: Iterable[Findings]) -> Findings:
    """Return what rules look at, of stretches that follow each other, as that of one; all else is left out.

    Cost: a few steps for each stretch.
    """
    return _joined([each[:_OVERVIEW] for each in findings])


def join_findings(findings: Iterable[Findings]) -> Findings:
    """Return the findings of stretches that follow each other as those of one."""
    return _joined(findings)


def _joined(findings: Iterable[tuple[Any, ...]]) -> Findings:
    columns: Iterable[tuple[Any, ...]] = zip(*findings, strict=True)
    return Findings(*[tuple(chain.from_iterable(column)) for column in columns])

"""Clones of a branch's messages for a fork with new ids (ADR-0006 D1).

A clone has a new id and time; ``clone_from`` in its metadata names the message
it was cloned from. Everything else of it stays byte for byte, the rest of the
metadata's text too. Action links, the ends of a summary's stretch and the view
name the clones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon.message.v1 import message_pb2 as message_pb
from history_service.domain.fork_source import PARTNER_KINDS, ForkSource, set_link
from history_service.domain.json_member import set_member
from history_service.domain.prepared import (
    ACTION_REQUEST,
    ACTION_RESPONSE,
    KIND_NUMBERS,
    NANOSECONDS,
    SUMMARY,
    Stamper,
    decode,
    encode,
    id_of,
)
from history_service.storage.port import ReadTransaction

CLONE_KEY = "clone_from"
"""The metadata key that names a clone's origin."""

_PAGE = 512
_PAGE_BYTES = 2**20


class Clone(NamedTuple):
    """One message of the fork, ready to be stored."""

    message_id: str
    kind: int
    link_id: str | None
    interim: bool
    body: bytes


@dataclass(frozen=True, slots=True)
class Clones:
    """All that a fork takes, read in one transaction: what a trim drops later is not missed.

    Attributes:
        at: The source's revision they were cloned at.
        metadata_json: The source's metadata.
        messages: In order.
        view: The selected view, in order; None without one.
    """

    at: int
    metadata_json: str
    messages: Sequence[Clone]
    view: Sequence[str] | None


def clone_messages(
    tx: ReadTransaction, tenant_id: str, request: history_pb.ForkBranchRequest, stamper: Stamper
) -> Clones:
    """Clone what a fork takes. Cost and memory: those of the messages' bytes.

    Raises:
        AntiphonError: See ``ForkSource``.
    """
    source = ForkSource(tx, tenant_id, request)
    up_to = request.up_to_message_id if source.up_to is not None else None
    cut = {member.message_id for member in source.cut_pairs(tx)}
    originals = [decode(body) for body in _bodies(tx, source, up_to)]
    kinds = {message.id: _kind(message) for message in originals}
    new_ids = dict(zip(kinds, stamper.new_message_ids(len(kinds)), strict=True))
    seconds, nanos = divmod(stamper.clock(), NANOSECONDS)
    messages = []
    for message in originals:
        if kinds[message.id] in PARTNER_KINDS:
            _relink(message, kinds, new_ids, cut)
        elif kinds[message.id] == SUMMARY:
            _rename_stretch(message.summary, new_ids)
        message.metadata_json = set_member(message.metadata_json or "{}", CLONE_KEY, message.id)
        message.id = new_ids[message.id]
        message.created_at.seconds, message.created_at.nanos = seconds, nanos
        messages.append(_clone(message))
    metadata_json = tx.metadata(source.branch.key, source.at)
    return Clones(source.at, metadata_json, messages, _view(tx, source, new_ids))


def _bodies(tx: ReadTransaction, source: ForkSource, up_to: str | None) -> Iterator[bytes]:
    """Yield the encoded messages to clone, in order."""
    after: str | None = None
    while True:
        page = tx.read_messages(
            source.branch.key, source.at, view=None, after=after, limit=_PAGE, max_bytes=_PAGE_BYTES
        )
        for body in page.bodies:
            yield body
            after = id_of(body)
            if after == up_to:
                return
        if page.complete:
            return


def _view(tx: ReadTransaction, source: ForkSource, new_ids: Mapping[str, str]) -> list[str] | None:
    key, at = source.branch.key, source.at
    view = tx.view_at(key, at)
    if view is None:
        return None
    message_ids = tx.read_ids(key, at, view=view, after=None, limit=tx.count(key, at, view))
    return [new_ids[message_id] for message_id in message_ids if message_id in new_ids]


def _kind(message: message_pb.Message) -> int:
    return KIND_NUMBERS[message.WhichOneof("content")]


def _relink(
    message: message_pb.Message, kinds: Mapping[str, int], new_ids: Mapping[str, str], cut: set[str]
) -> None:
    link_id = _link(message)
    if link_id is None:
        return
    if message.id in cut:
        set_link(message, None)
    elif kinds.get(link_id) == PARTNER_KINDS[_kind(message)]:
        set_link(message, new_ids[link_id])


def _rename_stretch(summary: message_pb.SummaryContent, new_ids: Mapping[str, str]) -> None:
    """Let a summary name the clones of its first and last message, where the fork has them."""
    summary.first_id = new_ids.get(summary.first_id, summary.first_id)
    summary.last_id = new_ids.get(summary.last_id, summary.last_id)


def _link(message: message_pb.Message) -> str | None:
    if message.HasField("action_request"):
        call = message.action_request
        return call.action_response_id if call.HasField("action_response_id") else None
    result = message.action_response
    return result.action_request_id if result.HasField("action_request_id") else None


def _clone(message: message_pb.Message) -> Clone:
    kind = _kind(message)
    link_id = _link(message) if kind in (ACTION_REQUEST, ACTION_RESPONSE) else None
    interim = kind == ACTION_RESPONSE and (
        message.action_response.state == message_pb.ACTION_RESPONSE_STATE_INTERIM
    )
    return Clone(message.id, kind, link_id, interim, encode(message))

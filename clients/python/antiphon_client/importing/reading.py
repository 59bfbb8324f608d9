"""The state of one import, and what is done alike for every format whose exporter is the compiler."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from antiphon.message.v1 import content_block_pb2 as block_pb
from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.importing.conversation import ImportedConversation, ImportNote, NoteKind
from antiphon_client.importing.entries import write_entry
from antiphon_client.importing.forms import BLOCKS, MESSAGE, PIECES, blocks_entry, join_pieces
from antiphon_client.importing.open_calls import OpenCalls
from antiphon_client.importing.record_ids import RecordIds
from antiphon_client.importing.residue import Difference, difference
from antiphon_client.importing.routes import route_from_system
from antiphon_client.json_text import JsonTextError, dump_json_text

SYSTEM_INDEX = -1
"""The index of the system record's message, which stands beside the others."""


class ReadBlock(NamedTuple):
    """A block of a foreign message as a content block.

    Attributes:
        block: The content block.
        kind: Its kind, as in `forms.block_key`; "" for one that is kept whole.
        value: What it is found by.
        difference: What the content block does not say of it.
        loss: What a model will not see of it, in words, or None.
    """

    block: block_pb.ContentBlock
    kind: str
    value: str
    difference: Difference | None
    loss: str | None


class RecordEntry(NamedTuple):
    """A record, and the importer's entry in its metadata."""

    record: pb.Message
    entry: dict[str, Any]


class ImportState:
    """What an import has read so far."""

    def __init__(self, key: str, provider: str, seed: str | None) -> None:
        """Begin an import.

        Args:
            key: The metadata key of the format.
            provider: Who issues its opaque parts.
            seed: As in `RecordIds`.
        """
        self.system: pb.Message | None = None
        self.messages: list[pb.Message] = []
        self.notes: list[ImportNote] = []
        self.ids = RecordIds(None if seed is None else f"{key}:{seed}")
        self.open_calls = OpenCalls()
        self._key = key
        self._provider = provider

    def conversation(self) -> ImportedConversation:
        """Return what was read."""
        return ImportedConversation(self.system, tuple(self.messages), tuple(self.notes))

    def note(self, kind: NoteKind, path: str, detail: str) -> None:
        """Remark on something."""
        self.notes.append(ImportNote(kind, path, detail))

    def set_system(
        self, texts: list[tuple[str, Difference | None]], entry: dict[str, Any], path: str
    ) -> None:
        """Make the system record of the texts of a list, each with its block's difference."""
        record = self.ids.record(SYSTEM_INDEX)
        route_from_system(record)
        record.system.system_message = join_pieces(text for text, _ in texts)
        if len(texts) != 1 or texts[0][1]:
            entry = {**entry, PIECES: [[len(text), change] for text, change in texts]}
        self._write(record, entry, path)
        self.system = record

    def add_message(
        self,
        records: list[RecordEntry],
        beside: dict[str, Any],
        written: dict[str, Any],
        path: str,
    ) -> None:
        """Add the records of a message.

        Args:
            records: The records, in order; never empty.
            beside: The message's members beside its content.
            written: The same as a projection writes them.
            path: Where the message stands.

        Raises:
            ValueError: The message holds what JSON text cannot.
        """
        change = difference(written, beside)
        for number, (record, entry) in enumerate(records):
            own = {MESSAGE: change} if change and not number else {}
            self._write(record, {**entry, **own}, path)
            self.messages.append(record)

    def blocks(self, read: Iterable[ReadBlock]) -> dict[str, Any]:
        """Return the part of an entry that is about blocks."""
        found = list(read)
        entry = blocks_entry((each.kind, each.value, each.difference) for each in found if each.kind)
        return {BLOCKS: entry} if entry else {}

    def kept_whole(self, kind: str, value: Any, loss: str) -> ReadBlock:
        """Return a block that is kept as its issuer wrote it, for the issuer alone."""
        opaque = block_pb.Opaque(provider=self._provider, kind=kind, data_json=dump_json_text(value))
        return ReadBlock(block_pb.ContentBlock(opaque=opaque), "", "", None, loss)

    def _write(self, record: pb.Message, entry: dict[str, Any], path: str) -> None:
        try:
            write_entry(record, self._key, entry)
        except JsonTextError as error:
            raise ValueError(f"{path}: {error}") from error


def cache_control_of(mark: Any) -> block_pb.CacheControl | None:
    """Return a cache mark that a text block can hold, None for any other value."""
    if not isinstance(mark, dict) or not mark.keys() <= {"type", "ttl"}:
        return None
    kind, ttl = mark.get("type"), mark.get("ttl")
    if (
        not isinstance(kind, str)
        or not kind
        or not isinstance(ttl, str | None)
        or (ttl is None and "ttl" in mark)
    ):
        return None
    return block_pb.CacheControl(type=kind, ttl=ttl)


def cache_control_value(mark: block_pb.CacheControl) -> dict[str, str]:
    """Return a cache mark as providers write it."""
    return {"type": mark.type, **({"ttl": mark.ttl} if mark.HasField("ttl") else {})}

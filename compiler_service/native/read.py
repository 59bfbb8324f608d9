"""Records become entries: users' records finished turns, models' records as they are.

Generic records are no turns. A user's record that says nothing goes first of
all, so that what stood around it is seen as neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from compiler_service.native.instruction import instruction_turn
from compiler_service.native.items import Entry
from compiler_service.native.unknown_blocks import listing_unknown_blocks
from compiler_service.remarks import Remarks
from compiler_service.state import CompileState, Record


def read(state: CompileState) -> CompileState:
    """Turn the records into entries.

    Raises:
        UnsupportedContentError: An instruction has a block of a kind this
            compiler does not know; all messages with one are listed.
    """
    remarks = Remarks()
    with listing_unknown_blocks(state.records):
        entries = _entries_of(state.records, remarks)
    return state.having(entries=tuple(entries), notes=remarks.notes())


def _entries_of(records: Iterable[Record], remarks: Remarks) -> list[Entry]:
    entries: list[Entry] = []
    for kind, message in records:
        if kind == "instruction":
            turn = instruction_turn(message, message.id, remarks)
            if turn is None:
                remarks.add(notes_pb.COMPILE_NOTE_KIND_EMPTY_DROPPED, message.id)
            else:
                entries.append((kind, message, turn))
        elif kind == "generic":
            remarks.add(notes_pb.COMPILE_NOTE_KIND_GENERIC_DROPPED, message.id)
        elif kind != "system":
            entries.append((kind, message, None))
    return entries

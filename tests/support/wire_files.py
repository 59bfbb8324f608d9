"""Recorded bytes of the contract's messages, as files that any language reads.

``tests/contract/wire/VERSION/`` has what a release of the contract put on the wire:

- ``messages.jsonl``: samples of every message type, made from the release's protos;
- ``stored.jsonl``: messages of every content kind, as the history service serves them;
- ``snapshot.jsonl``: the frames of one whole ReadSnapshot stream of the same messages;
- ``compiled.jsonl``: answers of Compile, with their digests;
- ``compile_stream.jsonl``: the frames of one whole StreamCompile stream;
- ``branch.jsonl``: the same messages' branch as a branch file (``docs/branch-file.md``).

All but the last have a JSON object a line: ``type``, the message's full name; ``name``, the
sample's; ``hex``, its encoded bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from google.protobuf.message import Message as ProtoMessage

FOLDER = Path(__file__).resolve().parents[1] / "contract" / "wire"
MESSAGES = "messages.jsonl"
STORED = "stored.jsonl"
SNAPSHOT = "snapshot.jsonl"
COMPILED = "compiled.jsonl"
COMPILE_STREAM = "compile_stream.jsonl"
BRANCH_FILE = "branch.jsonl"
RECORDINGS = (MESSAGES, STORED, SNAPSHOT, COMPILED, COMPILE_STREAM)
"""The files that have a recorded message a line."""


class Recorded(NamedTuple):
    """One recorded message.

    Attributes:
        type: Full name of its type.
        name: What is in it, in a word or two; the type and the name together occur once in a file.
        data: Its encoded bytes.
    """

    type: str
    name: str
    data: bytes


def recorded(name: str, message: ProtoMessage) -> Recorded:
    """Record a message."""
    return Recorded(message.DESCRIPTOR.full_name, name, message.SerializeToString(deterministic=True))


def write_lines(path: Path, records: Iterable[Recorded]) -> None:
    """Write recorded messages."""
    lines = [json.dumps({"type": type_, "name": name, "hex": data.hex()}) for type_, name, data in records]
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8", newline="\n")


def read_lines(path: Path) -> list[Recorded]:
    """Read recorded messages."""
    values = map(json.loads, path.read_text("utf-8").splitlines())
    return [Recorded(value["type"], value["name"], bytes.fromhex(value["hex"])) for value in values]

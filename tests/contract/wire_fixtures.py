"""Records what a release of the contract puts on the wire, for ever.

    python -m tests.contract.wire_fixtures record VERSION

writes the image of the protos as they stand, ``protos/releases/VERSION.binpb``, and recorded bytes
of every kind of message, ``tests/contract/wire/VERSION/`` (``tests/support/wire_files.py`` says
what is in it). It refuses a version that is recorded already or not newer than the last one, and
stubs that are not what the protos give. All or nothing. `make proto-freeze VERSION=` runs it.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import os
import sys
import tempfile
from pathlib import Path

from google.protobuf import descriptor_pool
from google.protobuf.descriptor import Descriptor

from scripts import protos
from tests.support import wire_files
from tests.support.wire_files import recorded, write_lines
from tests.support.wire_recordings import compile_stream, compiled, served
from tests.support.wire_samples import message_types, samples


def declared_types() -> list[Descriptor]:
    """Return every message type that today's stubs declare."""
    files = protos.proto_files()
    for name in files:
        importlib.import_module(name.removesuffix(".proto").replace("/", ".") + "_pb2")
    return list(message_types(descriptor_pool.Default(), files))


def write_recordings(folder: Path) -> None:
    """Write the recordings of the contract as it stands into an empty folder."""
    made = [recorded(name, sample) for type_ in declared_types() for name, sample in samples(type_)]
    write_lines(folder / wire_files.MESSAGES, made)
    with tempfile.TemporaryDirectory() as store:
        history = asyncio.run(served(Path(store)))
    write_lines(folder / wire_files.STORED, history.stored)
    write_lines(folder / wire_files.SNAPSHOT, history.snapshot)
    (folder / wire_files.BRANCH_FILE).write_bytes(history.file)
    write_lines(folder / wire_files.COMPILED, compiled())
    write_lines(folder / wire_files.COMPILE_STREAM, compile_stream())


def refusal(version: str) -> str | None:
    """Return why a version cannot be recorded; None where it can."""
    try:
        numbers = protos.numbers_of(version)
    except ValueError as error:
        return str(error)
    released = protos.releases()
    if version in released or (wire_files.FOLDER / version).exists():
        return f"{version} is recorded already, and recordings are kept as they are"
    if released and numbers < protos.numbers_of(released[-1]):
        return f"{version} is older than {released[-1]}, which is recorded already"
    if protos.check() != 0:
        return "the stubs are not what the protos give"
    return None


def record(version: str) -> int:
    """Record a version; return the exit status."""
    reason = refusal(version)
    if reason is not None:
        print(f"nothing was recorded: {reason}", file=sys.stderr)
        return 1
    image, folder = protos.image_of(version), wire_files.FOLDER / version
    for parent in (image.parent, folder.parent):
        parent.mkdir(parents=True, exist_ok=True)
    # Made beside their places, so that each comes to its own in one step.
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".") as temporary:
        fresh = Path(temporary) / "recordings"
        fresh.mkdir()
        write_recordings(fresh)
        fresh_image = Path(temporary) / image.name
        protos.write_image(fresh_image)
        fresh.rename(folder)
        os.replace(fresh_image, image)
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(f"recorded {version}: {image.name}, and {size // 1024} KiB in {folder.name}/")
    return 0


def main() -> int:
    """Run the command named on the command line; the result is the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="record")
    recording = commands.add_parser("record", help="record a version")
    recording.add_argument("version", help="three numbers with dots between them")
    return record(parser.parse_args().version)


if __name__ == "__main__":
    sys.exit(main())

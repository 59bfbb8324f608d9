"""Generates and checks what is derived from the protos, and holds them to the last release.

    python scripts/protos.py generate   write the Python stubs into clients/python/antiphon
    python scripts/protos.py check      fail if the committed stubs are not what the protos give
    python scripts/protos.py breaking   fail if the protos break what the last release promised

A release of the contract is an image of its protos, ``protos/releases/VERSION.binpb``; the last
one is that of the greatest version. `make proto-freeze` makes one.

Needs the `dev` extra, whose generators are pinned so that output is the same everywhere.
"""

from __future__ import annotations

import argparse
import difflib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROTOS = ROOT / "protos"
STUBS = ROOT / "clients" / "python"
PACKAGE = "antiphon"
RELEASES = "releases"
VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
GENERATED = ("*_pb2.py", "*_pb2.pyi", "*_pb2_grpc.py", "*_pb2_grpc.pyi")
DIFF_LINES = 40


def proto_files() -> list[str]:
    """Paths of all protos, relative to their root, sorted."""
    return sorted(path.relative_to(PROTOS).as_posix() for path in (PROTOS / PACKAGE).rglob("*.proto"))


def tool(name: str) -> str:
    """Path of a tool of the environment this script runs in."""
    return str(Path(sys.executable).with_name(name))


def generate_into(target: Path) -> None:
    """Writes all stubs below ``target``; service stubs only for protos that declare a service.

    Raises:
        subprocess.CalledProcessError: protoc refused the protos; it has said why.
    """
    files = proto_files()
    services = [name for name in files if name.endswith("_service.proto")]
    protoc = [
        sys.executable,
        "-m",
        "grpc_tools.protoc",
        f"-I{PROTOS}",
        f"--plugin=protoc-gen-mypy={tool('protoc-gen-mypy')}",
        f"--plugin=protoc-gen-mypy_grpc={tool('protoc-gen-mypy_grpc')}",
    ]
    messages = [*protoc, f"--python_out={target}", f"--mypy_out=quiet:{target}", *files]
    calls = [*protoc, f"--grpc_python_out={target}", f"--mypy_grpc_out=quiet:{target}", *services]
    for command in (messages, calls):
        subprocess.run(command, check=True)  # nosec B603: the repository's own files, and no shell


def stubs_below(root: Path) -> dict[str, str]:
    """Text of every generated file below ``root``, by its path relative to it."""
    found = (path for pattern in GENERATED for path in (root / PACKAGE).rglob(pattern))
    return {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in found}


def generate() -> int:
    """Replaces the committed stubs."""
    with tempfile.TemporaryDirectory() as temporary:
        generate_into(Path(temporary))
        fresh = stubs_below(Path(temporary))
    for stale in stubs_below(STUBS).keys() - fresh.keys():
        (STUBS / stale).unlink()
    for name, text in fresh.items():
        path = STUBS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    print(f"wrote {len(fresh)} files below {STUBS.relative_to(ROOT)}/{PACKAGE}")
    return 0


def check() -> int:
    """Compares the committed stubs with fresh ones; says what differs."""
    with tempfile.TemporaryDirectory() as temporary:
        generate_into(Path(temporary))
        fresh = stubs_below(Path(temporary))
    committed = stubs_below(STUBS)
    drifted = sorted(
        name for name in fresh.keys() | committed.keys() if fresh.get(name) != committed.get(name)
    )
    if not drifted:
        print(f"proto-check: the {len(fresh)} generated files are what the protos give")
        return 0
    print("proto-check: generated files differ from what the protos give; run `make proto` and commit:")
    for name in drifted:
        was, now = committed.get(name), fresh.get(name)
        print(f"  {name}: {'missing' if was is None else 'left over' if now is None else 'differs'}")
        if was is not None and now is not None:
            lines = difflib.unified_diff(
                was.splitlines(), now.splitlines(), "committed", "protos", lineterm="", n=1
            )
            print("\n".join(f"    {line}" for line in list(lines)[:DIFF_LINES]))
    return 1


def releases() -> list[str]:
    """Versions of the contract that were released, oldest first."""
    found = [path.name.removesuffix(".binpb") for path in (PROTOS / RELEASES).glob("*.binpb")]
    return sorted(found, key=numbers_of)


def numbers_of(version: str) -> tuple[int, ...]:
    """The three numbers of a version.

    Raises:
        ValueError: The text is no version.
    """
    if VERSION.fullmatch(version) is None:
        raise ValueError(f"{version!r} is no version: three numbers with dots between them")
    return tuple(map(int, version.split(".")))


def image_of(version: str) -> Path:
    """Path of a release's image: a FileDescriptorSet without comments."""
    return PROTOS / RELEASES / f"{version}.binpb"


def write_image(path: Path) -> None:
    """Writes the protos as they stand as an image.

    Raises:
        subprocess.CalledProcessError: buf refused the protos; it has said why.
    """
    command = [tool("buf"), "build", str(PROTOS), "--exclude-source-info", "-o", str(path)]
    subprocess.run(command, check=True)  # nosec B603: the repository's own files, and no shell


def breaking() -> int:
    """Compares the protos with the last release's; buf says what would break its users."""
    released = releases()
    if not released:
        print(f"no release is in {PROTOS / RELEASES}: there is nothing to hold the protos to")
        return 1
    against = ["--against", str(image_of(released[-1]))]
    command = [tool("buf"), "breaking", str(PROTOS), *against]
    return subprocess.run(command).returncode  # nosec B603: as above


def main() -> int:
    """Runs the command named on the command line; the result is the exit status."""
    commands = {"generate": generate, "check": check, "breaking": breaking}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=commands)
    return commands[parser.parse_args().command]()


if __name__ == "__main__":
    sys.exit(main())

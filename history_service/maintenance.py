"""``python -m history_service.maintenance``: work on a store beside the service, or without it.

The commands ``antiphon backup``, ``restore`` and ``doctor`` run it.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from antiphon_client.cli.output import byte_progress, complain, say, say_json
from antiphon_client.findings import exit_code
from history_service.backup import BackupError
from history_service.backup.checking import verify_backup
from history_service.backup.making import make_backup
from history_service.backup.manifest import Manifest
from history_service.backup.restoring import restore_backup
from history_service.diagnosis import diagnose
from history_service.settings import default_store
from history_service.storage import MEMORY_URL, SQLITE_SCHEME


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    given = _parser().parse_args(arguments)
    try:
        code: int = given.run(given)
    except BackupError as error:
        complain(str(error))
        return 1
    except KeyboardInterrupt:
        return 130
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="history_service.maintenance", description=__doc__, allow_abbrev=False
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    backup = commands.add_parser("backup", help="back a store up, while its service runs or not")
    backup.add_argument("target", type=Path)
    _add_store(backup)
    backup.set_defaults(run=_backup)
    verify = commands.add_parser("verify", help="check a backup")
    verify.add_argument("backup", type=Path)
    verify.set_defaults(run=_verify)
    restore = commands.add_parser("restore", help="make a store of a backup")
    restore.add_argument("backup", type=Path)
    _add_store(restore)
    restore.set_defaults(run=_restore)
    diagnosis = commands.add_parser("diagnose", help="print findings about a store as JSON")
    _add_store(diagnosis)
    diagnosis.set_defaults(run=_diagnose)
    return parser


def _add_store(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--store",
        type=_store_url,
        default=_store_url(os.environ.get("ANTIPHON_HISTORY_STORE") or default_store()),
        metavar="URL",
        help="sqlite:PATH, or PATH; by default the service's store",
    )


def _store_url(text: str) -> str:
    """Take a path alone, too, for a SQLite store."""
    return text if text == MEMORY_URL or ":" in text.partition("/")[0] else f"{SQLITE_SCHEME}{text}"


def _database(store: str) -> Path:
    """Return the file of a store.

    Raises:
        BackupError: The store is no file.
    """
    if not store.startswith(SQLITE_SCHEME):
        raise BackupError(f"{store.partition(':')[0]} is no file; a database server has backups of its own")
    return Path(store.removeprefix(SQLITE_SCHEME)).absolute()


def _backup(given: argparse.Namespace) -> int:
    source = _database(given.store)
    target: Path = given.target.absolute()
    with byte_progress("copying", source.stat().st_size if source.exists() else None) as moved:
        manifest = make_backup(str(source), target, moved)
    say(f"backed up {source} as {given.target}: {_contents(manifest)}")
    return 0


def _verify(given: argparse.Namespace) -> int:
    manifest = verify_backup(given.backup)
    say(f"{given.backup} is whole: {_contents(manifest)}, made {manifest.created_at}")
    return 0


def _restore(given: argparse.Namespace) -> int:
    store = _database(given.store)
    manifest = restore_backup(given.backup, store)
    say(f"restored {given.backup} as {store}: {_contents(manifest)}, as of {manifest.created_at}")
    return 0


def _diagnose(given: argparse.Namespace) -> int:
    findings = diagnose(given.store)
    say_json([finding._asdict() for finding in findings])
    return exit_code(findings)


def _contents(manifest: Manifest) -> str:
    facts = manifest.facts
    return (
        f"{manifest.bytes:,} bytes, branches {facts.branches:,}, messages {facts.messages:,},"
        f" revisions {facts.revisions:,}"
    )


if __name__ == "__main__":
    sys.exit(main())

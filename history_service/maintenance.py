"""``python -m history_service.maintenance``: work on a store beside the service, or without it.

The commands ``antiphon backup``, ``restore``, ``store`` and ``doctor`` run it.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from antiphon_client.cli.output import byte_progress, complain, say, say_json
from antiphon_client.findings import exit_code
from history_service.backup import BackupError
from history_service.backup.checking import verify_backup
from history_service.backup.making import make_backup
from history_service.backup.manifest import Manifest
from history_service.backup.restoring import restore_backup
from history_service.copying import CopyError
from history_service.diagnosis import diagnose
from history_service.settings import default_store
from history_service.storage import MEMORY_URL, POSTGRES_SCHEMES, SQLITE_SCHEME, load_ring

if TYPE_CHECKING:
    # Needs a package that only encrypted stores need.
    from history_service.storage.envelope import KeyRing


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    given = _parser().parse_args(arguments)
    try:
        code: int = given.run(given)
    except (BackupError, CopyError) as error:
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
    _add_keys(verify)
    verify.set_defaults(run=_verify)
    restore = commands.add_parser("restore", help="make a store of a backup")
    restore.add_argument("backup", type=Path)
    _add_store(restore)
    _add_keys(restore)
    restore.set_defaults(run=_restore)
    copy = commands.add_parser("copy", help="copy a SQLite store into a PostgreSQL database")
    copy.add_argument("source", type=_store_url)
    copy.add_argument("destination", type=_store_url)
    copy.add_argument("--final", action="store_true")
    copy.set_defaults(run=_copy)
    diagnosis = commands.add_parser("diagnose", help="print findings about a store as JSON")
    _add_store(diagnosis)
    _add_keys(diagnosis)
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


def _add_keys(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--encryption-keys",
        default=os.environ.get("ANTIPHON_HISTORY_ENCRYPTION_KEYS") or None,
        metavar="FILE",
        help="the master keys of an encrypted store; by default the service's",
    )


def _ring(given: argparse.Namespace) -> KeyRing | None:
    """Read the key file that is given.

    Raises:
        BackupError: It is wrong.
    """
    try:
        return None if given.encryption_keys is None else load_ring(given.encryption_keys)
    except ValueError as error:
        raise BackupError(str(error)) from None


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
    ring = _ring(given)
    manifest = verify_backup(given.backup, ring)
    say(f"{given.backup} is whole: {_contents(manifest)}, made {manifest.created_at}")
    if manifest.facts.encrypted_with and ring is None:
        say("what is encrypted was not opened: name the file of its keys for that (--encryption-keys)")
    return 0


def _restore(given: argparse.Namespace) -> int:
    store = _database(given.store)
    manifest = restore_backup(given.backup, store, _ring(given))
    say(f"restored {given.backup} as {store}: {_contents(manifest)}, as of {manifest.created_at}")
    return 0


def _copy(given: argparse.Namespace) -> int:
    if not given.destination.startswith(POSTGRES_SCHEMES) or not given.source.startswith(SQLITE_SCHEME):
        raise CopyError(
            "a copy goes from sqlite:PATH into postgresql://... alone (SQLite into SQLite: antiphon backup"
            " and restore; PostgreSQL into PostgreSQL: pg_dump; PostgreSQL into SQLite: there is no way)"
        )
    try:
        from history_service.copying.command import run_copy
    except ImportError as error:
        raise CopyError("a copy into PostgreSQL needs the extra: pip install 'antiphon[postgres]'") from error
    run_copy(_database(given.source), given.destination, last=given.final)
    return 0


def _diagnose(given: argparse.Namespace) -> int:
    findings = diagnose(given.store, given.encryption_keys)
    say_json([finding._asdict() for finding in findings])
    return exit_code(findings)


def _contents(manifest: Manifest) -> str:
    facts = manifest.facts
    encrypted = f", encrypted with the master key {facts.encrypted_with}" if facts.encrypted_with else ""
    return (
        f"{manifest.bytes:,} bytes, branches {facts.branches:,}, messages {facts.messages:,},"
        f" revisions {facts.revisions:,}{encrypted}"
    )


if __name__ == "__main__":
    sys.exit(main())

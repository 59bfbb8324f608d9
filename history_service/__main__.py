"""``python -m history_service``: runs the history service."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from antiphon_client.edge.addresses import default_address, make_private_directory, runtime_directory
from antiphon_client.edge.lifecycle import ServiceServer
from antiphon_client.edge.options import OptionParser
from antiphon_client.edge.process import run
from history_service.server import SERVICE, build_server
from history_service.settings import LIMITS, HistorySettings, default_store
from history_service.storage import SQLITE_SCHEME, load_ring, masked_url, open_store

PROG = "history_service"

_EXAMPLES = """examples:
  python -m history_service
  python -m history_service --listen unix:/tmp/history.sock --store sqlite:history.sqlite3
  python -m history_service --listen 127.0.0.1:7411 --store memory: --log-level debug
  python -m history_service --encryption-keys /etc/antiphon/history.keys
  python -m history_service --limit request_bytes=1000000 --limit message_bytes=500000 --print-config

Each flag has an environment variable: ANTIPHON_HISTORY_LISTEN, ANTIPHON_HISTORY_STORE,
ANTIPHON_HISTORY_LIMITS__MESSAGE_BYTES and so on; flags win.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the service until it is told to stop, and return the exit code."""
    parser = OptionParser(
        prog=PROG, description="Antiphon's history service.", epilog=_EXAMPLES, limits=LIMITS
    )
    add = parser.add_argument
    add("--store", metavar="URL", help="sqlite:PATH, postgresql://... or memory: (lost with the process)")
    add("--watch-heartbeat-seconds", metavar="S", help="a quiet watch says that it lives every so often (15)")
    add("--deleted-retention-seconds", metavar="S", help="keep a deleted branch's bytes so long (30 days)")
    add("--kept-revisions", metavar="N", help="drop revisions before a branch's newest N; 0 keeps all (0)")
    add("--snapshot-cache-bytes", metavar="N", help="keep so many bytes of encoded snapshots (64 MiB)")
    add("--encryption-keys", metavar="FILE", help="encrypt what is stored with the master keys of this file")
    add("--watch-poll-seconds", metavar="S", help="how late a watch sees other processes' writes (0.25; 5)")
    add("--store-min-connections", metavar="N", help="PostgreSQL: reading connections kept open (1)")
    add("--store-max-connections", metavar="N", help="PostgreSQL: reading connections at most (8)")
    add("--store-connect-seconds", metavar="S", help="PostgreSQL: time to connect (5)")
    add("--store-statement-seconds", metavar="S", help="PostgreSQL: time of one statement (30)")
    add("--store-idle-seconds", metavar="S", help="PostgreSQL: close a spare connection after (300)")
    add("--store-conflict-seconds", metavar="S", help="PostgreSQL: retry a conflicting write so long (10)")
    add("--commit-budget-seconds", metavar="S", help="refuse a write whose deadline is nearer (0.01)")
    settings = parser.settings(HistorySettings, arguments)
    return run(
        PROG,
        SERVICE.full_name,
        settings.log_level,
        settings.tracing,
        lambda: _build(settings),
        facts={"store": masked_url(settings.store)},
    )


def _build(settings: HistorySettings) -> ServiceServer:
    """Make the server, and the folders of what stands at its default place."""
    if settings.listen == default_address("history", os.environ):
        make_private_directory(runtime_directory(os.environ))
    if settings.store == default_store():
        Path(settings.store.removeprefix(SQLITE_SCHEME)).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    ring = None if settings.encryption_keys is None else load_ring(settings.encryption_keys)
    return build_server(settings, open_store(settings.store, settings.postgres_limits, ring))


if __name__ == "__main__":
    sys.exit(main())

"""Three PostgreSQL servers of the tests' own, a primary and two standbys, and what is done to them.

The servers read ``examples/deploy/postgresql-ha.conf``, and what is asked of
them is what ``docs/high-availability.md`` tells an operator to ask.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg.conninfo import make_conninfo

from tests.support.postgres import DURABLE, ROLE, Server

CONFIGURATION = Path(__file__).resolve().parents[2] / "examples" / "deploy" / "postgresql-ha.conf"
NAMES = ("node1", "node2", "node3")
PATIENCE_SECONDS = 60.0
_PAUSE_SECONDS = 0.02
_MACHINE_STAYS_UP = "--no-sync"

REPLICATOR = "replicator"
REPLICATION_ROLE = (
    "SET synchronous_commit = local",
    f"CREATE ROLE {REPLICATOR} LOGIN REPLICATION",
    "GRANT EXECUTE ON FUNCTION pg_ls_dir(text, boolean, boolean), pg_stat_file(text, boolean),"
    " pg_read_binary_file(text), pg_read_binary_file(text, bigint, bigint, boolean)"
    f" TO {REPLICATOR}",
)
"""As whom the nodes connect to each other; there is no standby yet that could confirm it."""
FURTHEST = "SELECT greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) - '0/0'::pg_lsn"
"""How much of the log a standby has."""
PROMOTE = "SELECT pg_promote()"
FOLLOW = "ALTER SYSTEM SET primary_conninfo = '{}'"
RELOAD = "SELECT pg_reload_conf()"
FOLLOWING = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'quorum'"
STREAMING = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"
"""As ``FOLLOWING``, whatever the primary waits for."""


class Node(Server):
    """One of the three.

    Attributes:
        name: By which it is known to the others.
    """

    def __init__(self, binaries: Path, name: str, configuration: Path) -> None:
        """Name it; it has no files yet.

        Args:
            binaries: The folder of the programs.
            name: Its name.
            configuration: A file of settings, which all nodes share.
        """
        self.name = name
        self._configuration = configuration
        super().__init__(binaries, (*DURABLE, f"cluster_name={name}", "shared_buffers=16MB"))

    def _make_data(self) -> None:
        """Make nothing: the files are a new cluster's, or another node's."""

    def found(self) -> None:
        """Make the files of a new cluster."""
        super()._make_data()
        with (self.folder / "data" / "postgresql.conf").open("a") as settings:
            settings.write(f"\ninclude = '{self._configuration}'\n")

    def clone(self, primary: Node) -> None:
        """Copy a running primary, to follow it."""
        shutil.rmtree(self._data, ignore_errors=True)
        source = ("-d", primary.conninfo, "--checkpoint=fast")
        self._call("pg_basebackup", "-D", self._data, *source, "-R", _MACHINE_STAYS_UP)

    def rewind(self, primary: Node) -> None:
        """Go back to where a running primary left this node's history, to follow it."""
        # Until then the new primary's files may say that it is on its former timeline.
        primary.query("CHECKPOINT")
        source = f"--source-server={primary.conninfo} dbname=postgres"
        self._call("pg_rewind", "-D", self._data, source, "-R", _MACHINE_STAYS_UP)

    @property
    def conninfo(self) -> str:
        """How other nodes connect to it."""
        return make_conninfo(host=str(self.folder), user=REPLICATOR)

    def query(self, *statements: str) -> Any:
        """Run statements; return the first column of the first row of the last, if it has any."""
        with psycopg.connect(
            host=str(self.folder), user=ROLE, dbname="postgres", autocommit=True
        ) as connection:
            for statement in statements:
                cursor = connection.execute(statement.encode())
            row = cursor.fetchone() if cursor.description else None
            return None if row is None else row[0]

    def log_position(self) -> int:
        """Return how much of the log it has as a standby."""
        return int(self.query(FURTHEST))

    def follow(self, primary: Node | None) -> None:
        """Stream from a primary from now on, or from none."""
        self.query(FOLLOW.format("" if primary is None else primary.conninfo), RELOAD)
        if primary is None:
            until(lambda: self.query("SELECT count(*) FROM pg_stat_wal_receiver") == 0)


class Cluster:
    """The three.

    Attributes:
        nodes: All of them, the first primary first.
        primary: The one that takes writes.
    """

    def __init__(self, binaries: Path, *, waits: bool = True) -> None:
        """Make the nodes; none runs yet.

        Args:
            binaries: The folder of the programs.
            waits: Whether commits wait for a standby; if not, the nodes are set up wrongly.
        """
        self._folder = Path(tempfile.mkdtemp(prefix="pgha", dir="/tmp"))
        self._folder.chmod(0o755)
        self._waits = waits
        configuration = self._folder / CONFIGURATION.name
        text = CONFIGURATION.read_text("utf-8")
        configuration.write_text(text if waits else f"{text}\nsynchronous_standby_names = ''\n")
        self.nodes = [Node(binaries, name, configuration) for name in NAMES]
        self.primary = self.nodes[0]

    def start(self) -> None:
        """Start a primary, and two standbys that follow it."""
        self.primary.found()
        self.primary.start()
        self.primary.query(*REPLICATION_ROLE)
        for node in self.standbys:
            node.clone(self.primary)
            node.start()
        self.until_followed()

    @property
    def standbys(self) -> list[Node]:
        """The nodes that are not the primary."""
        return [node for node in self.nodes if node is not self.primary]

    def url(self, first: int = 0) -> str:
        """Return the URL of the primary, whichever it is; it is looked for from one node on."""
        nodes = [*self.nodes[first:], *self.nodes[:first]]
        hosts = quote(",".join(str(node.folder) for node in nodes), safe="")
        return f"postgresql://{ROLE}@/postgres?host={hosts}&target_session_attrs=read-write"

    def until_followed(self) -> None:
        """Wait until both standbys stream from the primary."""
        statement = FOLLOWING if self._waits else STREAMING
        until(lambda: self.primary.query(statement) == len(self.standbys))

    def promote(self, node: Node) -> None:
        """Make a standby the primary; the former one is down, and stays as it is."""
        node.query(PROMOTE)
        self.primary = node

    def rejoin(self, node: Node, *, rewind: bool) -> None:
        """Make a former primary, which is down, a standby."""
        if rewind:
            node.rewind(self.primary)
        else:
            node.clone(self.primary)
        node.start()

    def remove(self) -> None:
        """Stop the nodes and delete them."""
        for node in self.nodes:
            node.remove()
        shutil.rmtree(self._folder, ignore_errors=True)


def until(holds: Any) -> None:
    """Wait until a condition holds.

    Raises:
        TimeoutError: It does not.
    """
    end = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError("the nodes did not get that far")
        time.sleep(_PAUSE_SECONDS)

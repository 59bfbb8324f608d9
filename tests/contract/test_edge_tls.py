"""TLS and mTLS between real servers and clients on loopback, and what refuses to start without it."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc.aio
import pytest
from pydantic import ValidationError

from antiphon_client import AsyncCompilerClient, AsyncHistoryClient, ChannelTls, HistoryClient, Instruction
from antiphon_client.edge.addresses import AddressError
from antiphon_client.edge.settings import EdgeSettings
from antiphon_client.edge.tls import ServerTls, TlsFiles
from antiphon_client.errors import CredentialsMissingError, HistoryUnavailableError
from antiphon_client.files import UnusableFileError
from antiphon_client.transport_errors import ServiceUnreachableError, TransportError
from antiphon_client.turn import TurnRequest
from compiler_service.server import build_server as build_compiler
from compiler_service.server import open_history_channel
from compiler_service.settings import CompilerSettings
from history_service.server import build_server
from history_service.settings import HistorySettings
from history_service.storage import open_store
from tests.support.certificates import Authority, Pair
from tests.support.tokens import TokensFile

pytestmark = pytest.mark.anyio

PATIENT = {"grpc.enable_retries": 0}
"""Channel options of a call that will fail: it need not be tried again."""


@asynccontextmanager
async def history_over_tls(pair: Pair, **settings: Any) -> AsyncIterator[str]:
    """Serve a history over TLS and yield its address."""
    made = HistorySettings(
        listen="127.0.0.1:0", store="memory:", tls_cert=pair.certificate, tls_key=pair.key, **settings
    )
    server = build_server(made, open_store("memory:"))
    address = await server.start()
    try:
        yield address
    finally:
        await server.stop(0)


async def lists(address: str, tls: ChannelTls | None, token: str | None = None) -> bool:
    """Tell whether a client gets through; raises what its call raises."""
    async with AsyncHistoryClient(
        address, timeout=10, tls=tls, token=token, channel_options=PATIENT
    ) as client:
        return not (await client.list_branches()).items


async def refused(address: str, tls: ChannelTls | None) -> bool:
    """Tell whether a client does not even get a connection."""
    with pytest.raises(ServiceUnreachableError):
        await lists(address, tls)
    return True


async def test_a_client_that_trusts_the_root_gets_through_and_others_do_not(tmp_path: Path) -> None:
    authority, stranger = Authority(tmp_path), Authority(tmp_path, "stranger")
    async with history_over_tls(authority.sign("server")) as address:
        assert await lists(address, ChannelTls(authority.root))
        assert await refused(address, ChannelTls(stranger.root))
        assert await refused(address, None)


async def test_with_client_ca_only_its_own_clients_get_through(tmp_path: Path) -> None:
    authority, clients, stranger = (Authority(tmp_path, name) for name in ("servers", "clients", "stranger"))
    own, foreign = clients.sign("own"), stranger.sign("foreign")
    async with history_over_tls(authority.sign("server"), tls_client_ca=clients.root) as address:
        assert await lists(address, ChannelTls(authority.root, own.certificate, own.key))
        assert await refused(address, ChannelTls(authority.root))
        assert await refused(address, ChannelTls(authority.root, foreign.certificate, foreign.key))


async def test_replaced_certificates_hold_from_the_next_connection_on(tmp_path: Path) -> None:
    old, new = Authority(tmp_path, "old"), Authority(tmp_path, "new")
    async with (
        history_over_tls(old.sign("server")) as address,
        AsyncHistoryClient(address, timeout=10, tls=ChannelTls(old.root)) as standing,
    ):
        assert not (await standing.list_branches()).items
        new.sign("server")
        assert await lists(address, ChannelTls(new.root))
        assert await refused(address, ChannelTls(old.root))
        assert not (await standing.list_branches()).items


async def test_replaced_client_roots_hold_from_the_next_connection_on(tmp_path: Path) -> None:
    authority, first, second = (Authority(tmp_path, name) for name in ("servers", "first", "second"))
    roots = tmp_path / "roots.pem"
    shutil.copy(first.root, roots)
    early, late = first.sign("early"), second.sign("late")
    async with history_over_tls(authority.sign("server"), tls_client_ca=roots) as address:
        assert await lists(address, ChannelTls(authority.root, early.certificate, early.key))
        shutil.copy(second.root, roots)
        assert await lists(address, ChannelTls(authority.root, late.certificate, late.key))
        assert await refused(address, ChannelTls(authority.root, early.certificate, early.key))


async def test_new_files_that_cannot_be_used_leave_the_old_ones_in_force(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    authority = Authority(tmp_path)
    pair = authority.sign("server")
    other = authority.sign("other")
    async with history_over_tls(pair) as address:
        shutil.copy(other.key, pair.key)  # not the certificate's
        assert await lists(address, ChannelTls(authority.root))
        assert "certificates_unusable" in caplog.text
        pair.key.unlink()
        assert await lists(address, ChannelTls(authority.root))
        caplog.clear()
        caplog.set_level(logging.INFO)
        authority.sign("server")
        assert await lists(address, ChannelTls(authority.root))
        assert "certificates_reloaded" in caplog.text


async def test_tokens_go_over_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority, tokens = Authority(tmp_path), TokensFile(tmp_path)
    token = tokens.add("acme")
    tls = ChannelTls(authority.root)
    async with history_over_tls(authority.sign("server"), tokens=tokens.path) as address:
        assert await lists(address, tls, token.text)
        for wrong in (None, token.text[:-1]):
            with pytest.raises(CredentialsMissingError):
                await lists(address, tls, wrong)
        monkeypatch.setenv("ANTIPHON_TLS_CA", str(authority.root))
        monkeypatch.setenv("ANTIPHON_TOKEN", token.text)
        assert await lists(address, None)
        monkeypatch.delenv("ANTIPHON_TOKEN")
        (tmp_path / "token").write_text(token.text + "\n")
        monkeypatch.setenv("ANTIPHON_TOKEN_FILE", str(tmp_path / "token"))
        assert await lists(address, None)
        assert await asyncio.to_thread(_lists_blocking, address)


def _lists_blocking(address: str) -> bool:
    with HistoryClient(address, timeout=10) as client:
        return not client.with_options(timeout=5).list_branches().items


async def test_the_compiler_speaks_mutual_tls_to_the_history_and_hands_tokens_on(tmp_path: Path) -> None:
    authority, tokens = Authority(tmp_path), TokensFile(tmp_path)
    owner, stranger = tokens.add("acme"), tokens.add("globex")
    own = authority.sign("compiler")
    tls = ChannelTls(authority.root, own.certificate, own.key)
    async with history_over_tls(
        authority.sign("server"), tls_client_ca=authority.root, tokens=tokens.path
    ) as history:
        async with AsyncHistoryClient(history, tls=tls, token=owner.text) as client:
            branch = await client.create_branch()
        for given, fails in ((own, False), (None, True)):
            settings = CompilerSettings(
                listen="127.0.0.1:0",
                history=history,
                history_tls_ca=authority.root,
                history_tls_cert=given and given.certificate,
                history_tls_key=given and given.key,
                tls_cert=own.certificate,
                tls_key=own.key,
                tokens=tokens.path,
            )
            server = build_compiler(settings, open_history_channel(settings))
            address = await server.start()
            try:
                turn = TurnRequest(instruction=Instruction.create("go on"))
                options: dict[str, Any] = {"tls": ChannelTls(authority.root), "channel_options": PATIENT}
                async with AsyncCompilerClient(address, token=owner.text, **options) as compiler:
                    if fails:
                        with pytest.raises(HistoryUnavailableError):
                            await compiler.compile(branch.branch_id, turn)
                        continue
                    assert (await compiler.compile(branch.branch_id, turn)).messages_digest
                async with AsyncCompilerClient(address, token=stranger.text, **options) as compiler:
                    with pytest.raises(LookupError):
                        await compiler.compile(branch.branch_id, turn)
            finally:
                await server.stop(0)


async def test_a_token_is_not_sent_over_a_network_in_clear() -> None:
    with pytest.raises(AddressError, match=r"a token is not sent to 192\.0\.2\.1:1 without TLS"):
        AsyncHistoryClient("192.0.2.1:1", token="antiphon_a_b")
    with pytest.raises(AddressError):
        HistoryClient("example.org:1", token="antiphon_a_b")
    HistoryClient("192.0.2.1:1").close()
    HistoryClient("127.0.0.1:1", token="antiphon_a_b").close()


async def test_neither_tokens_nor_keys_are_shown_or_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    authority, tokens = Authority(tmp_path), TokensFile(tmp_path)
    token, pair = tokens.add("acme"), authority.sign("server")
    settings = HistorySettings(
        listen="127.0.0.1:0", tls_cert=pair.certificate, tls_key=pair.key, tokens=tokens.path
    )
    async with history_over_tls(pair, tokens=tokens.path) as address:
        client = AsyncHistoryClient(address, tls=ChannelTls(authority.root), token=token.text)
        assert not (await client.list_branches()).items
        shown = [repr(value) for value in vars(client).values()] + [
            repr(settings),
            settings.model_dump_json(),
        ]
        shown += [repr(vars(client._transport)), repr(client._options)]
        await client.close()
        with pytest.raises(TransportError):
            await lists(address, None)
    shown += [f"{record.getMessage()} {record.__dict__}" for record in caplog.records]
    secrets = [token.text.split("_", 2)[2], token.digest, *pair.key.read_text().splitlines()[1:-1]]
    for secret in secrets:
        assert not any(secret in text for text in shown)


# What does not start


@pytest.fixture
def files(tmp_path: Path) -> Any:
    authority = Authority(tmp_path)
    made = {name: authority.sign(name).certificate for name in ("server", "other")}
    authority.sign("locked", password=b"hush")
    (tmp_path / "empty.pem").write_text("")
    return {**made, "folder": tmp_path, "root": authority.root}


TCP: dict[str, Any] = {"listen": "127.0.0.1:0"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"tls_cert": "server.pem"}, "--tls-cert and --tls-key are given together"),
        ({"tls_key": "server.key"}, "--tls-cert and --tls-key are given together"),
        ({"tls_client_ca": "root.pem"}, "--tls-client-ca needs --tls-cert and --tls-key"),
        ({"tls_cert": "none.pem", "tls_key": "server.key"}, "none.pem: No such file or directory"),
        ({"tls_cert": "server.pem", "tls_key": "none.key"}, "none.key: No such file or directory"),
        ({"tls_cert": "server.pem", "tls_key": "other.key"}, "other.key: not the key of the certificate in"),
        ({"tls_cert": "server.pem", "tls_key": "server.pem"}, "not a PEM certificate and its PEM key"),
        ({"tls_cert": "empty.pem", "tls_key": "server.key"}, "not a PEM certificate and its PEM key"),
        ({"tls_cert": "locked.pem", "tls_key": "locked.key"}, "locked.key: the key is encrypted"),
        (
            {"tls_cert": "server.pem", "tls_key": "server.key", "tls_client_ca": "empty.pem"},
            "empty.pem: no PEM certificate in it",
        ),
        (
            {"tls_cert": "server.pem", "tls_key": "server.key", "tls_client_ca": "none.pem"},
            "none.pem: No such file or directory",
        ),
        ({"tokens": "none.toml"}, "none.toml: No such file or directory"),
        (
            {"listen": "unix:/tmp/s", "tls_cert": "server.pem", "tls_key": "server.key"},
            "--tls-cert: a unix socket has no TLS; use --listen HOST:PORT",
        ),
        (
            {"listen": "0.0.0.0:0"},
            "there is no TLS; use unix:PATH or 127.0.0.1, give --tls-cert and --tls-key,",
        ),
        ({"listen": "0.0.0.0:0", "tokens": "ok.toml"}, "there is no TLS"),
    ],
)
def test_what_cannot_be_secured_does_not_start(given: dict[str, str], said: str, files: Any) -> None:
    folder: Path = files["folder"]
    (folder / "ok.toml").write_text("")
    values: dict[str, Any] = {
        name: value if name == "listen" else folder / value for name, value in given.items()
    }
    with pytest.raises(ValidationError) as caught:
        HistorySettings(**TCP | values)
    assert said in str(caught.value)
    assert "hush" not in str(caught.value)


def test_tls_or_insecure_opens_the_network(files: Any) -> None:
    folder: Path = files["folder"]
    pair: dict[str, Any] = {"tls_cert": folder / "server.pem", "tls_key": folder / "server.key"}
    assert HistorySettings(listen="0.0.0.0:1", **pair).tls is not None
    assert HistorySettings(listen="0.0.0.0:1", insecure=True).tls is None
    # The metrics have no TLS, whatever the service has.
    with pytest.raises(ValidationError, match="--metrics-listen"):
        HistorySettings(listen="0.0.0.0:1", metrics_listen="0.0.0.0:2", **pair)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"history": "192.0.2.1:1"}, "--history 192.0.2.1:1 is reachable from other machines"),
        ({"history_tls_cert": "server.pem", "history_tls_key": "server.key"}, "need --history-tls-ca"),
        (
            {"history_tls_ca": "root.pem", "history": "unix:/tmp/h"},
            "--history-tls-ca: a unix socket has no TLS",
        ),
        ({"history_tls_ca": "none.pem"}, "none.pem: No such file"),
        ({"history_tls_ca": "root.pem", "history_tls_cert": "server.pem"}, "are given together"),
        (
            {"history_tls_ca": "root.pem", "history_tls_cert": "server.pem", "history_tls_key": "other.key"},
            "other.key: not the key of the certificate",
        ),
    ],
)
def test_the_compilers_way_to_the_history_is_checked(given: dict[str, str], said: str, files: Any) -> None:
    values = {name: value if name == "history" else files["folder"] / value for name, value in given.items()}
    with pytest.raises(ValidationError) as caught:
        CompilerSettings(**{"history": "127.0.0.1:1"} | values)
    assert said in str(caught.value)


def test_tls_opens_a_history_on_another_machine(files: Any) -> None:
    settings = CompilerSettings(history="192.0.2.1:1", history_tls_ca=files["root"])
    assert settings.history_tls == ChannelTls(files["root"])


async def test_a_file_that_goes_between_settings_and_start_is_named(tmp_path: Path) -> None:
    pair = Authority(tmp_path).sign("server")
    settings = EdgeSettings(listen="127.0.0.1:0", tls_cert=pair.certificate, tls_key=pair.key)
    os.unlink(pair.key)
    assert settings.tls is not None
    with pytest.raises(UnusableFileError, match=r"server\.key: No such file"):
        ServerTls(settings.tls)


async def test_tokens_in_clear_are_warned_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tokens = TokensFile(tmp_path)
    for listen, is_warned in (("127.0.0.1:0", False), ("0.0.0.0:0", True)):
        settings = HistorySettings(listen=listen, store="memory:", tokens=tokens.path, insecure=True)
        server = build_server(settings, open_store("memory:"))
        await server.start()
        await server.stop(0)
        assert ("tokens_without_tls" in caplog.text) is is_warned


async def test_health_answers_over_tls_only(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    async with (
        history_over_tls(authority.sign("server")) as address,
        grpc.aio.insecure_channel(address) as channel,
    ):
        untyped: Any = channel
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await untyped.unary_unary("/grpc.health.v1.Health/Check")(b"", timeout=5)
    assert caught.value.code().name in ("UNAVAILABLE", "DEADLINE_EXCEEDED")


def test_the_files_of_a_tls_are_all_watched(tmp_path: Path) -> None:
    a, b, c = (tmp_path / name for name in "abc")
    assert TlsFiles(a, b).paths == (a, b)
    assert TlsFiles(a, b, c).paths == (a, b, c)

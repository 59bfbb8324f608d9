"""Listen addresses and the ownership of socket paths."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from antiphon_client.edge.addresses import (
    AddressError,
    TcpAddress,
    UnixAddress,
    check_reach,
    default_address,
    make_private_directory,
    parse_address,
)
from antiphon_client.edge.sockets import SocketClaim, private_files


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("unix:/run/a.sock", UnixAddress("/run/a.sock")),
        ("unix:a.sock", UnixAddress("a.sock")),
        ("unix:///run/a.sock", UnixAddress("/run/a.sock")),
        ("127.0.0.1:80", TcpAddress("127.0.0.1", 80)),
        ("localhost:0", TcpAddress("localhost", 0)),
        ("[::1]:50051", TcpAddress("::1", 50051)),
        ("[::1]:65535", TcpAddress("::1", 65535)),
    ],
)
def test_addresses_parse(text: str, address: UnixAddress | TcpAddress) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize(
    "text",
    [
        *("", "unix:", "unix://a.sock", "unix:a\0b", "unix:/" + "a" * 107),
        *("localhost", ":80", "h:", "h:x", "h:-1", "h:65536", "http://h:80", "h:\u0661"),
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(AddressError):
        parse_address(text)


def test_text_of_an_address_is_the_address() -> None:
    for text in ("unix:/run/a.sock", "127.0.0.1:80", "[::1]:80"):
        assert str(parse_address(text)) == text


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.0.1", False),
        ("example.org", False),
        ("localhost.example.org", False),
    ],
)
def test_only_loopback_is_safe_without_tls(host: str, loopback: bool) -> None:
    address = TcpAddress(host, 80)
    check_reach(address, insecure=True, option="--listen")
    if loopback:
        check_reach(address, insecure=False, option="--listen")
    else:
        with pytest.raises(AddressError, match=r"--listen .* --insecure"):
            check_reach(address, insecure=False, option="--listen")


def test_default_addresses_are_per_user() -> None:
    assert (
        default_address("history", {"XDG_RUNTIME_DIR": "/run/user/7"})
        == "unix:/run/user/7/antiphon/history.sock"
    )
    assert f"antiphon-{os.getuid()}/compiler.sock" in default_address("compiler", {})


def test_private_directory_is_made_private_or_refused(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    make_private_directory(folder)
    make_private_directory(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    folder.chmod(0o755)
    with pytest.raises(AddressError, match="0700"):
        make_private_directory(folder)
    folder.chmod(0o700)
    link = tmp_path / "link"
    link.symlink_to(folder)
    with pytest.raises(AddressError, match="0700"):
        make_private_directory(link)


def listen(path: Path) -> socket.socket:
    """Listen on a socket."""
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(str(path))
    server.listen()
    return server


def test_stale_socket_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.sock"
    listen(path).close()
    assert path.exists()
    claim = SocketClaim(str(path))
    assert not path.exists()
    claim.release()


def test_live_socket_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.sock"
    with listen(path), pytest.raises(AddressError, match="a live server"):
        SocketClaim(str(path))
    assert path.exists()


def test_second_claim_is_refused_until_the_first_is_released(tmp_path: Path) -> None:
    path = tmp_path / "a.sock"
    claim = SocketClaim(str(path))
    with pytest.raises(AddressError, match="a live server"):
        SocketClaim(str(path))
    claim.release()
    SocketClaim(str(path)).release()


def test_release_removes_only_its_own_socket(tmp_path: Path) -> None:
    path = tmp_path / "a.sock"
    claim = SocketClaim(str(path))
    with listen(path):
        claim.bound()
        path.rename(tmp_path / "kept.sock")
        with listen(path):
            claim.release()
            assert path.exists()


def test_other_files_and_impossible_folders_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("precious")
    with pytest.raises(AddressError, match="is no socket"):
        SocketClaim(str(file))
    assert file.read_text() == "precious"
    with pytest.raises(AddressError, match="cannot listen on"):
        SocketClaim(str(tmp_path / "absent" / "a.sock"))


def test_private_files_are_private_from_the_start(tmp_path: Path) -> None:
    path = tmp_path / "a.sock"
    former = os.umask(0o022)
    try:
        with private_files(), listen(path):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(former)

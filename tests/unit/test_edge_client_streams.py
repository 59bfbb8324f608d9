"""Whose streams are counted together."""

from __future__ import annotations

import pytest

from antiphon_client.edge.client_streams import ClientStreams, client_of
from antiphon_client.errors import OverloadedError


@pytest.mark.parametrize(
    ("tenant_id", "peer", "client"),
    [
        ("", "unix:", "unix:"),
        ("", "ipv4:10.0.0.7:50008", "ipv4:10.0.0.7"),
        ("", "ipv6:%5B::1%5D:40000", "ipv6:%5B::1%5D"),
        ("acme", "ipv4:10.0.0.7:50008", "tenant:acme"),
    ],
)
def test_a_client_is_a_tenant_or_an_address(tenant_id: str, peer: str, client: str) -> None:
    assert client_of(tenant_id, peer) == client


def test_each_client_has_its_own_streams() -> None:
    streams = ClientStreams(1)
    with streams.held("a"):
        with streams.held("b"):
            pass
        with pytest.raises(OverloadedError), streams.held("a"):
            pass
    with streams.held("a"):
        pass
    assert streams._open == {}

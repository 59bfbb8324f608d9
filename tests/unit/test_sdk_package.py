"""What the package offers by name, and where its clients go without an address."""

from __future__ import annotations

from types import ModuleType

import pytest

import antiphon_client
import antiphon_client.messages
from antiphon_client import AsyncCompilerClient, AsyncHistoryClient, CompilerClient, HistoryClient

SERVICES = [("history", HistoryClient, AsyncHistoryClient), ("compiler", CompilerClient, AsyncCompilerClient)]


@pytest.mark.parametrize("package", [antiphon_client, antiphon_client.messages])
def test_every_export_is_listed_and_loads(package: ModuleType) -> None:
    assert set(package.__all__) == set(package._MODULES)
    assert set(package.__all__) <= set(dir(package))
    for name in package.__all__:
        assert getattr(package, name) is not None


def test_the_package_has_a_version() -> None:
    assert antiphon_client.__version__
    assert "__version__" in dir(antiphon_client)


@pytest.mark.anyio
@pytest.mark.parametrize(("service", "blocking", "awaited"), SERVICES)
async def test_without_an_address_the_variable_says_it_else_the_default_socket(
    service: str,
    blocking: type[HistoryClient | CompilerClient],
    awaited: type[AsyncHistoryClient | AsyncCompilerClient],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    variable = f"ANTIPHON_{service.upper()}_ADDRESS"
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/7")
    default = f"unix:/run/user/7/antiphon/{service}.sock"
    for value, address in (("unix:/said.sock", "unix:/said.sock"), ("", default), (None, default)):
        if value is None:
            monkeypatch.delenv(variable, raising=False)
        else:
            monkeypatch.setenv(variable, value)
        with blocking() as client:
            assert client.address == address
        async with awaited() as async_client:
            assert async_client.address == address
    with blocking("unix:/given.sock") as client:
        assert client.address == "unix:/given.sock"

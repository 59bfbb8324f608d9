"""What the package offers by name, and where its clients go without an address."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest

import antiphon_client
import antiphon_client.messages
from antiphon_client import AsyncCompilerClient, AsyncHistoryClient, CompilerClient, HistoryClient
from tests.support.cli import PYTHONPATH

SERVICES = [("history", HistoryClient, AsyncHistoryClient), ("compiler", CompilerClient, AsyncCompilerClient)]


@pytest.mark.parametrize(
    ("package", "some"),
    [
        (antiphon_client, {"Branch", "AsyncHistoryClient", "CompilerClient", "Message", "UNSET"}),
        (antiphon_client.messages, {"Message", "TextBlock", "to_proto", "normalize_sender", "UNSET"}),
    ],
)
def test_every_export_is_listed_and_loads(package: ModuleType, some: set[str]) -> None:
    assert some <= set(package.__all__)
    assert set(package.__all__) <= set(dir(package))
    assert package.__all__ == sorted(set(package.__all__))
    for name in package.__all__:
        assert getattr(package, name) is not None
    everything: dict[str, object] = {}
    exec(f"from {package.__name__} import *", everything)
    assert everything.keys() - {"__builtins__"} == set(package.__all__)


@pytest.mark.parametrize("name", ["Nonsense", "_exports_of", "sys", "import_module"])
def test_nothing_else_is_an_export(name: str) -> None:
    for package in (antiphon_client, antiphon_client.messages):
        with pytest.raises(AttributeError, match=f"{package.__name__}' has no attribute '{name}'"):
            getattr(package, name)


def loaded_by(statement: str) -> set[str]:
    """Return the modules that a statement loads in a bare interpreter."""
    code = f"import sys; bare = set(sys.modules); {statement}; print(*set(sys.modules) - bare)"
    environment = {"PYTHONPATH": PYTHONPATH}
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_nothing_is_loaded_before_the_command_line_can_meet_an_interruption() -> None:
    assert loaded_by("from antiphon_client.cli import main") == {"antiphon_client", "antiphon_client.cli"}


def test_a_module_of_the_package_loads_no_more_than_it_needs() -> None:
    loaded = loaded_by("import antiphon_client.limits, antiphon_client.messages")
    assert "antiphon_client.limits" in loaded
    assert not {name for name in loaded if name.endswith("_exports")}


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

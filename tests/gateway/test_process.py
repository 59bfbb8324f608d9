"""The gateway as a process: its settings, its other routes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.gateway.support import ROOT, SECONDS, Gateway, Provider, running_gateway
from tests.support.pair import Pair


def run(*flags: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the gateway to its end."""
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "clients" / "python", ROOT / "clients" / "gateway")))
    return subprocess.run(
        [sys.executable, "-m", "antiphon_gateway", *flags],
        env={**os.environ, "PYTHONPATH": paths, **variables},
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )


def test_models_are_the_upstreams(gateway: Gateway, provider: Provider) -> None:
    with gateway.client() as client:
        models = [(each.id, each.created, each.owned_by) for each in client.models.list()]
    assert models == [("m-1", 5, "me"), ("m-2", 0, "upstream")]


def test_health_is_that_of_both_services(pair: Pair, gateway: Gateway, tmp_path: Path) -> None:
    answer = httpx.get(f"{gateway.url}/healthz")
    assert (answer.status_code, answer.json()) == (
        200,
        {"status": "ok", "history": "ok", "compiler": "ok"},
    )
    away = Pair(pair.history, f"unix:{tmp_path}/nothing.sock")
    with running_gateway(away, "http://127.0.0.1:9/v1", tmp_path / "log") as other:
        answer = httpx.get(f"{other.url}/healthz", timeout=SECONDS)
        assert answer.status_code == 503
        found = answer.json()
        assert (found["status"], found["history"]) == ("unavailable", "ok")
        assert found["compiler"] in ("SERVICE_UNREACHABLE", "DEADLINE_EXCEEDED")


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/v1/nothing", 404), ("PUT", "/v1/models", 405)]
)
def test_other_routes_are_errors_of_the_same_form(
    gateway: Gateway, method: str, path: str, status: int
) -> None:
    answer = httpx.request(method, f"{gateway.url}{path}")
    assert answer.status_code == status
    assert answer.json()["error"]["code"]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--listen", "0.0.0.0:8400"), "reachable from other machines"),
        (("--listen", "unix:/tmp/a"), "is not HOST:PORT"),
        (("--target", "gemini.generate_content"), "openai.chat"),
        (("--body-bytes", "0"), "greater than or equal to 1"),
    ],
)
def test_settings_that_cannot_be_are_refused(flags: tuple[str, ...], said: str) -> None:
    done = run(*flags)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_key_that_fits_no_header_is_refused_and_not_shown() -> None:
    done = run(ANTIPHON_GATEWAY_UPSTREAM_KEY="sk-secret\n")
    assert done.returncode == 2
    assert "upstream_key" in done.stderr
    assert "sk-secret" not in done.stderr + done.stdout


def test_help_names_every_setting() -> None:
    done = run("--help")
    assert done.returncode == 0
    for name in ("listen", "history", "compiler", "target", "upstream", "body-bytes", "insecure"):
        assert f"--{name}" in done.stdout

"""The examples of deployment: systemd takes the units, the programs their flags, and the parts fit."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from psycopg.conninfo import conninfo_to_dict

from antiphon_client.channel import check_address
from history_service.backup.checking import verify_backup
from tests.support.backups import make_store
from tests.support.cli import PYTHONPATH, ROOT
from tests.support.postgres_cluster import (
    CONFIGURATION,
    FOLLOW,
    FOLLOWING,
    FURTHEST,
    NAMES,
    PROMOTE,
    RELOAD,
    REPLICATION_ROLE,
)

FOLDER = ROOT / "examples" / "deploy"
UNITS = sorted(path.name for path in FOLDER.iterdir() if path.suffix in (".service", ".timer"))
SERVICES = {"antiphon-history.service": "history_service", "antiphon-compiler.service": "compiler_service"}
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("ANTIPHON_")} | {
    "PYTHONPATH": PYTHONPATH
}


def setting(unit: str, name: str) -> str:
    """Return a setting of a unit."""
    (found,) = re.findall(rf"^{name}=(.*)$", (FOLDER / unit).read_text("utf-8"), re.M)
    return str(found)


def config(module: str, flags: list[str], variables: dict[str, str] | None = None) -> dict[str, Any]:
    """Return what a service makes of its flags, and of variables."""
    done = subprocess.run(
        [sys.executable, "-m", module, *flags, "--print-config"],
        env=ENVIRONMENT | (variables or {}),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    made: dict[str, Any] = json.loads(done.stdout)
    return made


def unit_config(unit: str) -> dict[str, Any]:
    """Return what a service makes of the flags in its unit."""
    program, dash, module, *flags = shlex.split(setting(unit, "ExecStart"))
    assert (program, dash, module) == ("/opt/antiphon/bin/python", "-m", SERVICES[unit])
    return config(module, flags)


def test_the_units_fit_together() -> None:
    history, compiler = (unit_config(unit) for unit in SERVICES)
    assert compiler["history"] == history["listen"]
    for unit, made in zip(SERVICES, (history, compiler), strict=True):
        folder = f"/run/{setting(unit, 'RuntimeDirectory')}/"
        assert made["listen"].startswith(f"unix:{folder}")
        assert int(setting(unit, "TimeoutStopSec")) > made["grace_seconds"]
    assert history["store"].startswith(
        f"sqlite:/var/lib/{setting('antiphon-history.service', 'StateDirectory')}/"
    )
    assert history["metrics_listen"] != compiler["metrics_listen"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_takes_the_units(tmp_path: Path) -> None:
    for name in UNITS:
        text = (FOLDER / name).read_text("utf-8")
        # The programs are where the reader puts them; here another one stands for them.
        (tmp_path / name).write_text(re.sub("/opt/antiphon/bin/[a-z]+", "/bin/true", text))
    done = subprocess.run(
        ["systemd-analyze", "verify", *(str(tmp_path / name) for name in UNITS)],
        capture_output=True,
        text=True,
        check=False,
    )
    about_ours = [line for line in done.stderr.splitlines() if "antiphon" in line]
    assert (done.returncode, about_ours) == (0, [])


def test_the_backup_units_command_makes_a_backup(tmp_path: Path) -> None:
    store = asyncio.run(make_store(tmp_path / "store"))
    (tmp_path / "backups").mkdir()
    shell, flags, script = shlex.split(setting("antiphon-backup.service", "ExecStart"))
    # As systemd reads it.
    script = script.replace("$$", "$").replace("%%", "%")
    for place, here in (
        ("/opt/antiphon/bin/antiphon", f"{shlex.quote(sys.executable)} -m antiphon_client"),
        ("/var/lib/antiphon-backups", str(tmp_path / "backups")),
        ("/var/lib/antiphon/history.sqlite3", str(store)),
    ):
        assert place in script
        script = script.replace(place, here)
    subprocess.run([shell, flags, script], env=ENVIRONMENT, check=True, capture_output=True)
    (backup,) = (tmp_path / "backups").iterdir()
    assert re.fullmatch(r"\d{8}T\d{6}Z", backup.name)
    verify_backup(backup)
    assert setting("antiphon-history.service", "User") == setting("antiphon-backup.service", "User")


def test_the_history_service_takes_the_variables_of_high_availability() -> None:
    text = (FOLDER / "history-ha.env").read_text("utf-8")
    variables = dict(shlex.split(line)[0].split("=", 1) for line in text.splitlines() if line[0] != "#")
    made = config("history_service", [], variables)
    assert f"ANTIPHON_HISTORY_STORE={made['store']}" in text.replace('"', "")
    hosts = conninfo_to_dict(made["store"])
    assert hosts["host"] == ",".join(NAMES)
    assert hosts["target_session_attrs"] == "read-write"
    assert (made["store_connect_seconds"], made["store_statement_seconds"]) == (2, 30)


def test_the_page_on_high_availability_says_what_the_failovers_do() -> None:
    page = (ROOT / "docs" / "high-availability.md").read_text("utf-8")
    text = " ".join(page.split())
    for statement in (*REPLICATION_ROLE, FURTHEST, PROMOTE, FOLLOW.partition("'")[0], RELOAD, FOLLOWING):
        assert statement in text
    for name in (*NAMES, CONFIGURATION.name, "`CHECKPOINT`"):
        assert name in page


def test_the_pod_fits_together() -> None:
    service, stateful = yaml.safe_load_all((FOLDER / "kubernetes.yaml").read_text("utf-8"))
    pod = stateful["spec"]["template"]["spec"]
    labels = stateful["spec"]["template"]["metadata"]["labels"]
    assert stateful["spec"]["selector"]["matchLabels"] == service["spec"]["selector"] == labels
    assert stateful["spec"]["serviceName"] == service["metadata"]["name"]
    assert stateful["spec"]["replicas"] == 1
    made = {}
    for container in pod["initContainers"]:
        python, dash, module = container["command"]
        assert (python, dash) == ("python", "-m")
        made[container["name"]] = config(module, container["args"])
        socket = made[container["name"]]["listen"].removeprefix("unix:")
        assert container["startupProbe"]["exec"]["command"] == ["test", "-S", socket]
        assert container["restartPolicy"] == "Always"
    assert made["compiler"]["history"] == made["history"]["listen"]
    (program,) = pod["containers"]
    environment = {variable["name"]: variable["value"] for variable in program["env"]}
    assert environment == {
        f"ANTIPHON_{name.upper()}_ADDRESS": check_address(config["listen"]) for name, config in made.items()
    }
    assert pod["terminationGracePeriodSeconds"] > sum(config["grace_seconds"] for config in made.values())
    volumes = [*pod["volumes"], *(claim["metadata"] for claim in stateful["spec"]["volumeClaimTemplates"])]
    for container in (*pod["initContainers"], program):
        mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
        assert set(mounts) <= {volume["name"] for volume in volumes}
        assert mounts["sockets"] == "/run/antiphon"
    history_mounts = {mount["name"]: mount["mountPath"] for mount in pod["initContainers"][0]["volumeMounts"]}
    assert made["history"]["store"].startswith(f"sqlite:{history_mounts['data']}/")
    assert pod["securityContext"]["runAsUser"] == pod["securityContext"]["fsGroup"]

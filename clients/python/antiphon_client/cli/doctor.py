"""``antiphon doctor``: what is wrong with an installation, and what to do."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence

import typer

from antiphon_client.cli.backing_up import MAINTENANCE, EncryptionKeys, Store, store_arguments
from antiphon_client.cli.options import AsJson, CompilerAddress, HistoryAddress
from antiphon_client.cli.output import say, say_json, say_table
from antiphon_client.cli.reaching import access_finding, service_findings, way_finding
from antiphon_client.findings import Finding, exit_code

EXAMPLES = """Examples:

  antiphon doctor
  antiphon doctor --store sqlite:/var/lib/antiphon/history.sqlite3 --json
  antiphon --token-file token --tls-ca roots.pem doctor --history db.example:7411

Exit codes: 0 all is well, 1 warnings, 2 failures (and wrong usage), 130 interrupted.
"""


def doctor(
    history: HistoryAddress,
    compiler: CompilerAddress,
    store: Store = None,
    encryption_keys: EncryptionKeys = None,
    as_json: AsJson = False,
) -> None:
    """Look at versions, the store, its keys, its disk, the clock, both services and the way between them.

    Services are called as the other commands call them: with the token and over the TLS that are given before
    the command, or by ANTIPHON_TOKEN_FILE and ANTIPHON_TLS_CA; nothing of these is printed.

    Nothing is changed, and nothing has to run: what cannot be looked at is a finding too. Run it as the user
    of the services, on their machine. The store's file is read once as a whole.
    """
    findings = [*_store_findings(store, encryption_keys)]
    for service, address in (("history", history), ("compiler", compiler)):
        findings += service_findings(service, address)
    for service, address, further in (
        ("history", history, access_finding),
        ("compiler", compiler, way_finding),
    ):
        if not _failed(findings, service):
            findings.append(further(address))
    code = exit_code(findings)
    if as_json:
        say_json({"exit_code": code, "findings": [finding._asdict() for finding in findings]})
    else:
        _show(findings)
    raise typer.Exit(code)


def _failed(findings: Sequence[Finding], service: str) -> bool:
    return any(each.check.startswith(f"{service}.") and each.level == "failure" for each in findings)


def _store_findings(store: str | None, encryption_keys: str | None) -> list[Finding]:
    """Have the store's own program look at what is below the services."""
    command = [*MAINTENANCE, "diagnose", *store_arguments(store, encryption_keys)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # nosec B603: our own program
    try:
        return [Finding(**finding) for finding in json.loads(done.stdout)]
    except ValueError:
        text = f"the store's program failed (exit code {done.returncode}): {done.stderr.strip()[-300:]}"
        return [Finding("store.program", "failure", text, "install antiphon with its dependencies")]


def _show(findings: Sequence[Finding]) -> None:
    say_table(("", "check", "found"), [(found.level, found.check, found.text) for found in findings])
    troubles = [finding for finding in findings if finding.level != "ok"]
    if troubles:
        say()
    for finding in troubles:
        say(f"{finding.check}: {finding.advice}" if finding.advice else finding.check)

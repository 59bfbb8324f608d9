"""Looking at what the services stand on: versions, the store, its disk, the clock.

Everything is looked at from outside and nothing is changed, so that it works
while the service runs and while it does not.
"""

from __future__ import annotations

from pathlib import Path

from antiphon_client.findings import Finding
from history_service.diagnosis.clock import clock_findings
from history_service.diagnosis.disk import disk_findings
from history_service.diagnosis.store import store_findings
from history_service.diagnosis.versions import requirements, version_findings
from history_service.storage import SQLITE_SCHEME

__all__ = ["diagnose"]


def diagnose(store: str, key_file: str | None = None) -> list[Finding]:
    """Look at versions, a store, its disk and the clock; reads the whole file once.

    Args:
        store: The store's URL.
        key_file: The file of master keys that the service is given; None for none.
    """
    versions = version_findings(requirements())
    if not store.startswith(SQLITE_SCHEME):
        kind = store.partition(":")[0]
        return [*versions, Finding("store.file", "ok", f"{kind} is no file, so nothing here looks into it")]
    path = Path(store.removeprefix(SQLITE_SCHEME)).absolute()
    return [*versions, *store_findings(path, key_file), *disk_findings(path.parent), *clock_findings(path)]

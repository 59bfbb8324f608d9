"""``make gateway``: the pair, a stand-in for a provider, the gateway and the example, started and stopped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from antiphon_client import Branch, HistoryClient
from antiphon_client.cli.pair import ServicePair
from antiphon_client.openai_chat import export_messages

EXAMPLE = Path(__file__).parent / "example.py"


@contextmanager
def running(module: str, *flags: str, variables: Mapping[str, str] | None = None) -> Iterator[str]:
    """Run a module that says where it listens; yield that URL, and stop it at the end.

    Raises:
        RuntimeError: It did not start; its reason is on standard error.
    """
    command = [sys.executable, "-m", module, *flags]
    with subprocess.Popen(
        command, env={**os.environ, **(variables or {})}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        try:
            if not line:
                raise RuntimeError(f"{module} did not start")
            yield f"http://{json.loads(line)['address']}/v1"
        finally:
            process.terminate()


def main() -> None:
    """Run the example and show what is kept of it."""
    with tempfile.TemporaryDirectory(prefix="antiphon-") as folder:
        pair = ServicePair(
            history_listen=f"unix:{folder}/history.sock",
            compiler_listen=f"unix:{folder}/compiler.sock",
            store="memory:",
            log_level="warning",
        )
        with pair, running("antiphon_gateway.fake_upstream", "--port", "0") as upstream:
            variables = {
                "ANTIPHON_GATEWAY_HISTORY": pair.history_address,
                "ANTIPHON_GATEWAY_COMPILER": pair.compiler_address,
                "ANTIPHON_GATEWAY_UPSTREAM": upstream,
                "ANTIPHON_GATEWAY_LOG_LEVEL": "warning",
            }
            with running("antiphon_gateway", "--listen", "127.0.0.1:0", variables=variables) as gateway:
                login = {"OPENAI_BASE_URL": gateway, "OPENAI_API_KEY": "unused"}
                subprocess.run([sys.executable, EXAMPLE], env={**os.environ, **login}, check=True)
            _show(pair.history_address)


def _show(history_address: str) -> None:
    with HistoryClient(history_address) as history:
        (record,) = history.branches()
        branch = Branch(history, record.branch_id)
        print(f"kept at revision {record.revision}:")
        for message in export_messages(None, list(branch.messages())):
            print(f"  {json.dumps(message)}")


if __name__ == "__main__":
    main()

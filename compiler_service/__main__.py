"""``python -m compiler_service``: runs the compiler service."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from antiphon_client.edge.addresses import default_address, make_private_directory, runtime_directory
from antiphon_client.edge.lifecycle import ServiceServer
from antiphon_client.edge.options import OptionParser
from antiphon_client.edge.process import run
from compiler_service.server import SERVICE, build_server, open_history_channel
from compiler_service.settings import LIMITS, CompilerSettings

PROG = "compiler_service"

_EXAMPLES = """examples:
  python -m compiler_service
  python -m compiler_service --listen unix:/tmp/compiler.sock --history unix:/tmp/history.sock
  python -m compiler_service --listen 127.0.0.1:7412 --history 127.0.0.1:7411 --log-level debug
  python -m compiler_service --limit reply_bytes=2000000 --print-config

Each flag has an environment variable: ANTIPHON_COMPILER_LISTEN, ANTIPHON_COMPILER_HISTORY,
ANTIPHON_COMPILER_LIMITS__REPLY_BYTES and so on; flags win.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the service until it is told to stop, and return the exit code."""
    parser = OptionParser(
        prog=PROG, description="Antiphon's compiler service.", epilog=_EXAMPLES, limits=LIMITS
    )
    parser.add_argument("--history", metavar="ADDRESS", help="where the history service listens")
    parser.add_argument(
        "--history-tls-ca", metavar="FILE", help="roots of the history service's certificate: speak TLS to it"
    )
    parser.add_argument(
        "--history-tls-cert", metavar="FILE", help="the compiler's own certificate, where it asks for one"
    )
    parser.add_argument("--history-tls-key", metavar="FILE", help="that certificate's private key")
    parser.add_argument(
        "--vocabularies",
        metavar="FOLDER",
        help="vocabularies of exact token counters, as o200k_base.tiktoken",
    )
    parser.add_argument(
        "--cache-bytes", metavar="BYTES", help="memory of branches kept between calls; 0 keeps none"
    )
    parser.add_argument(
        "--folding-workers", metavar="N", help="processes that fold beside the service's own; 0 starts none"
    )
    settings = parser.settings(CompilerSettings, arguments)
    return run(PROG, SERVICE.full_name, settings.log_level, settings.tracing, lambda: _build(settings))


def _build(settings: CompilerSettings) -> ServiceServer:
    """Make the server, and the folder of its socket when that stands at its default place."""
    if settings.listen == default_address("compiler", os.environ):
        make_private_directory(runtime_directory(os.environ))
    return build_server(settings, open_history_channel(settings))


if __name__ == "__main__":
    sys.exit(main())

"""The command line ``antiphon``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line. Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    try:
        # The commands take a while to load; a Ctrl-C in that time is to be as quiet as one later.
        from antiphon_client.cli.app import run

        run()
    except KeyboardInterrupt:
        sys.exit(130)

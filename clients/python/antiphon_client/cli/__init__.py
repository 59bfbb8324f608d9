"""The command line ``antiphon``.

From the interpreter's own start to ``main`` nothing but this file and that of the
package above it is loaded: a Ctrl-C before ``main`` is Python's to answer, and
Python answers it with a traceback.
"""

import sys


def main() -> None:
    """Run the command line. Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    try:
        # The commands take a while to load; a Ctrl-C in that time is to be as quiet as one later.
        from antiphon_client.cli.app import run

        run()
    except KeyboardInterrupt:
        sys.exit(130)

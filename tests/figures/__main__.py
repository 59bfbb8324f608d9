"""``python -m tests.figures``: the page of figures and the plot, anew from the results files.

With ``--measure``, every reliability harness runs in its long form first, or those
that are named; together they take hours.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys

from tests.figures.page import write_page
from tests.figures.targets import RELIABILITY


def main() -> int:
    """Measure what is asked for and write the page; 1 when a harness failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.figures", description=__doc__)
    parser.add_argument(
        "--measure", nargs="*", choices=RELIABILITY, metavar="ROW", help="the rows to measure"
    )
    asked = parser.parse_args().measure
    rows = [] if asked is None else asked or list(RELIABILITY)
    failed = False
    # Two rows may come from one run.
    for command in dict.fromkeys(RELIABILITY[row].command for row in rows):
        print(f"$ {command}", file=sys.stderr, flush=True)
        words = shlex.split(command)
        words[0] = sys.executable if words[0] == "python" else words[0]
        failed |= subprocess.run(words, check=False).returncode != 0
    write_page()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

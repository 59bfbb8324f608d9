"""A service with a known fault.

    python -m tests.polyglot.seeded_service SEED MODULE OPTIONS...

runs what ``python -m MODULE OPTIONS...`` would run, with the fault planted.
"""

from __future__ import annotations

import runpy
import sys

from tests.polyglot.seeds import SEEDS


def main() -> None:
    """Plant the fault and run the service in this process."""
    _, seed, module, *options = sys.argv
    SEEDS[seed].apply(setattr)
    sys.argv = [module, *options]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()

"""``python -m tests.crash.mutant_service MUTANT ...``: the history service with a fault."""

from __future__ import annotations

import sys

from history_service.__main__ import main
from history_service.storage.sqlite import SqliteStore
from tests.support.exchange_mutants import EXCHANGE_MUTANTS
from tests.support.mutants import WRITERS

if __name__ == "__main__":
    mutant = sys.argv[1]
    if mutant in EXCHANGE_MUTANTS:
        EXCHANGE_MUTANTS[mutant]()
    else:
        SqliteStore.writer_type = WRITERS[mutant]
    sys.exit(main(sys.argv[2:]))

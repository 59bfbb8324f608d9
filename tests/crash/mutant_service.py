"""``python -m tests.crash.mutant_service MUTANT ...``: the history service with a faulty writer."""

from __future__ import annotations

import sys

from history_service.__main__ import main
from history_service.storage.sqlite import SqliteStore
from tests.support.mutants import WRITERS

if __name__ == "__main__":
    SqliteStore.writer_type = WRITERS[sys.argv[1]]
    sys.exit(main(sys.argv[2:]))

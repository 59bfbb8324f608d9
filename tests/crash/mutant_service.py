"""``python -m tests.crash.mutant_service MUTANT[,MUTANT] ...``: the history service with faults."""

from __future__ import annotations

import sys

from history_service.__main__ import main
from history_service.storage.postgres import PostgresStore
from history_service.storage.sqlite import SqliteStore
from tests.support.exchange_mutants import EXCHANGE_MUTANTS
from tests.support.load_mutants import LOAD_MUTANTS
from tests.support.mutants import WRITERS
from tests.support.postgres_mutants import POSTGRES_WRITERS
from tests.support.race_mutants import RACE_MUTANTS
from tests.support.retry_mutants import RETRY_MUTANTS

if __name__ == "__main__":
    faults = EXCHANGE_MUTANTS | LOAD_MUTANTS | RACE_MUTANTS | RETRY_MUTANTS
    is_postgres = any(argument.startswith("postgresql:") for argument in sys.argv)
    for mutant in sys.argv[1].split(","):
        if mutant in faults:
            faults[mutant]()
        elif is_postgres:
            PostgresStore.writer_type = POSTGRES_WRITERS[mutant]
        else:
            SqliteStore.writer_type = WRITERS[mutant]
    sys.exit(main(sys.argv[2:]))

"""A writer's place among all that ever wrote: its name, its counter, its body numbers.

Nothing here is a sequence of the database's: a writer takes a number when it
connects, one more than the greatest, and has a range of body numbers by it. Two
that take the same number at once meet at the primary key, and one takes the
next.
"""

from __future__ import annotations

import time
import uuid

from psycopg import errors

from history_service.storage.postgres import writing_sql as sql
from history_service.storage.postgres.connection import WRITE, Session
from history_service.storage.postgres.copies import unfinished
from history_service.storage.postgres.failures import CONFLICTS

RANGE_BITS = 40
"""Body numbers of one writer: 2 ** 40, of 2 ** 23 writers; at 10,000 a second they last 3 years a start."""
_ATTEMPTS = 100
_NO_WAIT = "SET LOCAL synchronous_commit = off"


class WriterPlace:
    """One writer's place, from its connection on to the loss of it.

    Attributes:
        number: Its number, of which it has a row.
        writer_id: Its name in commit positions: 16 bytes.
        counter: Change records it has written.
    """

    def __init__(self, number: int, writer_id: bytes) -> None:
        """Take the place of a number, which no other writer has."""
        self.number = number
        self.writer_id = writer_id
        self.counter = 0
        self._next_body = number << RANGE_BITS
        self._end = (number + 1) << RANGE_BITS

    @property
    def is_used_up(self) -> bool:
        """Whether so few body numbers are left that a new place is due."""
        return self._end - self._next_body < 1 << (RANGE_BITS // 2)

    def new_body(self) -> int:
        """Return a number that no body of any writer has or will have."""
        number = self._next_body
        self._next_body += 1
        return number


def take_place(session: Session) -> WriterPlace:
    """Take a place, in a commit of its own, which waits for no disk and no standby.

    A place that is lost is missed by nobody: what was written from it is later in
    the database's log, and so not there either.

    Raises:
        psycopg.Error: The database cannot be written.
        StoreBusyError: It is an unfinished copy of another store.
    """
    for attempt in range(_ATTEMPTS):
        number = 1 + session.value(sql.LAST_WRITER)
        writer_id = uuid.uuid4().bytes
        try:
            session.begin(WRITE)
            session.run(_NO_WAIT)
            taken = session.run(sql.INSERT_WRITER, {"number": number, "id": writer_id, "at": time.time_ns()})
            session.commit()
        except (errors.UniqueViolation, *CONFLICTS):
            session.rollback()
            if attempt + 1 == _ATTEMPTS:
                raise
            continue
        if not taken:
            raise unfinished()
        return WriterPlace(number, writer_id)
    raise AssertionError("unreachable")

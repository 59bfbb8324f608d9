"""Copying a SQLite store into a PostgreSQL database, row by row, while its service runs or not.

A pass holds one read transaction on the source, so that it sees the store at one
moment, between two commits. It walks every table on both sides in the order of
its key and makes the destination's rows those of the source: what is missing is
inserted, what differs is replaced, what is too much is deleted. So it does not
matter what a pass finds there: nothing, what a killed pass has left, or the
store as it stood at an earlier pass. Then both sides are read once more and
hashed.

Nothing is translated that a client holds: ids, revisions, incarnations, commit
positions, request ids with their responses, leases and sequences are the rows'
own. Only the numbers by which SQLite chains change records and finds keys stay
behind (``tables``). What is encrypted stays so, and the keys with it, wrapped.

Until a pass with the source's service stopped has found both sides equal, no
service serves the destination (``history_service.storage.postgres.copies``).
"""

from __future__ import annotations


class CopyError(Exception):
    """A store cannot be copied, or the copy differs; the text says why and what to do."""

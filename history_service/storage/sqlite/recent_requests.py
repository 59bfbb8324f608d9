"""Which request ids are certainly new.

Every write asks whether its request id was used before, and nearly none was.
Request ids made by the clients are ordered by time (``ids.new_ordered_id``), so
the answer is mostly at hand: an id beyond all those recorded so far is new. Ids
of another kind are answered by a look-up, as if this were not here.
"""

from __future__ import annotations

KEPT = 4096
"""Ids remembered at least; as many again gather before the least are forgotten."""


class RecentRequests:
    """The greatest recorded request ids, of all tenants together.

    What holds: every recorded id that is greater than the floor is remembered.
    Ids remembered beyond that (of writes taken back, of responses expired) cost
    a look-up and nothing else.
    """

    def __init__(self, greatest: bytes | None) -> None:
        """Remember nothing yet.

        Args:
            greatest: The greatest id recorded so far; None where there is none.
        """
        self._floor = greatest or b""
        self._ids: set[bytes] = set()

    def surely_new(self, request_id: bytes) -> bool:
        """Tell whether no tenant has used an id; false may mean that it is not known."""
        return request_id > self._floor and request_id not in self._ids

    def add(self, request_id: bytes) -> None:
        """Note an id that is being recorded."""
        if request_id > self._floor:
            self._ids.add(request_id)
            if len(self._ids) > 2 * KEPT:
                ordered = sorted(self._ids)
                self._floor = ordered[-KEPT - 1]
                self._ids = set(ordered[-KEPT:])

"""The sessions that a process has used last, so that the next object for one of them finds what was read."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final
from weakref import WeakKeyDictionary

from antiphon_client.adapters.session_branch import SessionBranch
from antiphon_client.history import AsyncHistoryClient, HistoryClient

SESSIONS_HELD: Final = 256
BYTES_HELD: Final = 32 * 2**20
"""Of each client, so many sessions are held, up to so many bytes of encoded records; the last one always."""


class SessionBranches:
    """The sessions' branches of one client, the latest used last. Safe to use from several threads."""

    def __init__(self) -> None:
        self._branches: OrderedDict[str, SessionBranch] = OrderedDict()
        self._lock = threading.Lock()

    def branch(self, external_key: str) -> SessionBranch:
        """Return the branch with a key; drop those that were not used for long, if there is too much."""
        with self._lock:
            branch = self._branches.pop(external_key, None) or SessionBranch(external_key)
            self._branches[external_key] = branch
            sizes = [held.held_bytes for held in self._branches.values()]
            used = sum(sizes)
            while len(self._branches) > SESSIONS_HELD or (used > BYTES_HELD and len(self._branches) > 1):
                used -= self._branches.popitem(last=False)[1].held_bytes
            return branch


_OF_CLIENTS: WeakKeyDictionary[HistoryClient | AsyncHistoryClient, SessionBranches] = WeakKeyDictionary()
_LOCK = threading.Lock()


def branches_of(history: HistoryClient | AsyncHistoryClient) -> SessionBranches:
    """Return the sessions' branches of a client; they live as long as it does."""
    with _LOCK:
        return _OF_CLIENTS.setdefault(history, SessionBranches())

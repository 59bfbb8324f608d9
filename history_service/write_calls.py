"""What the servicers tell the store about a write, so that it happens once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache

from google.protobuf.descriptor import Descriptor

from antiphon_client.edge.call import current_call
from history_service import encoding
from history_service.domain.writes import EXPIRED_AT_ONCE, WriteCall

REPLAY_RETENTION = 24 * 3600 * 10**9
"""How long a request id is remembered at least, in nanoseconds."""
_WRITES_PER_CLEANUP = EXPIRED_AT_ONCE // 2
"""Fewer than one cleanup forgets, so that a backlog shrinks."""


class WriteCalls:
    """Makes the ``WriteCall`` of each write, and has old responses forgotten now and then."""

    def __init__(self, clock: Callable[[], int]) -> None:
        """Set up; ``clock`` returns nanoseconds since the epoch."""
        self._clock = clock
        self._recorded = 0

    def make(self, request_id: str, response: Descriptor, *, identity: bytes | None = None) -> WriteCall:
        """Describe the write that the current call asks for.

        ``identity`` stands for the request's bytes where the request is no one message.
        """
        call = current_call()
        request_bytes = call.request_bytes if identity is None else identity
        request_hash = b""
        expire_before = None
        now = self._clock()
        if request_id:
            request_hash = hashlib.sha256(call.method.encode() + b"\0" + request_bytes).digest()
            self._recorded += 1
            if self._recorded % _WRITES_PER_CLEANUP == 1:
                expire_before = now - REPLAY_RETENTION
        return WriteCall(call.tenant_id, request_id, request_hash, _replay_mark(response), now, expire_before)


_replay_mark = lru_cache(maxsize=None)(encoding.replay_mark)

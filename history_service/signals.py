"""Waking those who wait for something to be committed, within one process.

A signal says "look again" and nothing else: it carries no data, is never
queued, and many that come while a listener is busy are one. So a listener that
stalls costs whoever notifies it one flag, whatever happens meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Any


class Signal:
    """One listener's flag."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def set(self) -> None:
        """Say that something was committed."""
        self._event.set()

    def clear(self) -> None:
        """Forget what came so far; done before looking, so that nothing is missed between."""
        self._event.clear()

    async def wait(self, seconds: float) -> bool:
        """Wait for something, ``seconds`` at most; tell whether it came."""
        try:
            async with asyncio.timeout(seconds):
                await self._event.wait()
        except TimeoutError:
            return False
        return True


class Signals:
    """The listeners by what they listen to. Belongs to one event loop."""

    def __init__(self) -> None:
        self._listeners: dict[Hashable, set[Signal]] = {}

    def notify(self, address: Hashable) -> None:
        """Wake the listeners of an address. Cost: one look-up where there is none."""
        for signal in self._listeners.get(address, ()):
            signal.set()

    def addresses(self) -> list[Any]:
        """Return every address that has a listener."""
        return list(self._listeners)

    @contextmanager
    def listening(self, address: Hashable) -> Iterator[Signal]:
        """Listen to an address until the context ends."""
        signal = Signal()
        self._listeners.setdefault(address, set()).add(signal)
        try:
            yield signal
        finally:
            listeners = self._listeners[address]
            listeners.discard(signal)
            if not listeners:
                del self._listeners[address]

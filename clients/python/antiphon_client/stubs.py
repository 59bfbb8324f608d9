"""Generated stubs whose calls are made ready one by one.

A generated stub makes all calls of its service ready at once. Of a client that is made
for one call that is a good part of the time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import methodcaller
from types import MappingProxyType
from typing import Any, TypeVar

T = TypeVar("T")

_Recipe = Callable[[Any], Any]
"""Makes a call ready on a channel."""


class ChannelClosedError(ValueError):
    """A call was to be made ready on a channel that was closed."""


class ChannelLife:
    """Whether a channel was closed: one for all clients of the channel. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_closed = False

    @property
    def is_closed(self) -> bool:
        """Whether the channel is closed or about to be."""
        return self._is_closed

    def end(self) -> None:
        """Say that the channel is about to be closed; nothing is made on it from here on."""
        with self._lock:
            self._is_closed = True

    def make(self, maker: Callable[[], T]) -> T:
        """Return what is made on the channel, which is not closed meanwhile.

        gRPC ends the process where a blocking call is made ready on a closed channel, and
        leaves open whether two threads may make calls ready at once.

        Raises:
            ChannelClosedError: It was closed before.
        """
        with self._lock:
            if self._is_closed:
                raise ChannelClosedError
            return maker()


class StubOnDemand:
    """The calls of a generated stub on a channel, each made ready when it is first asked for.

    Safe to use from several threads.

    Args:
        stub_class: The generated class.
        channel: The channel, blocking or of asyncio.
        life: Whether the channel was closed.
    """

    def __init__(self, stub_class: type, channel: Any, life: ChannelLife) -> None:
        package = stub_class.__module__.rpartition(".")[0]
        self.service = f"{package}.{stub_class.__name__.removesuffix('Stub')}"
        """Full name of the service."""
        self._channel = channel
        self._life = life
        self._recipes = _recipes_of(stub_class)

    def __getattr__(self, method: str) -> Any:
        """Return the call of a method.

        Raises:
            AttributeError: The service has no method of the name.
            ChannelClosedError: The channel was closed before the call was made ready.
        """
        if method.startswith("_"):
            # Asked for while a copy is made, which has nothing yet.
            raise AttributeError(method, name=method, obj=self)
        recipe = self._recipes.get(method)
        if recipe is None:
            raise AttributeError(f"{self.service} has no method {method!r}", name=method, obj=self)
        call = self._life.make(lambda: recipe(self._channel))
        # It is found before this method from now on.
        setattr(self, method, call)
        return call


class _Recorder:
    """Takes a channel's place while a stub is made, and gives recipes in place of calls."""

    def __getattr__(self, kind: str) -> Callable[..., _Recipe]:
        def record(*args: Any, **kwargs: Any) -> _Recipe:
            return methodcaller(kind, *args, **kwargs)

        return record


@lru_cache(maxsize=16)
def _recipes_of(stub_class: type) -> Mapping[str, _Recipe]:
    """Return the recipe of each of a stub's methods, by its name."""
    return MappingProxyType(vars(stub_class(_Recorder())))

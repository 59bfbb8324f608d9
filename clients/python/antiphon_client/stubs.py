"""Generated stubs whose calls are made ready one by one.

A generated stub makes all calls of its service ready at once. Of a client that is made
for one call that is a good part of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import methodcaller
from typing import Any

_Recipe = Callable[[Any], Any]
"""Makes a call ready on a channel."""


class StubOnDemand:
    """The calls of a generated stub on a channel, each made ready when it is first asked for.

    Safe to use from several threads, as far as the channel is.

    Args:
        stub_class: The generated class.
        channel: The channel, blocking or of asyncio.
    """

    def __init__(self, stub_class: type, channel: Any) -> None:
        package = stub_class.__module__.rpartition(".")[0]
        self.service = f"{package}.{stub_class.__name__.removesuffix('Stub')}"
        """Full name of the service."""
        self._channel = channel
        self._recipes = _recipes_of(stub_class)

    def __getattr__(self, method: str) -> Any:
        """Return the call of a method; raises AttributeError where the service has none of the name."""
        if method.startswith("_"):
            # Asked for while a copy is made, which has nothing yet.
            raise AttributeError(method, name=method, obj=self)
        recipe = self._recipes.get(method)
        if recipe is None:
            raise AttributeError(f"{self.service} has no method {method!r}", name=method, obj=self)
        call = recipe(self._channel)
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
    recipes: dict[str, _Recipe] = vars(stub_class(_Recorder()))
    return recipes

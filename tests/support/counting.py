"""Counting the steps of work, so that its growth is told without a clock."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any


def steps_of(work: Callable[[], object]) -> int:
    """Return the steps of work in this thread: lines run, each time for a comprehension's, and calls."""
    steps = 0

    def step(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal steps
        steps += 1
        return step

    def call(frame: FrameType, event: str, _: Any) -> None:
        nonlocal steps
        steps += event == "c_call"

    former = sys.gettrace(), sys.getprofile()
    sys.settrace(step)
    sys.setprofile(call)
    try:
        work()
    finally:
        sys.setprofile(former[1])
        sys.settrace(former[0])
    return steps


def growth(work_at: Callable[[int], Callable[[], object]], size: int) -> float:
    """Return how many times the steps of four times a size are those of the size: 4 where they are linear."""
    # The first time fills caches that are no part of it.
    work_at(size)()
    return steps_of(work_at(4 * size)) / steps_of(work_at(size))


class CountedList(list[Any]):
    """A list that counts the items it hands out or looks through."""

    seen = 0

    def __iter__(self) -> Iterator[Any]:
        for item in list.__iter__(self):
            type(self).seen += 1
            yield item

    def __contains__(self, item: object) -> bool:
        type(self).seen += len(self)
        return list.__contains__(self, item)


class CountedText(str):
    """A text that counts how often its hash is asked for."""

    hashed = 0

    def __hash__(self) -> int:
        type(self).hashed += 1
        return str.__hash__(self)


class _AnyDict(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, builtins.dict)


class CountedDict(dict[Any, Any], metaclass=_AnyDict):
    """Stands for ``dict`` in a module, and counts the members that it copies."""

    copied = 0

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        type(self).copied += len(self)

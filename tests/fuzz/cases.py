"""The series of requests for one service: endless, and the same for the same seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle
from random import Random

from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor

from tests.fuzz.fields import Path, path_name, paths_of
from tests.fuzz.generate import Generator
from tests.fuzz.mutate import mutate
from tests.fuzz.values import World

_GOOD, _HOSTILE, _DAMAGED = "good", "hostile", "damaged"
_SHARES = {_GOOD: 45, _HOSTILE: 30, _DAMAGED: 25}
_AIMED = 0.4
"""Share of the good requests that aim at a field: many fields spoil a request by being there."""


@dataclass(frozen=True, slots=True)
class Case:
    """One request.

    Attributes:
        number: Its place in the series.
        method: The RPC it is for.
        kind: How it was made.
        focus: The field it aims at; empty for none.
        body: Its bytes.
    """

    number: int
    method: MethodDescriptor
    kind: str
    focus: str
    body: bytes

    def __str__(self) -> str:
        """Say enough to find and repeat it."""
        return f"case {self.number}: {self.method.name}, {self.kind}, {self.focus}, {self.body[:200].hex()}"


def cases(service: ServiceDescriptor, world: World, seed: int) -> Iterator[Case]:
    """Yield requests for a service's methods, every field of every request in turn.

    A method with more fields comes more often. ``world`` may change between
    cases.
    """
    rng = Random(f"{service.full_name}:{seed}")
    generator = Generator(rng, world)
    focuses = {method.name: _shuffled_cycle(rng, paths_of(method)) for method in service.methods}
    weights = [20 + len(paths_of(method)) for method in service.methods]
    number = 0
    while True:
        method = rng.choices(service.methods, weights)[0]
        kind = rng.choices(list(_SHARES), list(_SHARES.values()))[0]
        focus = next(focuses[method.name]) if kind != _GOOD or rng.random() < _AIMED else ()
        request = generator.request(method.input_type, focus, hostile=kind == _HOSTILE)
        body = request.SerializeToString()
        if kind == _DAMAGED:
            name, body = mutate(rng, request)
            kind = f"{_DAMAGED} ({name})"
        yield Case(number, method, kind, path_name(focus), body)
        number += 1


def _shuffled_cycle(rng: Random, paths: list[Path]) -> Iterator[Path]:
    # A request without fields is aimed at nowhere.
    shuffled = list(paths) or [()]
    rng.shuffle(shuffled)
    return cycle(shuffled)

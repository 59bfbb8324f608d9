"""Sparse order keys: room is always made, order is always kept."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from hypothesis import given
from hypothesis import strategies as st

from history_service.domain.order_keys import GAP, SYSTEM_KEY, between, make_room


class Keys:
    """Keys in use, ascending, and how many were given anew."""

    def __init__(self, keys: list[int]) -> None:
        self.keys = keys
        self.relabelled = 0

    def in_interval(self, low: int, high: int) -> list[int]:
        return self.keys[bisect_left(self.keys, low) : bisect_right(self.keys, high)]

    def insert_after(self, position: int) -> None:
        """Insert behind the key at a position, -1 for the beginning."""
        low = self.keys[position] if position >= 0 else SYSTEM_KEY
        if position == len(self.keys) - 1:
            self.keys.append(low + GAP)
            return
        key = between(low, self.keys[position + 1])
        if key is None:
            room = make_room(low, self.in_interval)
            self.relabelled += len(room.new_keys)
            self.keys = [room.moved(key) for key in self.keys]
            low = room.moved(low)
            key = between(low, self.keys[position + 1])
            assert key is not None
        self.keys.insert(position + 1, key)


def check(keys: list[int]) -> None:
    assert keys == sorted(set(keys))
    assert not keys or keys[0] > SYSTEM_KEY


@given(st.integers(0, 5), st.integers(1, 5), st.lists(st.integers(0, 60), max_size=120))
def test_any_insertions_keep_the_order(count: int, spacing: int, places: list[int]) -> None:
    keys = Keys([spacing * (n + 1) for n in range(count)])
    for place in places:
        keys.insert_after(place % (len(keys.keys) + 1) - 1)
        check(keys.keys)


def test_many_insertions_at_one_place_change_few_keys() -> None:
    for place in (-1, 0, 500):
        keys = Keys([GAP * (n + 1) for n in range(1000)])
        insertions = 5000
        for _ in range(insertions):
            keys.insert_after(place)
        check(keys.keys)
        assert keys.relabelled > 0
        assert keys.relabelled / insertions < 40


def test_the_system_records_key_is_never_given_anew() -> None:
    room = make_room(1, Keys([SYSTEM_KEY, 1, 2]).in_interval)
    assert room.new_keys.keys() == {1, 2}
    assert room.moved(SYSTEM_KEY) == SYSTEM_KEY < room.moved(1) - 1 < room.moved(2) - 2


def test_there_is_a_key_between_unless_they_are_neighbours() -> None:
    assert between(1, 3) == 2
    assert between(1, 2) is None
    assert between(0, 1) is None

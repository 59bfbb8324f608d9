"""What goes wrong in a scenario."""

from __future__ import annotations


class ScenarioError(Exception):
    """The scenario itself is wrong: it says something that the format has not."""


class MismatchError(Exception):
    """An answer is not the one expected.

    Attributes:
        pointer: The JSON pointer of what differs.
    """

    def __init__(self, pointer: str, expected: str, actual: str) -> None:
        """Say where, what was expected, and what came."""
        super().__init__(f"at {pointer or 'the top'}: expected {expected}, got {actual}")
        self.pointer = pointer

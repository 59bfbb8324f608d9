"""A bar for what takes long, on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


@contextmanager
def counted(what: str, total: int) -> Iterator[Callable[[], int]]:
    """Show how many of a number are done; give what is called after each, which returns how many."""
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(what, total=total)

        def advance() -> int:
            progress.advance(task)
            return int(progress.tasks[0].completed)

        yield advance

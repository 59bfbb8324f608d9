"""The help of commands: their documentation as flowing text, and how they end."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import typer

_EXIT_CODES = "Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted."
_OWN_CODES = "Exit codes:"


def register(group: typer.Typer, name: str, function: Callable[..., Any], examples: str) -> None:
    """Add a command to a group.

    Its help is the function's documentation, a line a paragraph, so that the
    terminal's width alone decides where lines end; the examples follow, and the
    exit codes where the examples do not end with codes of their own.
    """
    epilog = examples if _OWN_CODES in examples else f"{examples}\n{_EXIT_CODES}\n"
    group.command(name, help=_flowing(inspect.getdoc(function) or ""), epilog=epilog)(function)


def _flowing(text: str) -> str:
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))

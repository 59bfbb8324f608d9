"""Texts that a command is given, exactly as they stand, line ends included."""

from __future__ import annotations

import sys
from pathlib import Path

_STANDARD_INPUT = "-"


def text_or_input(text: str) -> str:
    """Return a text, or for ``-`` what standard input holds; raises as :func:`text_of_file`."""
    return text_of_file(Path(text)) if text == _STANDARD_INPUT else text


def text_of_file(path: Path) -> str:
    """Return the text of a file, of standard input for ``-``.

    Raises:
        OSError: It cannot be read.
        ValueError: It is not UTF-8.
    """
    if str(path) != _STANDARD_INPUT:
        return _decoded(path.read_bytes(), str(path))
    if sys.stdin is None:  # So Python says that a process was started without one.
        raise OSError("standard input is closed")
    return _decoded(sys.stdin.buffer.read(), "standard input")


def _decoded(content: bytes, name: str) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{name}: {error}") from None

"""The file of master keys that a store encrypts with.

One key a line, its name and 64 hexadecimal digits; ``#`` begins a comment. The
first key is the active one, which new keys are wrapped with; the others open
what was wrapped before. Only the file's owner may read it.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
import tempfile
from pathlib import Path
from typing import NamedTuple

KEY_BYTES = 32
"""Bytes of a master key: AES-256."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_DIGITS = re.compile(r"[0-9a-fA-F]{64}")
_HEADER = (
    "# Master keys of an encrypted message history. The first one is active.\n"
    "# Whoever has this file can read the store; without it nobody can.\n"
)


class KeyFileError(ValueError):
    """A key file is missing, is not what it should be, or others may read it; its text has no key."""


class NamedKey(NamedTuple):
    """One master key."""

    name: str
    secret: bytes

    def __repr__(self) -> str:
        return f"NamedKey({self.name!r})"


def read_key_file(path: str) -> list[NamedKey]:
    """Read the keys of a file, the active one first.

    Raises:
        KeyFileError: It cannot be read, is no regular file, is open to the
            group or others, or a line of it is wrong.
    """
    return _parse(path, _read_private(path))


def add_key(path: str, name: str) -> None:
    """Make a random key and put it first in a file, which is made where there is none, with mode 0600.

    The file is replaced as a whole: whoever reads it sees it with the key or without.

    Raises:
        KeyFileError: The name is malformed or taken, or the file is wrong already.
    """
    if _NAME.fullmatch(name) is None:
        raise KeyFileError(
            f"{name!r} is no name of a key: 1 to 64 letters, digits, '.', '_' or '-', no sign in front"
        )
    line = f"{name} {secrets.token_hex(KEY_BYTES)}\n"
    if not os.path.lexists(path):
        _replace(path, _HEADER + line)
        return
    text = _read_private(path)
    if any(key.name == name for key in _parse(path, text)):
        raise KeyFileError(f"{path} has a key named {name!r} already")
    lines = text.splitlines(keepends=True)
    first = next(number for number, former in enumerate(lines) if _content(former))
    _replace(path, "".join([*lines[:first], line, *lines[first:]]))


def _read_private(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode):
                raise KeyFileError(f"{path} is no regular file")
            if mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise KeyFileError(f"{path} is open to others than its owner: chmod 600 {path}")
            return file.read()
    except OSError as error:
        raise KeyFileError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise KeyFileError(f"{path} is not a file of keys") from None


def _content(line: str) -> str:
    return line.partition("#")[0].strip()


def _parse(path: str, text: str) -> list[NamedKey]:
    keys: list[NamedKey] = []
    for number, line in enumerate(text.splitlines(), start=1):
        fields = _content(line).split()
        if not fields:
            continue
        if len(fields) != 2 or not _NAME.fullmatch(fields[0]) or not _DIGITS.fullmatch(fields[1]):
            raise KeyFileError(f"{path}, line {number}: not a name and {2 * KEY_BYTES} hexadecimal digits")
        key = NamedKey(fields[0], bytes.fromhex(fields[1]))
        if any(key.name == other.name or key.secret == other.secret for other in keys):
            raise KeyFileError(f"{path}, line {number}: the key {key.name!r} stands in the file twice")
        keys.append(key)
    if not keys:
        raise KeyFileError(f"{path} has no keys")
    return keys


def _replace(path: str, text: str) -> None:
    """Write a file beside the place and move it there; temporary files have mode 0600."""
    target = Path(path).resolve()
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with open(descriptor, "w", encoding="ascii") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        _sync_directory(target.parent)
    except OSError as error:
        raise KeyFileError(f"cannot write {path}: {error.strerror}") from None


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

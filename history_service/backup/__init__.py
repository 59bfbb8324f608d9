"""Backups of a SQLite store: made while the service runs, checked, and restored.

A backup is a folder with two files: the database, and a manifest that names its
size, its SHA-256, its schema and what it holds. The folder gets its name last,
so that whatever has the name is whole.
"""

from __future__ import annotations


class BackupError(Exception):
    """A backup cannot be made, is not whole, or cannot be restored; the text says why."""

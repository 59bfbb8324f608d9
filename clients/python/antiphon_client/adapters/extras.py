"""What is said where a framework is not installed."""

from __future__ import annotations


def missing_extra(extra: str, error: ImportError) -> ImportError:
    """Return the error to raise instead of ``error``; it names the extra that brings the framework."""
    text = f"this module needs the extra {extra!r}: pip install 'antiphon[{extra}]' ({error})"
    return ImportError(text, name=error.name, path=error.path)

"""Where the vocabularies of the exact token counters are on this machine, if they are anywhere."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest


def vocabulary_folder() -> Path:
    """Return a folder of vocabularies; the test is skipped where there is none.

    The package ``bpe-openai`` ships the published files; it is not imported.
    """
    pytest.importorskip("tiktoken", reason="needs the extra antiphon[tokens]")
    found = importlib.util.find_spec("bpe_openai")
    if found is None or found.origin is None:
        pytest.skip("no vocabulary on this machine: the package bpe-openai, which ships them, is missing")
    return Path(found.origin).parent / "data"

"""The counters that a server has."""

from __future__ import annotations

import threading
from pathlib import Path

from compiler_service.tokens.counter import ESTIMATE, Estimate, TokenCounter
from compiler_service.tokens.encodings import (
    ENCODINGS,
    EncodingCounter,
    VocabularyError,
    check_installed,
    find_vocabulary,
    read_vocabulary,
)


class Counters:
    """Counters by name. Safe to use from several threads.

    An exact one is made when it is first asked for: that takes about a second
    and 50 MB of memory.
    """

    def __init__(self, folder: Path | None = None) -> None:
        """Look for vocabularies in a folder; None: there is the estimate only.

        Raises:
            VocabularyError: The folder holds none, one is not the published one,
                or the package that reads them is not installed.
        """
        self._files: dict[str, Path] = {}
        self._made: dict[str, TokenCounter] = {ESTIMATE: Estimate()}
        self._lock = threading.Lock()
        if folder is None:
            return
        check_installed()
        for encoding in ENCODINGS.values():
            path = find_vocabulary(encoding, folder)
            if path is not None:
                read_vocabulary(encoding, path)
                self._files[encoding.name] = path
        if not self._files:
            raise VocabularyError(f"{folder} holds no vocabulary such as {next(iter(ENCODINGS))}.tiktoken")

    @property
    def names(self) -> list[str]:
        """The names of the counters there are, the estimate's first."""
        return [ESTIMATE, *self._files]

    def __contains__(self, name: str) -> bool:
        """Tell whether there is a counter of a name."""
        return name == ESTIMATE or name in self._files

    def get(self, name: str) -> TokenCounter:
        """Return the counter of a name that is among ``names``.

        Raises:
            VocabularyError: Its vocabulary is not any more what it was.
        """
        with self._lock:
            counter = self._made.get(name)
            if counter is None:
                encoding = ENCODINGS[name]
                counter = EncodingCounter(encoding, read_vocabulary(encoding, self._files[name]))
                self._made[name] = counter
            return counter


ESTIMATE_ONLY = Counters()
"""The counters of a server without vocabularies."""

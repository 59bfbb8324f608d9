"""Branches as files: ``docs/branch-file.md``.

``export`` writes the newest version of the format; ``reading`` reads it and
every earlier one, into a ``spool`` that the store takes it from.
"""

"""FOLDED: system text, retrieved context and action results fold into user turns (ADR-0007 D2).

The history is compiled stretch by stretch (``stretch``), so that what was
compiled before can be used again: nothing in a settled stretch depends on what
stands outside of it.
"""

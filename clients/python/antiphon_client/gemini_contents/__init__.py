"""Conversations in the format of Gemini's generateContent, as records for a branch.

The way back is the compiler: its projection to ``gemini.generate_content``
gives an imported conversation back JSON-equal, but for what it reports.
"""

from __future__ import annotations

from antiphon_client.gemini_contents.importer import METADATA_KEY, import_contents
from antiphon_client.importing.conversation import ImportedConversation, ImportNote, NoteKind

__all__ = ["METADATA_KEY", "ImportNote", "ImportedConversation", "NoteKind", "import_contents"]

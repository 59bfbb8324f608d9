"""Conversations in the format of Anthropic's Messages API, as records for a branch.

The way back is the compiler: its projection to ``anthropic.messages`` gives an
imported conversation back JSON-equal, but for what it reports.
"""

from __future__ import annotations

from antiphon_client.anthropic_messages.importer import METADATA_KEY, import_messages
from antiphon_client.importing.conversation import ImportedConversation, ImportNote, NoteKind

__all__ = ["METADATA_KEY", "ImportNote", "ImportedConversation", "NoteKind", "import_messages"]

"""OpenAI chat conversations in and out, without loss.

`import_messages` turns a ``messages`` array into records for a branch;
`export_messages` turns a branch's records into a ``messages`` array. What was
imported comes back JSON-equal.
"""

from __future__ import annotations

from antiphon_client.openai_chat.conversation import ImportedConversation, ImportNote, NoteKind
from antiphon_client.openai_chat.exporter import export_messages
from antiphon_client.openai_chat.importer import import_messages
from antiphon_client.openai_chat.marks import METADATA_KEY

__all__ = [
    "METADATA_KEY",
    "ImportNote",
    "ImportedConversation",
    "NoteKind",
    "export_messages",
    "import_messages",
]

"""OpenAI chat conversations in and out, without loss.

`import_messages` turns a ``messages`` array into records for a branch;
`export_messages` turns a branch's records into a ``messages`` array, and
`export_with_losses` also tells what these cannot say. What was imported comes
back JSON-equal. Keys beside ``messages`` go through a branch's
metadata: `conversation_metadata` and `export_conversation`.
"""

from __future__ import annotations

from antiphon_client.importing.conversation import ImportedConversation, ImportNote, NoteKind
from antiphon_client.openai_chat.exporter import ExportedMessages, export_messages, export_with_losses
from antiphon_client.openai_chat.importer import import_messages
from antiphon_client.openai_chat.losses import ExportLoss, LossKind
from antiphon_client.openai_chat.marks import METADATA_KEY
from antiphon_client.openai_chat.whole import conversation_metadata, export_conversation

__all__ = [
    "METADATA_KEY",
    "ExportLoss",
    "ExportedMessages",
    "ImportNote",
    "ImportedConversation",
    "LossKind",
    "NoteKind",
    "conversation_metadata",
    "export_conversation",
    "export_messages",
    "export_with_losses",
    "import_messages",
]

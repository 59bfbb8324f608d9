"""The importer's own entry in a record's metadata.

Everything an import must remember beside the record's fields stands in one
object under the metadata key ``openai_chat``, absent where there is nothing::

    {
      "role":       the message's role, where the record's kind does not say it:
                    "developer", "function", or "system" on a user's turn
      "position":   index among the conversation's messages of a system record
                    that was not the first message
      "after":      id of the record before that one
      "parts":      true where the content was a list of parts, not text
      "orphan":     true on a result that answered no call
      "function_call": true on a call that was the message's ``function_call``,
                    the form before ``tool_calls``: it has no id, and its result
                    is a message with the role "function"
      "difference": what the record cannot carry (see `importing.residue`)
    }
"""

from __future__ import annotations

from typing import Any, Final

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.importing.entries import read_entry, write_entry

METADATA_KEY: Final = "openai_chat"

ROLE: Final = "role"
POSITION: Final = "position"
AFTER: Final = "after"
PARTS: Final = "parts"
ORPHAN: Final = "orphan"
FUNCTION_CALL: Final = "function_call"
DIFFERENCE: Final = "difference"


def read_marks(message: pb.Message) -> dict[str, Any]:
    """Return the importer's entry of a record; {} where there is none."""
    return read_entry(message, METADATA_KEY)


def write_marks(message: pb.Message, marks: dict[str, Any]) -> None:
    """Set the importer's entry of a record that has no other metadata.

    Raises:
        JsonTextError: The marks hold what JSON text cannot.
    """
    write_entry(message, METADATA_KEY, marks)

"""The importer's own entry in a record's metadata.

Everything an import must remember beside the record's fields stands in one
object under the metadata key ``openai_chat``, absent where there is nothing::

    {
      "role":       the message's role, where the record's kind does not say it:
                    "developer", "function", or "system" on a user's turn
      "position":   index among the conversation's messages of a system record
                    that was not the first message
      "parts":      true where the content was a list of parts, not text
      "orphan":     true on a result that answered no call
      "difference": what the record cannot carry (see `residue`)
    }
"""

from __future__ import annotations

from typing import Any, Final

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.json_text import dump_json_text, parse_json_text

METADATA_KEY: Final = "openai_chat"

ROLE: Final = "role"
POSITION: Final = "position"
PARTS: Final = "parts"
ORPHAN: Final = "orphan"
DIFFERENCE: Final = "difference"


def read_marks(message: pb.Message) -> dict[str, Any]:
    """Return the importer's entry of a record; {} where there is none."""
    if not message.metadata_json:
        return {}
    marks = parse_json_text(message.metadata_json).get(METADATA_KEY)
    return marks if isinstance(marks, dict) else {}


def write_marks(message: pb.Message, marks: dict[str, Any]) -> None:
    """Set the importer's entry of a record that has no other metadata.

    Raises:
        JsonTextError: The marks hold what JSON text cannot.
    """
    message.metadata_json = dump_json_text({METADATA_KEY: marks}) if marks else ""

"""An importer's own entry in a record's metadata: one object under the format's key."""

from __future__ import annotations

from typing import Any

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.json_text import dump_json_text, parse_json_text


def read_entry(message: pb.Message, key: str) -> dict[str, Any]:
    """Return an importer's entry of a record; {} where there is none."""
    if not message.metadata_json:
        return {}
    entry = parse_json_text(message.metadata_json).get(key)
    return entry if isinstance(entry, dict) else {}


def write_entry(message: pb.Message, key: str, entry: dict[str, Any]) -> None:
    """Set an importer's entry of a record that has no other metadata.

    Raises:
        JsonTextError: The entry holds what JSON text cannot.
    """
    message.metadata_json = dump_json_text({key: entry}) if entry else ""

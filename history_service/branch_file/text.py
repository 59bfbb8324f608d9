"""Records as lines of a branch file, and back.

A branch and its messages stand in a file as ProtoJSON with the protos' own
field names. Nothing is lost by that: every JSON text of a message is a string
to ProtoJSON, presence is kept, and times have nanoseconds.
"""

from __future__ import annotations

from typing import Any

import orjson
from google.protobuf.json_format import Error as JsonFormatError
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message import Message as ProtoMessage

from antiphon.message.v1 import message_pb2 as message_pb
from antiphon_client.branch_file import LINE_END
from antiphon_client.edge.unknown_fields import discard_unknown
from antiphon_client.errors import StoreCorruptError
from antiphon_client.json_text import JsonTextError, parse_json_text
from history_service.domain.prepared import decode, id_of

# What some readers take for the end of a line. In JSON it stands in strings only, so bytes can be replaced.
_LINE_BREAKS = ((b"\xc2\x85", b"\\u0085"), (b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"))


class LineError(ValueError):
    """A line is not what it should be; the text says why."""


def line_of(record: dict[str, Any]) -> bytes:
    """Return a record as a line, its end included."""
    line = orjson.dumps(record)
    for raw, escaped in _LINE_BREAKS:
        if raw in line:
            line = line.replace(raw, escaped)
    return line + LINE_END


def record_of(line: bytes) -> tuple[str, dict[str, Any]]:
    """Return what kind of record a line is, by its first key, and the record.

    Raises:
        LineError: The line is no JSON object, or an empty one.
    """
    # A JSON reader would take blanks around it, and with them other line ends.
    if not (line.startswith(b"{") and line.endswith(b"}")):
        raise LineError("not a JSON object that fills the line")
    try:
        record = parse_json_text(line.decode())
    except UnicodeDecodeError as error:
        raise LineError(f"not UTF-8: byte {error.start}") from None
    except JsonTextError as error:
        raise LineError(f"not JSON: {error}") from None
    kind = next(iter(record), None) if isinstance(record, dict) else None
    if kind is None:
        raise LineError("an empty object")
    return kind, record


def message_line(body: bytes) -> bytes:
    """Return a stored message as a line.

    Raises:
        StoreCorruptError: It cannot be decoded, or has fields that this release does not know.
    """
    message = decode(body)
    if discard_unknown(message):
        raise StoreCorruptError(
            f"message {id_of(body)} has fields that this release does not know; "
            "export it with the release that stored it"
        )
    return line_of({"message": as_json(message)})


def as_json(message: ProtoMessage) -> dict[str, Any]:
    """Return a protobuf message in ProtoJSON, with the proto's field names."""
    fields: dict[str, Any] = MessageToDict(message, preserving_proto_field_name=True)
    return fields


def message_of(fields: Any) -> message_pb.Message:
    """Return the message of a line.

    Raises:
        LineError: It is no ProtoJSON of a message.
    """
    message = message_pb.Message()
    fill(message, fields, "message", lenient=False)
    return message


def fill(message: ProtoMessage, fields: Any, name: str, *, lenient: bool) -> None:
    """Read ProtoJSON into an empty message; ``lenient`` skips fields that this release does not know.

    Raises:
        LineError: It is no ProtoJSON of such a message.
    """
    if not isinstance(fields, dict):
        raise LineError(f"{name} is not an object")
    try:
        ParseDict(fields, message, ignore_unknown_fields=lenient)
    except JsonFormatError as error:
        raise LineError(f"{name}: {error}") from None
    except (AttributeError, LookupError, TypeError, ValueError):
        # ProtoJSON's reader meets some wrong types unprepared.
        raise LineError(f"{name}: a field is of another type") from None

"""Records as lines of a branch file, and back.

A branch and its messages stand in a file as ProtoJSON with the protos' own
field names. Nothing is lost by that: every JSON text of a message is a string
to ProtoJSON, presence is kept, and times have nanoseconds.
"""

from __future__ import annotations

from typing import Any

import orjson
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message as ProtoMessage

from antiphon_client.branch_file import LINE_END
from antiphon_client.edge.unknown_fields import discard_unknown
from antiphon_client.errors import FieldInvalidError, StoreCorruptError
from antiphon_client.json_text import JsonTextError, parse_json_text
from history_service.domain.prepared import decode, id_of

# What some readers take for the end of a line. In JSON it stands in strings only, so bytes can be replaced.
_LINE_BREAKS = ((b"\xc2\x85", b"\\u0085"), (b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"))

_LINE = "data"
"""The field of a line that is wrong as a whole: the request's, as the line has none."""


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
        FieldInvalidError: The line is no JSON object, or an empty one.
    """
    # A JSON reader would take blanks around it, and with them other line ends.
    if not (line.startswith(b"{") and line.endswith(b"}")):
        note = " (it ends in CR; lines end in LF only)" if line.endswith(b"\r") else ""
        raise _not(f"a JSON object that fills the line{note}")
    try:
        record = parse_json_text(line.decode())
    except UnicodeDecodeError as error:
        raise _not(f"UTF-8: byte {error.start}") from None
    except JsonTextError as error:
        raise FieldInvalidError.of(_LINE, str(error)) from None
    # Text between braces that is JSON is an object.
    kind = next(iter(record), None)
    if kind is None:
        raise _not("a record: an empty object")
    return kind, record


def _not(what: str) -> FieldInvalidError:
    return FieldInvalidError.of(_LINE, f"not {what}")


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

"""Reading ProtoJSON strictly, into the messages of this contract.

protobuf's own reader is made to be generous: it takes ``+99:99`` for an offset,
1.0 and "1e2" for integers, "3" for an enum's value and two spellings of one
field beside each other, and it tells of some faults in the words of the runtime
it is written in. Here every field is what its type says, and whatever is wrong
is told by its path.

Of what ProtoJSON leaves open, both spellings of a field's name are read (each
field once), null is an absent field, a 64-bit integer may be a number or text,
an enum's value its name or its number, and bytes may be in either alphabet of
base64, padded or not.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Final, NoReturn

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message as ProtoMessage
from google.protobuf.timestamp_pb2 import Timestamp

from antiphon_client.errors import FieldInvalidError

_TIME: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?"
    r"(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))",
    re.ASCII,
)
_EPOCH: Final = datetime(1970, 1, 1)
_SECONDS_PER_DAY: Final = 86_400
_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]{0,18}")
_INT64: Final = (-(2**63), 2**63 - 1)
_URL_SAFE_ALPHABET: Final = str.maketrans("-_", "+/")
_NAME: Final = re.compile(r"[A-Za-z0-9_@]{1,64}")


def fill(message: ProtoMessage, value: Any, path: str, *, skip_unknown: bool = False) -> None:
    """Read a JSON value, parsed, into an empty message.

    Args:
        message: The message to fill.
        value: What should be its ProtoJSON.
        path: The message's path in errors.
        skip_unknown: Skip fields that this release does not know, at any depth.

    Raises:
        FieldInvalidError: The value is no ProtoJSON of such a message; names the first field at fault.

    Cost: some 10 µs a text message, else linear in the text.
    """
    if not isinstance(value, dict):
        _refuse(path, "must be an object")
    fields = _fields_by_name(message.DESCRIPTOR)
    given: set[str] = set()
    for name, item in value.items():
        field = fields.get(name)
        if field is None:
            if skip_unknown:
                continue
            refuse_unknown(path, name)
        place = f"{path}.{field.name}"
        if field.name in given:
            _refuse(place, "comes twice, in two spellings")
        given.add(field.name)
        if item is not None:
            _refuse_second_choice(message, field, place)
            _set(message, field, item, place, skip_unknown)


def refuse_unknown(path: str, name: str) -> NoReturn:
    """Refuse a field that is not known.

    Raises:
        FieldInvalidError: Always; names the field where its name is like one of ours.
    """
    if _NAME.fullmatch(name):
        _refuse(f"{path}.{name}" if path else name, "is no field that is known here")
    _refuse(path or "data", "has a field that is not known here")


@cache
def _fields_by_name(descriptor: Descriptor) -> dict[str, FieldDescriptor]:
    return {name: field for field in descriptor.fields for name in (field.name, field.json_name)}


def _refuse_second_choice(message: ProtoMessage, field: FieldDescriptor, path: str) -> None:
    if field.containing_oneof is not None:
        chosen = message.WhichOneof(field.containing_oneof.name)
        if chosen is not None:
            _refuse(path, f"cannot be given beside {chosen}")


def _set(message: ProtoMessage, field: FieldDescriptor, item: Any, path: str, skip_unknown: bool) -> None:
    holder = getattr(message, field.name)
    if field.is_repeated:
        if not isinstance(item, list):
            _refuse(path, "must be an array")
        for index, each in enumerate(item):
            place = f"{path}[{index}]"
            if field.message_type is not None:
                fill(holder.add(), each, place, skip_unknown=skip_unknown)
            else:
                holder.append(_SCALARS[field.type](each, field, place))
    elif field.message_type is None:
        setattr(message, field.name, _SCALARS[field.type](item, field, path))
    else:
        holder.SetInParent()
        if isinstance(holder, Timestamp):
            holder.seconds, holder.nanos = _time(item, path)
        else:
            fill(holder, item, path, skip_unknown=skip_unknown)


def _text(value: Any, _: FieldDescriptor, path: str) -> str:
    if not isinstance(value, str):
        _refuse(path, "must be text")
    return value


def _integer(value: Any, _: FieldDescriptor, path: str) -> int:
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        value = int(value)
    # Compared by type: a boolean is an int in Python.
    if type(value) is not int or not _INT64[0] <= value <= _INT64[1]:
        _refuse(path, "must be an integer of 64 bits")
    return value


def _enum(value: Any, field: FieldDescriptor, path: str) -> int:
    values = _values_of(field)
    # Compared by type: a boolean and a float equal some integer.
    if type(value) not in (str, int) or value not in values:
        _refuse(path, "must be the name of one of the values that are known here")
    return values[value]


@cache
def _values_of(field: FieldDescriptor) -> dict[str | int, int]:
    """Return an enum's values by name and by number.

    protobuf's own tables by number take one of more than 32 bits for its last 32.
    """
    enum: Any = field.enum_type
    numbers: dict[str | int, int] = {}
    for value in enum.values:
        numbers[value.name] = numbers[value.number] = value.number
    return numbers


def _bytes(value: Any, _: FieldDescriptor, path: str) -> bytes:
    if isinstance(value, str) and value.isascii():
        digits = value.translate(_URL_SAFE_ALPHABET).rstrip("=")
        padding = "=" * (-len(digits) % 4)
        try:
            data = base64.b64decode(digits + padding, validate=True)
        except binascii.Error:
            data = b""
        # Only one text stands for some bytes: no bit may be left over, and padding is whole or absent.
        if base64.b64encode(data).decode() == digits + padding and len(value) - len(digits) in (
            0,
            len(padding),
        ):
            return data
    _refuse(path, "must be base64")


def _time(value: Any, path: str) -> tuple[int, int]:
    """Return the seconds and nanoseconds since 1970 of an RFC 3339 time of the years 1 to 9999, in UTC."""
    match = _TIME.fullmatch(value) if isinstance(value, str) else None
    if match is not None:
        *moment, fraction, sign, hours, minutes = match.groups()
        offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
        try:
            year, month, day, hour, minute, second = map(int, moment)
            local = datetime(year, month, day, hour, minute, second)
            since = (local + offset if sign == "-" else local - offset) - _EPOCH
        except (ValueError, OverflowError):
            pass
        else:
            return since.days * _SECONDS_PER_DAY + since.seconds, int((fraction or "").ljust(9, "0"))
    _refuse(path, "must be a time as 2006-01-02T15:04:05.123456789Z, or with an offset such as +01:00")


_SCALARS: Final[dict[int, Callable[[Any, FieldDescriptor, str], Any]]] = {
    FieldDescriptor.TYPE_STRING: _text,
    FieldDescriptor.TYPE_INT64: _integer,
    FieldDescriptor.TYPE_ENUM: _enum,
    FieldDescriptor.TYPE_BYTES: _bytes,
}
"""How the values of the scalar types are read that the contract's records have."""


def _refuse(path: str, description: str) -> NoReturn:
    raise FieldInvalidError.of(path, description)

"""Damage to encoded requests, from a flipped bit to a nest of groups."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from tests.fuzz.fields import fields_of

_MARK = "\x01fuzz mark\x01"
_BAD_UTF8 = [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf5\x80\x80\x80"]
_UNKNOWN = [
    b"\xa0\x06\x01",
    b"\xaa\x06\x03abc",
    b"\xa5\x06\0\0\0\0",
    b"\xa3\x06\xa4\x06",
    b"\xf8\xff\xff\xff\x0f\x01",
]
OVERSIZE = [int(3.5 * 2**20) + 1, 4 * 2**20, 6 * 2**20]


def unknown_field(rng: Random, request: Message) -> bytes:
    """Put an unknown field into a message of the tree."""
    target: Any = rng.choice(_messages(request))
    target.MergeFromString(rng.choice(_UNKNOWN))
    return request.SerializeToString()


def bad_utf8(rng: Random, request: Message) -> bytes:
    """Put bytes that are no UTF-8 into a text field of the tree."""
    places = [
        (message, field)
        for message in _messages(request)
        for field in fields_of(message)
        if field.type == FieldDescriptor.TYPE_STRING
    ]
    if not places:  # A request may hold bytes alone.
        return flipped(rng, request)
    message, field = rng.choice(places)
    if field.is_repeated:
        getattr(message, field.name).append(_MARK)
    else:
        setattr(message, field.name, _MARK)
    bad = rng.choice(_BAD_UTF8)
    return request.SerializeToString().replace(_MARK.encode(), bad + b"x" * (len(_MARK) - len(bad)))


def wrong_wire_type(rng: Random, request: Message) -> bytes:
    """Add a known field number under another wire type."""
    fields = list(fields_of(request))
    if not fields:
        return flipped(rng, request)
    tag = rng.choice(fields).number << 3 | rng.choice([0, 1, 5])
    return request.SerializeToString() + bytes([tag]) + b"\x01" * rng.choice([1, 4, 8])


def twice(rng: Random, request: Message) -> bytes:
    """Send the request's fields twice: scalars win last, lists grow, messages merge."""
    return request.SerializeToString() * 2


def truncated(rng: Random, request: Message) -> bytes:
    """Cut the end off."""
    raw = request.SerializeToString()
    return raw[: rng.randrange(len(raw) + 1)]


def flipped(rng: Random, request: Message) -> bytes:
    """Flip bits."""
    raw = bytearray(request.SerializeToString() or b"\0")
    for _ in range(rng.randrange(1, 5)):
        raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
    return bytes(raw)


def spliced(rng: Random, request: Message) -> bytes:
    """Cut a piece out and put it, or noise, somewhere else."""
    raw = request.SerializeToString()
    start, end, at = sorted(rng.randrange(len(raw) + 1) for _ in range(3))
    piece = raw[start:end] if rng.random() < 0.5 else rng.randbytes(rng.randrange(1, 12))
    return raw[:at] + piece + raw[at:]


def long_varint(rng: Random, request: Message) -> bytes:
    """Spell the first tag in more bytes than it needs."""
    raw = request.SerializeToString()
    return bytes([raw[0] | 0x80, 0x80, 0x00]) + raw[1:] if raw and raw[0] < 0x80 else raw


def nested(rng: Random, request: Message) -> bytes:
    """Open groups, or messages in messages, deeper than any parser follows."""
    depth = rng.choice([5, 99, 101, 1000, 100_000])
    return request.SerializeToString() + rng.choice([b"\xa3\x06", b"\x0b", b"\x0a\x7f"]) * depth


def noise(rng: Random, request: Message) -> bytes:
    """Send random bytes instead."""
    return rng.randbytes(rng.randrange(64))


def oversize(rng: Random, request: Message) -> bytes:
    """Add an unknown field that takes the request over the limit."""
    size = rng.choice(OVERSIZE)
    raw = request.SerializeToString()
    return raw + b"\xaa\x06" + _varint(size) + bytes(size)


MUTATIONS: list[tuple[int, Callable[[Random, Message], bytes]]] = [
    (20, unknown_field),
    (15, bad_utf8),
    (8, wrong_wire_type),
    (10, twice),
    (10, truncated),
    (20, flipped),
    (10, spliced),
    (4, long_varint),
    (8, nested),
    (15, noise),
    (1, oversize),
]
"""Every mutation with its weight."""


def mutate(rng: Random, request: Message) -> tuple[str, bytes]:
    """Damage a request in one way; return the way's name and the bytes."""
    mutation = rng.choices([each for _, each in MUTATIONS], [weight for weight, _ in MUTATIONS])[0]
    return mutation.__name__, mutation(rng, request)


def _messages(message: Message) -> list[Message]:
    found = [message]
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            for child in value if field.is_repeated else [value]:
                found += _messages(child)
    return found


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])

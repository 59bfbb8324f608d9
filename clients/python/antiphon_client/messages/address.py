"""Senders and recipients: normalization and the five states (ADR-0006 D1, repaired).

An address is a role, a member's UUID, a free name, nobody (``UNSET``) or, for
a recipient only, everybody (``None``). The constructor, the dictionary form,
the wire form and the predicates agree on these states.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias
from uuid import UUID

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.messages.role import ROLE_FROM_PROTO, ROLE_TO_PROTO, UNSET, MessageRole

Address: TypeAlias = MessageRole | UUID | str | None
"""A normalized address. ``None`` is broadcast; text is a free name."""

_INVALID: Final = "Invalid sender or recipient"
_ROLES: Final = {role.value: role for role in MessageRole}
# No spelling of a UUID is longer ("urn:uuid:" and braces) or shorter (bare hex).
_UUID_LENGTHS: Final = range(32, 48)


def normalize_recipient(value: Any) -> Address:
    """Return the address that a caller's value means.

    A role stays a role and a UUID a UUID; an object with an ``id`` becomes its
    UUID; a known role's text becomes the role; a UUID in any usual spelling
    becomes the UUID; other non-empty text stays a name; ``None`` is broadcast.

    Raises:
        ValueError: Any other value, the empty text too.
    """
    if value is None or isinstance(value, (MessageRole, UUID)):
        return value
    if isinstance(value, str):
        return _from_text(value)
    identity = getattr(value, "id", None)
    if isinstance(identity, UUID):
        return identity
    if isinstance(identity, str):
        parsed = _parse_uuid(identity)
        if parsed is not None:
            return parsed
    raise ValueError(_INVALID)


def normalize_sender(value: Any) -> MessageRole | UUID | str:
    """Return the sender that a caller's value means; ``None`` is unset.

    Raises:
        ValueError: As `normalize_recipient`.
    """
    address = normalize_recipient(value)
    return UNSET if address is None else address


def address_to_text(address: Address) -> str | None:
    """Return the dictionary form: text, or None for broadcast.

    A free name that spells a role or a UUID reads back as that role or UUID;
    only the wire form tells them apart.
    """
    if address is None:
        return None
    return address.value if isinstance(address, MessageRole) else str(address)


def address_to_proto(address: Address) -> pb.Address | None:
    """Return the wire form; None for unset, which travels as an absent field."""
    if address is UNSET:
        return None
    if address is None:
        return pb.Address(broadcast=pb.Broadcast())
    if isinstance(address, MessageRole):
        return pb.Address(role=ROLE_TO_PROTO[address])
    if isinstance(address, UUID):
        return pb.Address(member_id=str(address))
    return pb.Address(name=address)


def address_from_proto(address: pb.Address) -> Address:
    """Return the address that a wire form means; a name is taken as it stands.

    Raises:
        ValueError: The wire form has no state this code knows, or one that the
            contract refuses.
    """
    state = address.WhichOneof("state")
    if state == "unset":
        return UNSET
    if state == "broadcast":
        return None
    if state == "member_id":
        return UUID(address.member_id)
    if state == "name" and address.name:
        return address.name
    if state == "role" and address.role in ROLE_FROM_PROTO:
        return ROLE_FROM_PROTO[address.role]
    raise ValueError(_INVALID)


def _from_text(text: str) -> Address:
    role = _ROLES.get(text)
    if role is not None:
        return role
    if not text:
        raise ValueError(_INVALID)
    return _parse_uuid(text) or text


def _parse_uuid(text: str) -> UUID | None:
    if len(text) not in _UUID_LENGTHS:
        return None
    try:
        return UUID(text)
    except ValueError:
        return None

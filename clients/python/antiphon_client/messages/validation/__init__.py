"""The rules of a message, stated once for every writer and reader.

The history service checks each message with `validate_message` and stores it
after `canonicalize_message`; the compiler does the same with inline snapshots;
the typed messages use the single-value checks. The rules themselves are
commented in ``antiphon.message.v1``.
"""

from antiphon_client.messages.validation.envelope import (
    canonicalize_message,
    kind_of,
    role_of,
    validate_address,
    validate_message,
)
from antiphon_client.messages.validation.fields import validate_json_field, validate_uuid
from antiphon_client.messages.validation.images import check_image

__all__ = [
    "canonicalize_message",
    "check_image",
    "kind_of",
    "role_of",
    "validate_address",
    "validate_json_field",
    "validate_message",
    "validate_uuid",
]

"""The caller's keyword arguments beside what the projection writes."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from antiphon_client.errors import ReservedKeyError
from compiler_service.projection.capabilities import Row
from compiler_service.projection.splicing import inside, members_of, write_object

KWARGS = "provider_kwargs"
"""What the keyword arguments are called in errors."""


def join_kwargs(
    written: Mapping[str, str], kwargs_json: str, row: Row, *, nulls: Collection[str] = ()
) -> str:
    """Return the text of the request: what is written, then the keyword arguments as they are.

    Where the target has one object for what both may say, the two objects
    become one.

    Args:
        written: Texts of values by key.
        kwargs_json: JSON text of an object.
        row: The target's row.
        nulls: Keys that are written because they are null in the keyword
            arguments, or absent.

    Raises:
        ReservedKeyError: The keyword arguments hold a key that is written.
    """
    members = members_of(kwargs_json)
    shared = {member.key for member in members if row.aliases.get(member.key, member.key) in written}
    if not shared:
        return write_object(written, inside(kwargs_json))
    joined = dict(written)
    others: list[str] = []
    for member in members:
        if member.key in nulls:
            continue
        if member.key not in shared:
            others.append(f"{member.key_text}:{member.value_text}")
        elif member.key in row.merged_keys and member.value_text.startswith("{"):
            joined[member.key] = _one_object(member.key, written[member.key], member.value_text)
        else:
            raise ReservedKeyError.of(KWARGS, member.key)
    return write_object(joined, *others)


def _one_object(key: str, written: str, given: str) -> str:
    keys = {member.key for member in members_of(written)}
    for member in members_of(given):
        if member.key in keys:
            raise ReservedKeyError.of(KWARGS, f"{key}.{member.key}")
    return write_object({}, inside(written), inside(given))

"""The capability table: what each provider's API takes, as data.

The table ships with the package and is read and validated once, when this
module is imported. Its version is named in every reply it shaped; whatever
changes a request's bytes changes the version.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from importlib.resources import files
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

_FILE = "capabilities.json"


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class IdRule(_Entry):
    """What a call's id must look like.

    Attributes:
        pattern: Regular expression that a whole id matches.
        made_prefix: How an id begins that is made in place of a refused one.
        made_length: How many letters and digits follow; ``made_prefix`` and
            they match ``pattern``.
    """

    pattern: str
    made_prefix: str
    made_length: int = Field(ge=9, le=40)

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The pattern, compiled."""
        return re.compile(self.pattern)


class NameRule(_Entry):
    """What an action's name must look like.

    Attributes:
        pattern: Regular expression that a whole name matches.
        refused: Matches one character that a name must not have.
        length: Most characters of a name.
    """

    pattern: str
    refused: str
    length: int = Field(ge=16)

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The pattern, compiled."""
        return re.compile(self.pattern)


class StrictSchemaRule(_Entry):
    """What a JSON Schema may hold in a provider's strict form.

    Attributes:
        keywords: Keywords it takes.
        ignored: Keywords left out without loss: they do not validate.
        all_required: Whether every property must be required.
        recursive: Whether a schema may refer to itself.
        object_root: Whether the root must be an object's schema.
        untyped: Whether a schema may leave its type open.
    """

    keywords: tuple[str, ...] = Field(strict=False)
    ignored: tuple[str, ...] = Field(strict=False)
    all_required: bool
    recursive: bool
    object_root: bool
    untyped: bool


class PlainSchemaRule(_Entry):
    """What a tool's JSON Schema must look like where it is not in the strict form.

    Its root is always an object's: arguments are objects everywhere.

    Attributes:
        refused_at_root: Keywords that the root must not have.
        properties_at_root: Whether the root must name properties, if only none.
        array_items: Whether every array must say what its items are.
    """

    refused_at_root: frozenset[str] = Field(strict=False)
    properties_at_root: bool
    array_items: bool


class ThinkingBudget(_Entry):
    """Where a request sets tokens for reasoning aside, which its limit must exceed.

    Attributes:
        key: Key of the request that holds an object.
        member: The object's member that is the number.
        margin: Tokens beyond it in a limit that is made.
    """

    key: str
    member: str
    margin: int = Field(ge=1)


class Row(_Entry):
    """What one target takes.

    Attributes:
        provider: The issuer whose signatures and opaque parts it takes.
        turns_key: Key of its request that holds the turns.
        system_key: Key that holds the system text; ``turns_key`` where it is a turn.
        model_key: Key that holds the model's name; None where the address does.
        merged_keys: Keys holding objects that the projection and the caller's
            keyword arguments may both write into.
        aliases: Other spellings of keys that it takes.
        foreign_keywords: Names that other targets have for keyword arguments, and
            where it takes the same itself.
        flags: Flags a request may name.
        always: Flags in force without being named.
        opening_user_text: The user turn made where one is needed at the front.
        must_open_with_user: Whether the first turn must be a user's.
        continues_assistant: Whether a last assistant turn is continued.
        trims_continued_text: Whether white space at the end of such a turn is refused.
        default_max_tokens: Limit of output tokens where one is required.
        thinking_budget: What that limit must exceed; None for nothing.
        cache_marks: Most cache marks in a request.
        cache_types: Types of marks it takes.
        cache_ttls: Times to live it takes, shortest first.
        id_rule: Name of the rule for call ids.
        name_rule: Name of the rule for action names.
        strict_schema: Name of the rule of its strict form; None for no such form.
        plain_schema: Name of the rule of tools' other schemas; None for none.
        thinking: "signed" where its own signed reasoning is taken, else "dropped".
        thinking_kinds: Kinds of opaque parts that are reasoning.
        opens_with_thinking: Whether an assistant turn with reasoning must begin with it.
        ends_with_thinking: Whether an assistant turn may end with reasoning.
        call_signatures: Whether a call carries a signature.
        opaque_key: "type" where a part names its kind under that key, "key"
            where the kind is a key of the part.
        opaque_in_user: Kinds of its opaque parts in a user's turn.
        opaque_in_assistant: The same in an assistant's.
        opaque_in_result: The same in a result.
        image_types: Media types of images; None for any.
        image_url_schemes: Schemes of the addresses that an image may be at.
        image_detail: Whether it takes the detail asked of an image.
        result_images: Whether images of a result have a place.
        error_flag: Whether a result says that it failed.
        empty_error_text: Text of a failed result without one, where it must have
            one; None where it need not.
    """

    provider: str
    turns_key: str
    system_key: str
    model_key: str | None
    merged_keys: frozenset[str] = Field(strict=False)
    aliases: Mapping[str, str]
    foreign_keywords: Mapping[str, str]
    flags: tuple[str, ...] = Field(strict=False)
    always: frozenset[str] = Field(strict=False)
    opening_user_text: str
    must_open_with_user: bool
    continues_assistant: bool
    trims_continued_text: bool
    default_max_tokens: int | None
    thinking_budget: ThinkingBudget | None
    cache_marks: int = Field(ge=0)
    cache_types: frozenset[str] = Field(strict=False)
    cache_ttls: tuple[str, ...] = Field(strict=False)
    id_rule: str
    name_rule: str
    strict_schema: str | None
    plain_schema: str | None
    thinking: Literal["signed", "dropped"]
    thinking_kinds: frozenset[str] = Field(strict=False)
    opens_with_thinking: bool
    ends_with_thinking: bool
    call_signatures: bool
    opaque_key: Literal["type", "key"]
    opaque_in_user: frozenset[str] = Field(strict=False)
    opaque_in_assistant: frozenset[str] = Field(strict=False)
    opaque_in_result: frozenset[str] = Field(strict=False)
    image_types: frozenset[str] | None = Field(strict=False)
    image_url_schemes: frozenset[str] = Field(strict=False)
    image_detail: bool
    result_images: bool
    error_flag: bool
    empty_error_text: str | None


class CapabilityTable(_Entry):
    """The whole table; every name that a row uses is defined in it."""

    version: str = Field(min_length=1)
    flags: Mapping[str, str]
    id_rules: Mapping[str, IdRule]
    name_rules: Mapping[str, NameRule]
    strict_schemas: Mapping[str, StrictSchemaRule]
    plain_schemas: Mapping[str, PlainSchemaRule]
    targets: Mapping[str, Row]

    @model_validator(mode="after")
    def _names_are_defined(self) -> CapabilityTable:
        for name, row in self.targets.items():
            for used, defined in (
                (set(row.flags) | row.always, self.flags),
                ({row.id_rule}, self.id_rules),
                ({row.name_rule}, self.name_rules),
                ({row.strict_schema} - {None}, self.strict_schemas),
                ({row.plain_schema} - {None}, self.plain_schemas),
            ):
                unknown = sorted(str(item) for item in used if item not in defined)
                if unknown:
                    raise ValueError(f"{name}: not defined: {', '.join(unknown)}")
        return self


def load_table(text: str) -> CapabilityTable:
    """Read and validate a capability table.

    Raises:
        pydantic.ValidationError: It is no table; names every fault.
    """
    return CapabilityTable.model_validate_json(text)


TABLE_TEXT = files(__package__).joinpath(_FILE).read_text(encoding="utf-8")
"""The shipped table's own text."""

TABLE = load_table(TABLE_TEXT)
"""The shipped table."""

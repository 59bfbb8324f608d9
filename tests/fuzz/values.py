"""Values for single fields: such as the service expects, and such as nobody should send."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field
from random import Random

from google.protobuf.descriptor import FieldDescriptor

BOUNDARY_INTS = [0, 1, -1, 2, 255, 2**31 - 1, 2**31, 2**53 + 1, 2**63 - 1, -(2**31), -(2**63)]
HOSTILE_TEXTS = [
    "",
    "\0",
    " ",
    "x" * 5000,
    "../../etc/passwd",
    "'; DROP TABLE messages; --",
    "\u202e\ufeff\U0001f600",
    "0" * 36,
    "ABCDEF00-0000-4000-8000-000000000000",
    "{" + "}" * 3,
]
HOSTILE_JSON = [
    "NaN",
    "[Infinity]",
    '{"a":1,"a":2}',
    '"\\ud800"',
    '{"\\udc00":1}',
    "1e999",
    "-1e999",
    "9" * 4001,
    "[" * 101 + "]" * 101,
    "[" * 100_000,
    '{"a":' * 5000 + "1" + "}" * 5000,
    "{",
    "",
    " ",
    "tru",
    "01",
    '{"a":1}x',
    "\ufeff{}",
    "'a'",
    "[1,]",
    "{'a':1}",
    "\0",
]
GOOD_JSON = ["{}", '{"a":1}', '{"k":{"b":[1,2.50,"\u00e9"]}}', '{"n":9007199254740993,"t":true,"z":null}']
ANY_JSON = ["null", "0", '"text"', "[]", "[1,[2,[3]]]", "1e3", *GOOD_JSON]
IMAGES = ["data:image/png;base64,aGVsbG8=", "https://example.org/a.png", "aGVsbG8="]
OBJECT_FIELDS = {
    *("metadata_json", "arguments_json", "tool_schemas_json", "example_json"),
    *("json_schema", "template_json", "provider_kwargs_json"),
}


EXCHANGE = "fuzz"
TARGETS = ("openai.chat", "openai.responses", "anthropic.messages", "gemini.generate_content", "ollama.chat")
_MESSAGE_IDS = (
    *("id", "message_id", "message_ids", "up_to_message_id"),
    *("first_id", "last_id", "view_message_ids", "pinned_message_ids"),
    *("action_request_id", "action_response_id"),
)


@dataclass
class World:
    """The ids that exist, or may, on the service under test.

    Attributes:
        branches: Branch ids; also the owners of the exchange ``EXCHANGE``.
        messages: Message ids; the same in every branch.
        actions: Those of them that are action requests.
        requests: Request ids, few enough to be met again.
    """

    branches: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


def new_uuid(rng: Random) -> str:
    """Draw a canonical UUID."""
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def good_value(rng: Random, world: World, field: FieldDescriptor) -> object:
    """Draw a value that the field's rule allows, as far as a name tells the rule."""
    match field.type:
        case FieldDescriptor.TYPE_STRING:
            return _good_text(rng, world, field.name)
        case FieldDescriptor.TYPE_ENUM:
            return _good_number(rng, field)
        case FieldDescriptor.TYPE_BOOL:
            return rng.random() < 0.5
        case FieldDescriptor.TYPE_BYTES:
            return rng.randbytes(rng.randrange(1, 20))
        case _:
            if field.name in ("budget_tokens", "keep_tokens"):
                return rng.choice([100, 1000, 10**6])
            return (
                rng.randrange(0, 8) if field.name in ("index", "nanos", "page_size") else rng.randrange(1, 6)
            )


def hostile_value(rng: Random, field: FieldDescriptor) -> object:
    """Draw a value at or over the edge of what the field can mean."""
    match field.type:
        case FieldDescriptor.TYPE_STRING:
            pool = HOSTILE_JSON if _is_json(field.name) and rng.random() < 0.8 else HOSTILE_TEXTS
            return rng.choice(pool)
        case FieldDescriptor.TYPE_ENUM:
            return rng.choice([-1, 0, 1, 7, 99, 2**31 - 1, -(2**31)])
        case FieldDescriptor.TYPE_BOOL:
            return rng.random() < 0.5
        case FieldDescriptor.TYPE_BYTES:
            return rng.choice([b"", b"\0", b"\xff" * 100])
        case FieldDescriptor.TYPE_INT32:
            return rng.choice([value for value in BOUNDARY_INTS if -(2**31) <= value < 2**31])
        case _:
            return rng.choice([value for value in BOUNDARY_INTS if -(2**63) <= value < 2**63])


def _good_number(rng: Random, field: FieldDescriptor) -> int:
    assert field.enum_type is not None
    numbers = [value.number for value in field.enum_type.values]
    match field.full_name:
        case "antiphon.message.v1.Address.role":
            return rng.choice([2, 3, 4, 5])  # a conversation's roles
        case "antiphon.message.v1.Message.status":
            return rng.choice([0, 0, 0, *numbers])  # what is excluded is not compiled
        case "antiphon.history.v1.ListMessagesRequest.kinds":
            return rng.choice(numbers[1:])
        case _:
            return rng.choice(numbers)


def _is_json(name: str) -> bool:
    return name.endswith("_json") or name == "json_schema"


def _good_text(rng: Random, world: World, name: str) -> str:
    if name in ("branch_id", "parent_branch_id", "source_branch_id"):
        return rng.choice(world.branches) if rng.random() < 0.95 else new_uuid(rng)
    if name == "action_request_id" and rng.random() < 0.7:
        return rng.choice(world.actions)
    if name in ("owner_id", "sender_id", "recipient_id", "member_id"):
        return rng.choice(world.branches) if rng.random() < 0.9 else new_uuid(rng)
    if name == "exchange_id":
        return EXCHANGE if rng.random() < 0.9 else "elsewhere"
    if name in ("lease_ids", "dead_letter_id", "incarnation"):
        return new_uuid(rng)
    if name in _MESSAGE_IDS:
        return rng.choice(world.messages) if rng.random() < 0.9 else new_uuid(rng)
    if name == "request_id":
        return new_uuid(rng) if rng.random() < 0.8 else rng.choice(world.requests)
    if name == "target":
        return rng.choice(TARGETS)
    if name == "token_counter":
        return "estimate"
    if name == "page_token":
        return "" if rng.random() < 0.8 else "bm90IGEgdG9rZW4"
    if name in ("images", "url"):
        return rng.choice(IMAGES)
    if _is_json(name):
        return json_text(rng, objects_only=name in OBJECT_FIELDS)
    return rng.choice(["a", "text of several words", "two\nlines", "\u00e9\U0001f600", "key: value"])


def json_text(rng: Random, *, objects_only: bool) -> str:
    """Draw valid JSON text."""
    if rng.random() < 0.5:
        return rng.choice(GOOD_JSON if objects_only else ANY_JSON)
    return json.dumps({f"k{index}": _json_value(rng, 4) for index in range(rng.randrange(4))})


def _json_value(rng: Random, depth: int) -> object:
    kind = rng.randrange(7 if depth else 5)
    if kind < 5:
        return [None, True, rng.randrange(10**20), rng.random(), "text\nand more"][kind]
    items = [_json_value(rng, depth - 1) for _ in range(rng.randrange(3))]
    return items if kind == 5 else {f"k{index}": item for index, item in enumerate(items)}

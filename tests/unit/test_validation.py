"""The rules of a message: every refusal with its path, and what stays legal."""

from __future__ import annotations

import re

import pytest
from google.protobuf import text_format
from hypothesis import given
from hypothesis import strategies as st

from antiphon.message.v1 import content_block_pb2, message_pb2
from antiphon_client.errors import SizeLimitExceededError, Violation
from antiphon_client.limits import DEFAULT_LIMITS, Limits
from antiphon_client.messages.validation import (
    canonicalize_message,
    kind_of,
    role_of,
    validate_json_field,
    validate_message,
)

ID = "01a22ae7-1d31-73bc-bc82-723c776f2f24"


def message(text: str) -> message_pb2.Message:
    """Read a message in protobuf's text format."""
    return text_format.Parse(text, message_pb2.Message())


def violations_of(text: str, field: str = "m") -> list[Violation]:
    """Validate a message in text format; it must come out as it went in."""
    given_message = message(text)
    before = given_message.SerializeToString(deterministic=True)
    violations: list[Violation] = []
    validate_message(given_message, field, violations)
    assert given_message.SerializeToString(deterministic=True) == before
    return violations


LEGAL = [
    "system {}",
    'system { system_message: "" system_datetime: "" }',
    "instruction {}",
    'instruction { instruction: "a\\000b" guidance: "" plain_content: "" }',
    'instruction { guidance_json: "[1, 2.50]" prompt_context_json: "null" prompt_context_json: "\\"x\\"" }',
    "instruction { image_detail: IMAGE_DETAIL_HIGH }",
    'instruction { images: "https://example.org/a.png" images: "/9j/4AAQSkZJRg==" }',
    "assistant_response {}",
    'assistant_response { blocks { text {} } blocks { thinking { signature: "" } } blocks { tool_call {} } }',
    'assistant_response { blocks { tool_call { id: "c" name: "f" arguments_json: "{}" } } }',
    'assistant_response { blocks { opaque { provider: "p" data_json: "\\"\\"" } } }',
    'assistant_response { blocks { text { text: "x" cache_control { type: "ephemeral" ttl: "" } } } }',
    'instruction { blocks { image { data: "x" mime_type: "image/png" } } }',
    'instruction { blocks { json { value_json: "0" } } }',
    'instruction { blocks { image { url: "https://example.org/a" detail: IMAGE_DETAIL_UNSPECIFIED } } }',
    "action_request {}",
    'action_request { function: "f" arguments_json: "{\\"a\\": 1}" provider_call_id: "" }',
    'action_request { arguments_text: "{a" thought_signature: "" }',
    'action_request { action_response_id: "ignored on input" }',
    "action_response {}",
    'action_response { output_json: "null" error: "" state: ACTION_RESPONSE_STATE_INTERIM }',
    f'action_response {{ action_request_id: "{ID}" arguments_json: "{{}}" output_json: "false" }}',
    f'summary {{ text: " a " first_id: "{ID}" last_id: "{ID}" }}',
    "generic {}",
    'generic { value_json: "[]" }',
    f'id: "{ID}" role: 77 channel: "" metadata_json: "{{}}" status: MESSAGE_STATUS_EXCLUDED generic {{}}',
    "created_at { seconds: -62135596800 } generic {}",
    "created_at { seconds: 253402300799 nanos: 999999999 } generic {}",
    "sender { unset {} } recipient { broadcast {} } generic {}",
    f'sender {{ member_id: "{ID}" }} recipient {{ name: "x" }} generic {{}}',
    "sender { role: ROLE_USER } recipient { role: ROLE_ACTION } generic {}",
]

REFUSED = {
    "": ("m.content", "is required"),
    'id: "01A22AE7-1D31-73BC-BC82-723C776F2F24" generic {}': ("m.id", "canonical"),
    'id: "x" generic {}': ("m.id", "canonical"),
    "created_at { seconds: -62135596801 } generic {}": ("m.created_at.seconds", "years 1 to 9999"),
    "created_at { seconds: 253402300800 } generic {}": ("m.created_at.seconds", "years 1 to 9999"),
    "created_at { nanos: -1 } generic {}": ("m.created_at.nanos", "999,999,999"),
    "created_at { nanos: 1000000000 } generic {}": ("m.created_at.nanos", "999,999,999"),
    "sender {} generic {}": ("m.sender.state", "is required"),
    "sender { broadcast {} } generic {}": ("m.sender.broadcast", "cannot be broadcast"),
    'recipient { name: "" } generic {}': ("m.recipient.name", "empty"),
    'recipient { member_id: "" } generic {}': ("m.recipient.member_id", "canonical"),
    "recipient { role: ROLE_UNSPECIFIED } generic {}": ("m.recipient.role", "SYSTEM, USER"),
    "recipient { role: ROLE_UNSET } generic {}": ("m.recipient.role", "SYSTEM, USER"),
    "recipient { role: ROLE_TOOL } generic {}": ("m.recipient.role", "SYSTEM, USER"),
    "sender { role: 9 } generic {}": ("m.sender.role", "SYSTEM, USER"),
    'metadata_json: "[]" generic {}': ("m.metadata_json", "expected a JSON object, not an array"),
    'metadata_json: "{\\"a\\":1,\\"a\\":2}" generic {}': ("m.metadata_json", "duplicate key 'a'"),
    "status: 3 generic {}": ("m.status", "unknown status 3"),
    'instruction { guidance_json: "" }': ("m.instruction.guidance_json", "not JSON"),
    'instruction { prompt_context_json: "1" prompt_context_json: "NaN" }': (
        "m.instruction.prompt_context_json[1]",
        "NaN is not JSON",
    ),
    'instruction { images: "https://example.org" images: "file:///etc/passwd" }': (
        "m.instruction.images[1]",
        "scheme must be",
    ),
    "instruction { image_detail: 9 }": ("m.instruction.image_detail", "unknown detail 9"),
    "instruction { blocks {} }": ("m.instruction.blocks[0].block", "is required"),
    "instruction { blocks { text { cache_control {} } } }": (
        "m.instruction.blocks[0].text.cache_control.type",
        "empty",
    ),
    "instruction { blocks { json {} } }": ("m.instruction.blocks[0].json.value_json", "empty"),
    'instruction { blocks { json { value_json: "[" } } }': (
        "m.instruction.blocks[0].json.value_json",
        "not JSON",
    ),
    "instruction { blocks { image {} } }": ("m.instruction.blocks[0].image.source", "is required"),
    'instruction { blocks { image { data: "x" } } }': (
        "m.instruction.blocks[0].image.mime_type",
        "with data",
    ),
    'instruction { blocks { image { data: "" mime_type: "image/png" } } }': (
        "m.instruction.blocks[0].image.data",
        "empty",
    ),
    'instruction { blocks { image { url: "http://10.1.2.3/" } } }': (
        "m.instruction.blocks[0].image.url",
        "private",
    ),
    'instruction { blocks { image { data: "x" mime_type: "image/png" detail: 4 } } }': (
        "m.instruction.blocks[0].image.detail",
        "unknown detail 4",
    ),
    'assistant_response { blocks { text {} } blocks { tool_call { arguments_json: "1" } } }': (
        "m.assistant_response.blocks[1].tool_call.arguments_json",
        "expected a JSON object",
    ),
    'assistant_response { blocks { opaque { data_json: "1" } } }': (
        "m.assistant_response.blocks[0].opaque.provider",
        "empty",
    ),
    'assistant_response { blocks { opaque { provider: "p" } } }': (
        "m.assistant_response.blocks[0].opaque.data_json",
        "empty",
    ),
    'action_request { arguments_json: "[1]" }': ("m.action_request.arguments_json", "expected a JSON object"),
    'action_response { arguments_json: " " }': ("m.action_response.arguments_json", "not JSON"),
    'action_response { output_json: "" }': ("m.action_response.output_json", "not JSON"),
    'action_response { output_json: "1e999" }': ("m.action_response.output_json", "overflows"),
    'action_response { action_request_id: "" }': ("m.action_response.action_request_id", "canonical"),
    "action_response { state: 3 }": ("m.action_response.state", "unknown state 3"),
    "action_response { blocks {} }": ("m.action_response.blocks[0].block", "is required"),
    f'summary {{ text: " \\n\\u00a0" first_id: "{ID}" last_id: "{ID}" }}': ("m.summary.text", "blank"),
    f'summary {{ text: "a" last_id: "{ID}" }}': ("m.summary.first_id", "canonical"),
    f'summary {{ text: "a" first_id: "{ID}" last_id: "x" }}': ("m.summary.last_id", "canonical"),
    'generic { value_json: "{]" }': ("m.generic.value_json", "not JSON"),
}


@pytest.mark.parametrize("text", LEGAL)
def test_legal(text: str) -> None:
    assert violations_of(text) == []


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str) -> None:
    field, words = REFUSED[text]
    (violation,) = violations_of(text)
    assert violation.field == field
    assert words in violation.description


def test_all_violations_are_collected_in_field_order() -> None:
    violations = violations_of(
        'id: "x" created_at { nanos: -1 } sender {} metadata_json: "1" status: 9 '
        'action_response { arguments_json: "1" output_json: "" state: 9 blocks {} }',
        "messages[3]",
    )
    assert [violation.field for violation in violations] == [
        "messages[3].id",
        "messages[3].created_at.nanos",
        "messages[3].sender.state",
        "messages[3].metadata_json",
        "messages[3].status",
        "messages[3].action_response.arguments_json",
        "messages[3].action_response.output_json",
        "messages[3].action_response.state",
        "messages[3].action_response.blocks[0].block",
    ]


def test_paths_of_a_root_message_have_no_prefix() -> None:
    fields = [violation.field for violation in violations_of('id: "x" instruction { image_detail: 9 }', "")]
    assert fields == ["id", "instruction.image_detail"]


def test_size_limit() -> None:
    big = message_pb2.Message()
    big.assistant_response.assistant_response = "x" * 1000
    exact = Limits(message_bytes=big.ByteSize())
    validate_message(big, "messages[0]", [], exact)
    with pytest.raises(SizeLimitExceededError) as caught:
        validate_message(big, "messages[0]", [], Limits(message_bytes=big.ByteSize() - 1))
    assert caught.value.metadata == {
        "limit_name": "message_bytes",
        "limit": str(big.ByteSize() - 1),
        "actual": str(big.ByteSize()),
    }
    assert caught.value.message.startswith("messages[0]: ")


def test_default_size_limit_is_three_mebibytes() -> None:
    big = message_pb2.Message()
    big.assistant_response.assistant_response = "x" * DEFAULT_LIMITS.message_bytes
    with pytest.raises(SizeLimitExceededError):
        validate_message(big, "", [])


ROLES = {
    "system": message_pb2.ROLE_SYSTEM,
    "instruction": message_pb2.ROLE_USER,
    "assistant_response": message_pb2.ROLE_ASSISTANT,
    "action_request": message_pb2.ROLE_ACTION,
    "action_response": message_pb2.ROLE_ACTION,
    "summary": message_pb2.ROLE_USER,
    "generic": message_pb2.ROLE_UNSET,
}


# Every variant the contract has, so that a new one cannot be forgotten.
CONTENT_KINDS = [field.name for field in message_pb2.Message.DESCRIPTOR.oneofs_by_name["content"].fields]


@pytest.mark.parametrize("kind", CONTENT_KINDS)
def test_role_is_read_from_the_content(kind: str) -> None:
    given_message = message(f"role: ROLE_TOOL {kind} {{}}")
    assert kind_of(given_message) == kind
    assert role_of(given_message) == ROLES[kind]
    canonicalize_message(given_message)
    assert given_message.role == ROLES[kind]


def test_without_a_known_content_there_is_no_role() -> None:
    newer = message_pb2.Message.FromString(
        message_pb2.Message(role=message_pb2.ROLE_USER).SerializeToString() + b"\x82\x01\x00"
    )
    assert kind_of(newer) is None
    assert role_of(newer) == message_pb2.ROLE_UNSPECIFIED


@pytest.mark.parametrize(
    ("open_text", "resolved"),
    [
        ("instruction {}", "role: ROLE_USER instruction { image_detail: IMAGE_DETAIL_AUTO }"),
        (
            "instruction { image_detail: IMAGE_DETAIL_LOW }",
            "role: ROLE_USER instruction { image_detail: IMAGE_DETAIL_LOW }",
        ),
        (
            'instruction { blocks { image { url: "https://a.org" detail: IMAGE_DETAIL_UNSPECIFIED } } }',
            "role: ROLE_USER instruction { image_detail: IMAGE_DETAIL_AUTO"
            ' blocks { image { url: "https://a.org" } } }',
        ),
        (
            'assistant_response { blocks { image { url: "https://a.org" detail: IMAGE_DETAIL_AUTO } } }',
            "role: ROLE_ASSISTANT assistant_response"
            ' { blocks { image { url: "https://a.org" detail: IMAGE_DETAIL_AUTO } } }',
        ),
        (f'action_request {{ action_response_id: "{ID}" }}', "role: ROLE_ACTION action_request {}"),
        (
            "action_response { blocks { image { detail: IMAGE_DETAIL_UNSPECIFIED } } }",
            "role: ROLE_ACTION action_response { state: ACTION_RESPONSE_STATE_FINAL blocks { image {} } }",
        ),
        (
            "action_response { state: ACTION_RESPONSE_STATE_INTERIM }",
            "role: ROLE_ACTION action_response { state: ACTION_RESPONSE_STATE_INTERIM }",
        ),
        (
            f'id: "{ID}" sender {{ unset {{}} }} metadata_json: " {{}} " generic {{ value_json: "1.0" }}',
            f'id: "{ID}" role: ROLE_UNSET sender {{ unset {{}} }} metadata_json: " {{}} "'
            ' generic { value_json: "1.0" }',
        ),
    ],
)
def test_canonical_form(open_text: str, resolved: str) -> None:
    given_message = message(open_text)
    canonicalize_message(given_message)
    assert given_message == message(resolved)
    again = message_pb2.Message()
    again.CopyFrom(given_message)
    canonicalize_message(again)
    assert again == given_message


def test_json_field() -> None:
    violations: list[Violation] = []
    validate_json_field("[]", "request.a_json", violations)
    assert violations == []
    validate_json_field("[]", "request.b_json", violations, require_object=True)
    assert violations == [Violation("request.b_json", "expected a JSON object, not an array")]


@given(st.binary(max_size=60))
def test_no_message_that_parses_makes_validation_fail(data: bytes) -> None:
    given_message = message_pb2.Message()
    try:
        given_message.MergeFromString(data)
    except Exception:
        return
    violations: list[Violation] = []
    validate_message(given_message, "m", violations)
    assert all(re.match(r"m\.[a-z_]+", violation.field) for violation in violations)
    canonicalize_message(given_message)


def test_every_block_kind_has_its_rules_tested() -> None:
    kinds = [field.name for field in content_block_pb2.ContentBlock.DESCRIPTOR.oneofs_by_name["block"].fields]
    texts = [*LEGAL, *REFUSED]
    assert [kind for kind in kinds if not any(f"blocks {{ {kind} {{" in text for text in texts)] == []

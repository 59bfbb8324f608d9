"""Import, storage and export of whole conversations: JSON-equal, whatever they hold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.importing.residue import apply, difference
from antiphon_client.messages import from_proto, to_proto
from antiphon_client.messages.json_equality import same_json
from antiphon_client.messages.validation import canonicalize_message, kind_of, validate_message
from antiphon_client.openai_chat import export_messages, import_messages


def stored(records: Sequence[pb.Message]) -> list[pb.Message]:
    """Return records as a reader gets them: canonical, timed, linked, through the typed model."""
    answered = {record.action_response.action_request_id: record.id for record in records}
    result = []
    for record in records:
        violations: list[Any] = []
        validate_message(record, "", violations)
        assert violations == []
        kept = pb.Message.FromString(record.SerializeToString())
        canonicalize_message(kept)
        kept.created_at.GetCurrentTime()
        if kind_of(kept) == "action_request" and kept.id in answered:
            kept.action_request.action_response_id = answered[kept.id]
        again = to_proto(from_proto(kept))
        assert again.SerializeToString(deterministic=True) == kept.SerializeToString(deterministic=True)
        result.append(again)
    return result


def assert_comes_back(messages: list[dict[str, Any]]) -> None:
    conversation = import_messages(messages)
    exported = export_messages(None, stored(conversation.records))
    assert sorted_keys(exported) == sorted_keys(messages)


def sorted_keys(value: Any) -> str:
    # As text, so that 1, 1.0 and true differ.
    return json.dumps(value, sort_keys=True)


def test_every_real_conversation_comes_back(shared_data: Path) -> None:
    lines = (shared_data / "tau-airline" / "transcripts.jsonl").read_text("utf-8").splitlines()
    conversations = [json.loads(line)["messages"] for line in lines]
    assert (len(conversations), sum(map(len, conversations))) == (50, 1306)
    for messages in conversations:
        assert_comes_back(messages)
        conversation = import_messages(messages)
        assert conversation.notes == ()
        results = [record for record in conversation.messages if kind_of(record) == "action_response"]
        assert all(record.action_response.HasField("action_request_id") for record in results)


texts = st.text(max_size=6)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
extra_keys = st.dictionaries(
    st.sampled_from(["name", "refusal", "x", "", "cost", "index"]), values, max_size=2
)


def with_extras(strategy: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(lambda extra, known: {**extra, **known}, extra_keys, strategy)


text_parts = with_extras(st.fixed_dictionaries({"type": st.just("text"), "text": texts}))
image_urls = st.sampled_from(
    ["https://example.com/a.png", "data:image/png;base64,aGk=", "http://127.0.0.1/", "file:///a", "", "aGk="]
)
image_parts = with_extras(
    st.fixed_dictionaries(
        {
            "type": st.just("image_url"),
            "image_url": image_urls
            | with_extras(
                st.fixed_dictionaries(
                    {"url": image_urls},
                    optional={"detail": st.sampled_from(["low", "high", "auto", "huge", 5, None])},
                )
            ),
        }
    )
)
other_parts = with_extras(st.fixed_dictionaries({"type": st.sampled_from(["input_audio", "refusal", "x"])}))
message_contents = st.none() | texts | st.lists(text_parts | image_parts | other_parts, max_size=3)
call_ids = st.sampled_from(["a", "b", ""])
argument_texts = (
    st.sampled_from(["", "{}", '{ "n":1.0e1}', "{'a': 1}", "[1]", "null", "nope", '{"a": NaN}']) | texts
)
function_calls = with_extras(
    st.fixed_dictionaries(
        {
            "id": call_ids,
            "function": with_extras(st.fixed_dictionaries({"name": texts, "arguments": argument_texts})),
        },
        optional={"type": st.just("function")},
    )
)
custom_calls = with_extras(
    st.fixed_dictionaries(
        {
            "id": call_ids,
            "type": st.just("custom"),
            "custom": with_extras(st.fixed_dictionaries({"name": texts, "input": argument_texts})),
        }
    )
)
openai_messages = st.one_of(
    with_extras(
        st.fixed_dictionaries(
            {"role": st.sampled_from(["system", "developer", "user", "assistant"])},
            optional={"content": message_contents},
        )
    ),
    with_extras(
        st.fixed_dictionaries(
            {"role": st.just("assistant")},
            optional={
                "content": message_contents,
                "tool_calls": st.none() | st.lists(function_calls | custom_calls, max_size=3),
                "function_call": st.none()
                | with_extras(
                    st.fixed_dictionaries({"name": st.sampled_from(["f", "g"]), "arguments": argument_texts})
                ),
                "refusal": st.none() | texts,
            },
        )
    ),
    with_extras(
        st.fixed_dictionaries(
            {"role": st.just("tool"), "tool_call_id": call_ids}, optional={"content": message_contents}
        )
    ),
    with_extras(
        st.fixed_dictionaries(
            {"role": st.just("function"), "name": st.sampled_from(["f", "g"]) | texts},
            optional={"content": message_contents},
        )
    ),
)


@given(st.lists(openai_messages, max_size=8))
def test_every_conversation_comes_back(messages: list[dict[str, Any]]) -> None:
    assert_comes_back(messages)


@given(st.lists(openai_messages, max_size=6))
def test_links_are_legal(messages: list[dict[str, Any]]) -> None:
    """A result names an earlier request with its id; no request is named twice."""
    requests: dict[str, pb.Message] = {}
    named: set[str] = set()
    for record in import_messages(messages).messages:
        if kind_of(record) == "action_request":
            requests[record.id] = record
        elif record.action_response.HasField("action_request_id"):
            answered = record.action_response.action_request_id
            call_id = requests[answered].action_request.provider_call_id
            assert call_id == record.action_response.provider_call_id
            assert answered not in named
            named.add(answered)


@given(values, values)
def test_a_difference_turns_one_value_into_the_other(produced: Any, original: Any) -> None:
    before = sorted_keys(original)
    change = difference(produced, original)
    assert (change is None) == (sorted_keys(produced) == before)
    assert sorted_keys(apply(json.loads(json.dumps(produced)), json.loads(json.dumps(change)))) == before


@given(values, values, values)
def test_a_difference_applies_to_anything(produced: Any, original: Any, other: Any) -> None:
    apply(other, difference(produced, original))
    apply(produced, other)


@given(values)
def test_equality_is_that_of_texts(value: Any) -> None:
    again = json.loads(json.dumps(value))
    assert same_json(value, again)
    assert same_json({"k": value}, {"k": again})
    assert not same_json([value], [value, value])

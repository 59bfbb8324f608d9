"""What stands beside a conversation's messages goes through a branch's metadata and comes back."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from antiphon_client.json_text import dump_json_text, parse_json_text
from antiphon_client.messages.json_equality import same_json
from antiphon_client.openai_chat import METADATA_KEY, conversation_metadata, export_conversation

KEYS = st.text(max_size=6) | st.sampled_from(
    ["id", "messages", "model", "openai_chat", "conversation", "unnamed"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
MESSAGES = [{"role": "user", "content": "hi"}]


@given(
    beside=st.dictionaries(KEYS.filter(lambda key: key not in ("id", "messages")), JSON), named=st.booleans()
)
def test_a_conversation_comes_back_equal(beside: dict[str, Any], named: bool) -> None:
    given_id = {"id": "one"} if named else {}
    conversation = {**given_id, **beside, "messages": MESSAGES}
    stored = parse_json_text(dump_json_text({"x": 1, **conversation_metadata(conversation)}))
    back = export_conversation(stored, "one", MESSAGES)
    assert same_json(back, conversation)
    assert set(stored) <= {"x", METADATA_KEY}


def test_nothing_is_kept_where_there_is_nothing() -> None:
    assert conversation_metadata({"id": "one", "messages": MESSAGES}) == {}


@given(metadata=st.dictionaries(st.just(METADATA_KEY), JSON | st.fixed_dictionaries({"conversation": JSON})))
def test_foreign_metadata_brings_nothing_down(metadata: dict[str, Any]) -> None:
    back = export_conversation(metadata, "one", MESSAGES)
    assert back["messages"] == MESSAGES
    assert back.get("id") in ("one", None)

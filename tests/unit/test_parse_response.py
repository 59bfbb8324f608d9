"""ParseResponse: real shapes of every provider, and what it says of payloads that are none."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.compiler.v1 import provider_pb2 as pb
from antiphon.compiler.v1.target_pb2 import ActionName
from antiphon.message.v1 import message_pb2
from antiphon_client.errors import (
    FieldInvalidError,
    SizeLimitExceededError,
    StreamIncompleteError,
    TargetUnknownError,
    Violation,
)
from antiphon_client.limits import DEFAULT_LIMITS, Limits
from antiphon_client.messages.validation import validate_message
from antiphon_client.provider_streams import StreamDecodeError, assemble, decode
from antiphon_client.provider_streams.targets import PROVIDERS
from compiler_service.projection import TABLE
from compiler_service.responses import parse_response
from tests.support.provider_responses import SAMPLES, SHORT, TEXT, compact, event

TARGETS = sorted(PROVIDERS)

MADE_ID = "call_0_cc0fdd521466"
"""What the call of `test_a_made_id_stays_the_same` is called; no release may change it."""


def parsed(target: str, payload: Any, **fields: Any) -> pb.ParseResponseResponse:
    text = payload if isinstance(payload, str) else compact(payload)
    request = pb.ParseResponseRequest(target=target, payload_json=text, **fields)
    return parse_response(request, DEFAULT_LIMITS)


def refused(target: str, payload: Any) -> Violation:
    with pytest.raises(FieldInvalidError) as caught:
        parsed(target, payload)
    (violation,) = caught.value.violations
    return violation


def chat(message: dict[str, Any], finish: str | None = "stop") -> dict[str, Any]:
    return {"model": "m", "choices": [{"message": message, "finish_reason": finish}]}


def claude(*blocks: dict[str, Any], stop: str | None = "end_turn", **rest: Any) -> dict[str, Any]:
    return {"type": "message", "model": "m", "content": blocks, "stop_reason": stop, **rest}


def gemini(*parts: dict[str, Any], finish: str | None = "STOP", **rest: Any) -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": finish}
    return {"candidates": [candidate], **rest}


@pytest.mark.parametrize(
    ("target", "payload", "reason"),
    [
        ("openai.chat", chat({"content": "x"}, "length"), pb.STOP_REASON_MAX_TOKENS),
        ("openai.chat", chat({"content": "x"}, "content_filter"), pb.STOP_REASON_REFUSAL),
        ("openai.chat", chat({"content": "x"}, "new_word"), pb.STOP_REASON_UNSPECIFIED),
        ("openai.chat", chat({"content": "x"}, None), pb.STOP_REASON_UNSPECIFIED),
        ("anthropic.messages", claude(stop="stop_sequence"), pb.STOP_REASON_END_TURN),
        ("anthropic.messages", claude(stop="max_tokens"), pb.STOP_REASON_MAX_TOKENS),
        ("anthropic.messages", claude(stop="refusal"), pb.STOP_REASON_REFUSAL),
        ("anthropic.messages", claude(stop="pause_turn"), pb.STOP_REASON_UNSPECIFIED),
        ("gemini.generate_content", gemini({"text": "x"}, finish="MAX_TOKENS"), pb.STOP_REASON_MAX_TOKENS),
        ("gemini.generate_content", gemini(finish="SAFETY"), pb.STOP_REASON_REFUSAL),
        ("gemini.generate_content", gemini(finish="OTHER"), pb.STOP_REASON_UNSPECIFIED),
        ("ollama.chat", {"message": {"content": ""}, "done": True}, pb.STOP_REASON_END_TURN),
        (
            "ollama.chat",
            {"message": {}, "done": True, "done_reason": "length"},
            pb.STOP_REASON_MAX_TOKENS,
        ),
        ("openai.responses", {"status": "completed", "output": []}, pb.STOP_REASON_END_TURN),
        (
            "openai.responses",
            {
                "status": "incomplete",
                "incomplete_details": {"reason": "max_output_tokens"},
                "output": [],
            },
            pb.STOP_REASON_MAX_TOKENS,
        ),
        (
            "openai.responses",
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}, "output": []},
            pb.STOP_REASON_REFUSAL,
        ),
    ],
)
def test_why_the_model_stopped(target: str, payload: Any, reason: pb.StopReason.ValueType) -> None:
    reply = parsed(target, payload)
    assert reply.stop_reason == reason
    assert len(reply.messages) == 1


@pytest.mark.parametrize(
    ("target", "payload", "words"),
    [
        ("openai.chat", chat({"content": None, "refusal": "I can't"}), "I can't"),
        ("openai.chat", chat({"content": [{"type": "refusal", "refusal": "No"}]}), "No"),
        (
            "openai.responses",
            {"output": [{"type": "message", "content": [{"type": "refusal", "refusal": "No"}]}]},
            "No",
        ),
        (
            "anthropic.messages",
            claude(stop="refusal", stop_details={"type": "refusal", "explanation": "cyber"}),
            "cyber",
        ),
        ("gemini.generate_content", {"promptFeedback": {"blockReason": "SAFETY"}}, "SAFETY"),
        (
            "gemini.generate_content",
            {"candidates": [], "promptFeedback": {"blockReason": "OTHER", "blockReasonMessage": "Why"}},
            "Why",
        ),
        ("gemini.generate_content", {"candidates": [{"finishReason": "SAFETY", "index": 0}]}, "SAFETY"),
        (
            "gemini.generate_content",
            {"candidates": [{"finishReason": "RECITATION", "finishMessage": "Cited"}]},
            "Cited",
        ),
    ],
)
def test_refusals_and_blocks_in_the_providers_words(target: str, payload: Any, words: str) -> None:
    reply = parsed(target, payload)
    assert (reply.refusal, reply.stop_reason) == (words, pb.STOP_REASON_REFUSAL)
    (message,) = reply.messages
    assert message.HasField("assistant_response")
    assert json.loads(message.metadata_json)["refusal"] == words


@pytest.mark.parametrize(
    ("target", "payload", "words"),
    [
        ("openai.chat", {"error": {"message": "bad key", "type": "auth", "code": "x"}}, "auth: bad key"),
        (
            "openai.responses",
            {"status": "failed", "output": [], "error": {"code": "c", "message": "m"}},
            "c: m",
        ),
        ("openai.responses", {"status": "failed", "output": [], "error": None}, "the response failed"),
        (
            "anthropic.messages",
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
            "overloaded_error: Overloaded",
        ),
        ("gemini.generate_content", {"error": {"code": 429, "status": "X", "message": "quota"}}, "X: quota"),
        ("ollama.chat", {"error": "model not found"}, "model not found"),
        ("ollama.chat", {"error": {}}, "an error without words"),
        ("ollama.chat", {"error": "x" * 5000}, "x" * 500 + "..."),
    ],
)
def test_the_providers_error_is_an_error_in_its_words(target: str, payload: Any, words: str) -> None:
    violation = refused(target, payload)
    assert violation.field == "payload_json"
    assert violation.description == f"is the provider's error, not a response: {words}"


@pytest.mark.parametrize(
    ("target", "payload", "path"),
    [
        ("openai.chat", "", ""),
        ("openai.chat", "{", ""),
        ("openai.chat", "[]", ""),
        ("openai.chat", '{"a":NaN}', ""),
        ("openai.chat", '{"choices":1,"choices":2}', ""),
        ("openai.chat", {}, ".choices"),
        ("openai.chat", {"choices": {}}, ".choices"),
        ("openai.chat", {"choices": [{}]}, ".choices[0].message"),
        ("openai.chat", {"choices": [5]}, ".choices[0]"),
        ("openai.chat", chat({"content": 5}), ".choices[0].message.content"),
        ("openai.chat", chat({"content": [5]}), ".choices[0].message.content[0]"),
        ("openai.chat", chat({"tool_calls": [{}]}), ".choices[0].message.tool_calls[0].function"),
        (
            "openai.chat",
            chat({"tool_calls": [{"function": {"name": "f", "arguments": 5}}]}),
            ".choices[0].message.tool_calls[0].function.arguments",
        ),
        ("openai.responses", {"status": "in_progress", "output": []}, ".status"),
        ("openai.responses", {"status": "completed"}, ".output"),
        ("openai.responses", {"output": [{"type": "function_call", "call_id": "c"}]}, ".output[0].name"),
        ("anthropic.messages", {"content": [{"type": "tool_use", "name": "f"}]}, ".content[0].input"),
        ("anthropic.messages", {"content": [{}]}, ".content[0].type"),
        ("anthropic.messages", {"stop_reason": "end_turn"}, ".content"),
        ("gemini.generate_content", {"candidates": []}, ".candidates"),
        ("gemini.generate_content", gemini(finish=None), ".candidates"),
        (
            "gemini.generate_content",
            gemini({"functionCall": {"name": "f", "args": []}}),
            ".candidates[0].content.parts[0].functionCall.args",
        ),
        ("ollama.chat", {"message": {}, "done": False}, ".done"),
        ("ollama.chat", {"done": True}, ".message"),
    ],
)
def test_a_payload_that_is_no_answer_is_refused_where_it_is_none(
    target: str, payload: Any, path: str
) -> None:
    assert refused(target, payload).field == f"payload_json{path}"


def test_an_unknown_target_and_names_that_say_two_things_are_refused() -> None:
    with pytest.raises(TargetUnknownError) as unknown:
        parsed("nobody.chat", {})
    assert unknown.value.metadata == {"target": "nobody.chat"}
    assert refused("", {}).field == "target"
    names = [ActionName(name="a", provider_name="x"), ActionName(name="b", provider_name="x"), ActionName()]
    with pytest.raises(FieldInvalidError) as caught:
        parsed("ollama.chat", {}, action_names=names)
    assert [violation.field for violation in caught.value.violations] == [
        "action_names[1].provider_name",
        "action_names[2].name",
        "action_names[2].provider_name",
    ]


def test_a_call_that_was_cut_is_an_error_unless_what_there_is_is_kept() -> None:
    call = {"id": "c", "function": {"name": "f", "arguments": '{"a":'}}
    payload = chat({"content": "words", "tool_calls": [call]}, "length")
    with pytest.raises(StreamIncompleteError) as caught:
        parsed("openai.chat", payload)
    assert caught.value.metadata["cause"] == "truncated_call"
    reply = parsed("openai.chat", payload, keep_partial=True)
    assert reply.fault.kind == pb.RESPONSE_FAULT_KIND_TRUNCATED_CALL
    assert [m.assistant_response.assistant_response for m in reply.messages] == ["words"]


def test_anthropic_shows_a_call_that_was_cut_as_if_it_were_whole() -> None:
    payload = claude({"type": "tool_use", "id": "t", "name": "f", "input": {}}, stop="max_tokens")
    with pytest.raises(StreamIncompleteError):
        parsed("anthropic.messages", payload)


def test_an_incomplete_call_of_a_responses_run_is_cut_streamed_or_whole() -> None:
    item = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}", "status": "incomplete"}
    ended = {
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": [item],
    }
    with pytest.raises(StreamIncompleteError):
        parsed("openai.responses", ended)
    kinds = ("response.output_item.added", "response.output_item.done")
    events = [event(compact({"type": kind, "output_index": 0, "item": item})) for kind in kinds]
    events.append(event(compact({"type": "response.incomplete", "response": ended})))
    reply = assemble(pb.AssembleOptions(target="openai.responses"), decode("openai.responses", events))
    assert reply.fault.kind == pb.RESPONSE_FAULT_KIND_TRUNCATED_CALL


@pytest.mark.parametrize("name", SAMPLES)
def test_what_only_the_provider_reads_is_kept_as_it_spelled_it(name: str) -> None:
    sample = SAMPLES[name]
    blocks = parsed(sample.target, sample.whole).messages[0].assistant_response.blocks
    opaque = [block.opaque for block in blocks if block.HasField("opaque")]
    assert all(each.data_json in sample.whole for each in opaque)
    assert all(each.provider == PROVIDERS[sample.target] for each in opaque)
    kinds = {
        "openai.responses": ["reasoning", "web_search_call"],
        "anthropic.messages": ["redacted_thinking", "server_tool_use"],
        "gemini.generate_content": ["executableCode"],
        "gemini array": ["executableCode"],
    }
    assert [each.kind for each in opaque] == kinds.get(name, [])


def test_a_members_own_text_is_found_whatever_stands_around_it() -> None:
    spelled = '{ "a" : [ 1.50 , { } ] , "\\u00e9" : "}" }'
    payload = (
        ' { "x" : [ "{" , { } ] ,\n "message" : { "content" : "" , "tool_calls" : [ {"function":'
        f'{{"name":"f","arguments":  {spelled} }} }} , {{"function":{{"name":"g","arguments":{{}}}}}} ] }} ,'
        ' "done" : true } '
    )
    requests = [each.action_request for each in parsed("ollama.chat", payload).messages[1:]]
    assert [each.arguments_json for each in requests] == [spelled, "{}"]


def test_the_requests_model_is_taken_where_the_payload_names_none() -> None:
    payload = {"choices": [{"message": {"content": "", "reasoning": "t"}, "finish_reason": "stop"}]}
    (message,) = parsed("openai.chat", payload, model="given").messages
    assert message.assistant_response.blocks[0].thinking.model == "given"
    named = parsed("openai.chat", payload | {"model": "named"}, model="given")
    assert named.messages[0].assistant_response.blocks[0].thinking.model == "named"


def test_signatures_are_the_issuers_that_the_capability_table_names() -> None:
    assert {name: row.provider for name, row in TABLE.targets.items()} == PROVIDERS


def test_usage_nets_what_the_cache_gave_and_never_goes_below_zero() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 1, "prompt_cache_hit_tokens": 25}
    reply = parsed("openai.chat", chat({"content": "x"}) | {"usage": usage})
    assert reply.usage == pb.Usage(input_tokens=0, output_tokens=1, cache_read_tokens=25)


@pytest.mark.parametrize("odd", [1.5, "7", -1, 2**63, True, [], {}])
def test_an_odd_count_of_the_usage_is_left_out_and_the_answer_kept(odd: Any) -> None:
    details = {"cached_tokens": 2}
    usage = {"prompt_tokens": odd, "completion_tokens": 5, "prompt_tokens_details": details}
    reply = parsed("openai.chat", chat({"content": "x"}) | {"usage": usage})
    assert reply.messages[0].assistant_response.assistant_response == "x"
    assert reply.usage == pb.Usage(input_tokens=0, output_tokens=5, cache_read_tokens=2)
    for lost in ({"prompt_tokens": odd}, odd, {"prompt_tokens_details": odd}):
        assert not parsed("openai.chat", chat({"content": "x"}) | {"usage": lost}).HasField("usage")


@pytest.mark.parametrize("name", SAMPLES)
def test_usage_of_odd_counts_alone_is_none_streamed_or_whole(name: str) -> None:
    sample = SAMPLES[name]
    odd = [
        re.sub(r'(?i)("[a-z_]*(?:tokens|tokencount|eval_count)"):\d+', r'\1:"many"', text)
        for text in (sample.whole, sample.stream.decode())
    ]
    whole = parsed(sample.target, odd[0])
    streamed = assemble(pb.AssembleOptions(target=sample.target), decode(sample.target, [odd[1].encode()]))
    assert list(whole.messages) == list(streamed.messages)
    assert whole.messages[0].assistant_response.assistant_response == TEXT
    assert not whole.HasField("usage")
    assert not streamed.HasField("usage")


def test_counts_whose_sum_is_more_than_the_wire_carries_are_the_most_it_carries() -> None:
    usage = {"promptTokenCount": 2**63 - 1, "toolUsePromptTokenCount": 2**63 - 1}
    reply = parsed("gemini.generate_content", gemini({"text": "x"}, usageMetadata=usage))
    assert reply.usage.input_tokens == 2**63 - 1


@pytest.mark.parametrize("word", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE"])
def test_what_gemini_calls_malformed_is_a_fault_in_its_words_and_what_was_said_is_kept(word: str) -> None:
    for message, words in (("Malformed: f(", f"{word}: Malformed: f("), (None, word)):
        nothing = {"candidates": [{"finishReason": word, "finishMessage": message}]}
        with pytest.raises(StreamIncompleteError) as caught:
            parsed("gemini.generate_content", nothing)
        assert caught.value.metadata["cause"] == "provider_fault"
        kept = parsed("gemini.generate_content", nothing, keep_partial=True)
        assert kept.fault == pb.ResponseFault(kind=pb.RESPONSE_FAULT_KIND_FAILED, detail=words)
        assert kept.provider_stop_reason == word
        some = gemini({"text": "so"}, finish=word)
        some["candidates"][0]["finishMessage"] = message
        reply = parsed("gemini.generate_content", some)
        assert reply.fault == pb.ResponseFault(kind=pb.RESPONSE_FAULT_KIND_PARTIAL, detail=words)
        assert reply.messages[0].assistant_response.assistant_response == "so"
        assert reply.messages[0].status == message_pb2.MESSAGE_STATUS_INTERRUPTED
        frames = [event(compact(some))]
        target = "gemini.generate_content"
        assert assemble(pb.AssembleOptions(target=target), decode(target, frames)).fault == reply.fault


@pytest.mark.parametrize(
    ("indexes", "read"), [((1, 0), 1), ((1, None), 1), ((0, 0), 0), ((2, 1), 0), ((None, 0), 0)]
)
def test_of_several_chat_answers_that_of_index_0_is_read_or_else_the_first(
    indexes: tuple[int | None, int | None], read: int
) -> None:
    choices = [
        {"index": index, "message": {"content": str(place)}, "finish_reason": "stop"}
        for place, index in enumerate(indexes)
    ]
    reply = parsed("openai.chat", {"choices": choices})
    assert reply.messages[0].assistant_response.assistant_response == str(read)


def test_anthropics_input_may_be_null() -> None:
    block = {"type": "tool_use", "id": "t", "name": "f", "input": None}
    request = parsed("anthropic.messages", claude(block, stop="tool_use")).messages[1].action_request
    assert (request.function, request.arguments_json) == ("f", "")


def test_a_reply_larger_than_a_reply_may_be_is_refused() -> None:
    request = pb.ParseResponseRequest(target="openai.chat", payload_json=compact(chat({"content": TEXT})))
    with pytest.raises(SizeLimitExceededError) as caught:
        parse_response(request, Limits(reply_bytes=20))
    assert caught.value.metadata["limit_name"] == "reply_bytes"


def answered(target: str, text: str) -> None:
    """Parse anything: there is an answer or an error with a reason, and nothing else."""
    reply = None
    fields: list[str] = []
    try:
        reply = parsed(target, text, keep_partial=True)
    except FieldInvalidError as error:
        fields = [violation.field for violation in error.violations]
    assert all(field.startswith("payload_json") for field in fields)
    assert legal(reply) if reply is not None else fields


def legal(reply: Any) -> bool:
    """Tell whether a history takes the messages."""
    violations: list[Violation] = []
    for message in reply.messages:
        validate_message(message, "message", violations)
    return not violations


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(TARGETS), st.text(max_size=20) | VALUES.map(json.dumps))
def test_any_text_is_answered_or_refused(target: str, text: str) -> None:
    answered(target, text.encode("utf-8", "replace").decode())


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all values within a value."""
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    return [path, *(place for key, item in items for place in places(item, (*path, key)))]


@settings(max_examples=600)
@given(st.sampled_from(sorted(SHORT)), st.data())
def test_a_real_answer_with_any_value_in_any_place_is_answered_or_refused(
    name: str, data: st.DataObject
) -> None:
    sample = SHORT[name]
    value = json.loads(sample.whole)
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(places(value)[1:]))
        holder = value
        for key in path[:-1]:
            holder = holder[key]
        if data.draw(st.booleans()):
            holder[path[-1]] = data.draw(VALUES)
        else:
            del holder[path[-1]]
        if len(places(value)) == 1:
            break
    answered(sample.target, json.dumps(value))


@settings(max_examples=300)
@given(st.sampled_from(TARGETS), st.data())
def test_a_real_stream_with_any_bytes_changed_gives_deltas_or_says_which_frame_is_wrong(
    target: str, data: st.DataObject
) -> None:
    stream = bytearray(SHORT[target].stream)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(stream) - 1))
        stream[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    deltas: list[pb.ProviderDelta] = []
    # Whatever else is raised fails the test.
    with suppress(StreamDecodeError):
        for delta in decode(target, [bytes(stream)]):
            deltas.append(delta)
    assert legal(assemble(pb.AssembleOptions(target=target), deltas))


def test_a_made_id_stays_the_same() -> None:
    reply = parsed(
        "gemini.generate_content",
        gemini(
            {"text": "hm", "thought": True, "thoughtSignature": "c2ln"},
            {"text": "Let me look."},
            {"executableCode": {"language": "PYTHON", "code": "1"}},
            {"functionCall": {"name": "look", "args": {"at": "sky"}}},
            modelVersion="g",
        ),
    )
    kinds = [each.WhichOneof("block") for each in reply.messages[0].assistant_response.blocks]
    assert kinds == ["thinking", "text", "opaque", "tool_call"]
    assert reply.messages[1].action_request.provider_call_id == MADE_ID

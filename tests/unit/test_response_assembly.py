"""Deltas to messages: the reducer, the verdicts, arguments and calls written as text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.compiler.v1 import compiled_message_pb2 as note_pb
from antiphon.compiler.v1 import provider_pb2 as pb
from antiphon.compiler.v1.target_pb2 import ActionName
from antiphon.message.v1 import message_pb2
from antiphon_client.errors import TargetUnknownError, Violation
from antiphon_client.messages.validation import validate_message
from antiphon_client.provider_streams import assemble
from antiphon_client.provider_streams.call_arguments import read_arguments, repair

D = pb.ProviderDelta


def start(call_id: str = "c", name: str = "f", **fields: Any) -> pb.ProviderDelta:
    return D(tool_call_start=pb.ToolCallStart(id=call_id, name=name, **fields))


def arguments(text: str, call_id: str = "c") -> pb.ProviderDelta:
    return D(tool_call_arguments=pb.ToolCallArguments(id=call_id, text=text))


def complete(text: str, call_id: str = "c") -> pb.ProviderDelta:
    return D(tool_call_arguments_complete=pb.ToolCallArguments(id=call_id, text=text))


def done(reason: pb.StopReason.ValueType = pb.STOP_REASON_END_TURN, word: str | None = None) -> D:
    return D(done=pb.ResponseDone(stop_reason=reason, provider_stop_reason=word))


END = D(tool_call_end="c")


def reply(
    *deltas: pb.ProviderDelta, target: str = "anthropic.messages", names: Sequence[ActionName] = ()
) -> pb.AssembleResponseResponse:
    return assemble(pb.AssembleOptions(target=target, model="m", action_names=names), deltas)


def request_of(answer: pb.AssembleResponseResponse) -> message_pb2.ActionRequestContent:
    (request,) = (each.action_request for each in answer.messages[1:])
    return request


def kinds(answer: pb.AssembleResponseResponse) -> list[str | None]:
    return [block.WhichOneof("block") for block in answer.messages[0].assistant_response.blocks]


def test_parts_keep_their_order_and_their_signatures() -> None:
    answer = reply(
        D(thinking="a"),
        D(thinking="b"),
        D(thinking_signature="s1"),
        D(thinking="c"),
        D(thinking_signature="s"),
        D(thinking_signature="2"),
        D(thinking=""),
        D(thinking_signature="s3"),
        D(text="x"),
        D(text="y"),
        D(opaque=pb.OpaqueDelta(kind="k", data_json='{"b":1.0,"a":2}')),
        D(text="z"),
        start(),
        complete("{}"),
        END,
        done(),
    )
    blocks = answer.messages[0].assistant_response.blocks
    assert kinds(answer) == ["thinking", "thinking", "thinking", "text", "opaque", "text", "tool_call"]
    thoughts = [(b.thinking.thinking, b.thinking.signature) for b in blocks[:3]]
    assert thoughts == [("ab", "s1"), ("c", "s2"), ("", "s3")]
    assert (blocks[0].thinking.provider, blocks[0].thinking.model) == ("anthropic", "m")
    assert blocks[4].opaque.data_json == '{"b":1.0,"a":2}'
    assert (blocks[4].opaque.provider, blocks[4].opaque.model) == ("anthropic", "m")
    assert answer.messages[0].assistant_response.assistant_response == "xyz"


def test_text_alone_needs_no_blocks_and_unsigned_empty_thinking_is_none() -> None:
    answer = reply(D(thinking=""), D(text="x"), done())
    assert kinds(answer) == []
    assert answer.messages[0].assistant_response.assistant_response == "x"


@pytest.mark.parametrize("target", ["openai.chat", "ollama.chat"])
def test_where_a_target_has_no_order_of_parts_reasoning_comes_before_text_before_calls(target: str) -> None:
    answer = reply(
        start(), D(text="a"), D(thinking="t"), complete("{}"), END, D(text="b"), done(), target=target
    )
    assert kinds(answer) == ["thinking", "text", "tool_call"]


def test_the_models_own_name_wins_over_the_options() -> None:
    answer = reply(D(model="first"), D(model="second"), D(thinking="t"), done())
    assert answer.messages[0].assistant_response.blocks[0].thinking.model == "first"


def test_deltas_of_calls_that_have_not_begun_and_repeated_starts_are_ignored() -> None:
    answer = reply(
        arguments("{", "x"),
        complete("{}", "x"),
        D(tool_call_end="x"),
        start(thought_signature="s"),
        start(name="g", thought_signature="other"),
        arguments('{"a":'),
        complete(""),
        arguments("1}"),
        END,
        done(),
    )
    request = request_of(answer)
    assert (request.function, request.arguments_json, request.thought_signature) == ("f", '{"a":1}', "s")
    marker = answer.messages[0].assistant_response.blocks[0].tool_call
    assert (marker.id, marker.name, marker.thought_signature) == ("c", "f", "s")


def test_whole_arguments_replace_their_pieces() -> None:
    assert request_of(
        reply(start(), arguments('{"a":'), complete('{"b":2}'), END, done())
    ).arguments_json == ('{"b":2}')


def test_usage_is_merged_field_by_field() -> None:
    answer = reply(
        D(usage=pb.Usage(input_tokens=5, cache_read_tokens=3, thinking_tokens=0)),
        D(usage=pb.Usage(output_tokens=7, cache_read_tokens=0)),
        D(text="x"),
        done(),
    )
    assert answer.usage == pb.Usage(input_tokens=5, output_tokens=7, cache_read_tokens=3, thinking_tokens=0)
    assert json.loads(answer.messages[0].metadata_json) == {
        "provider": "anthropic",
        "model": "m",
        "usage": {"input_tokens": 5, "output_tokens": 7, "cache_read_tokens": 3, "thinking_tokens": 0},
    }
    assert not reply(D(text="x"), done()).HasField("usage")


def test_the_last_end_wins() -> None:
    answer = reply(D(text="x"), done(pb.STOP_REASON_END_TURN, "a"), done(pb.STOP_REASON_MAX_TOKENS, "b"))
    assert (answer.stop_reason, answer.provider_stop_reason) == (pb.STOP_REASON_MAX_TOKENS, "b")


@pytest.mark.parametrize(
    ("deltas", "reason"),
    [
        ((start(), complete("{}"), END, done()), pb.STOP_REASON_TOOL_USE),
        ((D(refusal="no"), done()), pb.STOP_REASON_REFUSAL),
        ((D(text="x"), done()), pb.STOP_REASON_END_TURN),
        ((D(text="x"), done(pb.STOP_REASON_UNSPECIFIED)), pb.STOP_REASON_UNSPECIFIED),
        ((D(text="x"),), pb.STOP_REASON_UNSPECIFIED),
    ],
)
def test_what_the_model_did_says_why_it_stopped(
    deltas: tuple[pb.ProviderDelta, ...], reason: pb.StopReason.ValueType
) -> None:
    assert reply(*deltas).stop_reason == reason


def test_a_refusal_is_kept_in_the_record_too() -> None:
    answer = reply(D(refusal="I ca"), D(refusal="n't"), done())
    assert answer.refusal == "I can't"
    assert json.loads(answer.messages[0].metadata_json)["refusal"] == "I can't"


FAULT = D(error="boom")
CUT = (start(), arguments('{"a":'))

VERDICTS = {
    "whole": ((D(text="x"), done()), None, 1),
    "nothing at all": ((), pb.RESPONSE_FAULT_KIND_NO_TERMINAL, 0),
    "no end": ((D(text="x"),), pb.RESPONSE_FAULT_KIND_NO_TERMINAL, 1),
    "a whole call, no end": ((start(), arguments("{}")), pb.RESPONSE_FAULT_KIND_NO_TERMINAL, 2),
    "a call begun, no end": ((start(),), pb.RESPONSE_FAULT_KIND_NO_TERMINAL, 0),
    "a number begun, no end": ((start(), arguments("1")), pb.RESPONSE_FAULT_KIND_NO_TERMINAL, 0),
    "a call cut, no end": ((D(text="x"), *CUT), pb.RESPONSE_FAULT_KIND_NO_TERMINAL, 1),
    "a call cut": ((D(text="x"), *CUT, END, done()), pb.RESPONSE_FAULT_KIND_TRUNCATED_CALL, 1),
    "a call begun, the end": ((D(text="x"), start(), done()), pb.RESPONSE_FAULT_KIND_TRUNCATED_CALL, 1),
    "free text begun, the end": (
        (D(text="x"), start(is_free_text=True), arguments("x"), done()),
        pb.RESPONSE_FAULT_KIND_TRUNCATED_CALL,
        1,
    ),
    "free text given whole, the end": ((start(is_free_text=True), complete("x"), done()), None, 2),
    "a call cut, a fault": ((D(text="x"), *CUT, FAULT), pb.RESPONSE_FAULT_KIND_TRUNCATED_CALL, 1),
    "a fault alone": ((FAULT,), pb.RESPONSE_FAULT_KIND_FAILED, 0),
    "a fault, the end, no words": ((FAULT, done()), pb.RESPONSE_FAULT_KIND_FAILED, 0),
    "a fault after thinking": ((D(thinking="t"), FAULT), pb.RESPONSE_FAULT_KIND_FAILED, 1),
    "a fault after a cut call": ((*CUT, FAULT), pb.RESPONSE_FAULT_KIND_FAILED, 0),
    "a fault after a refusal": ((D(refusal="no"), FAULT), pb.RESPONSE_FAULT_KIND_PARTIAL, 1),
    "a fault after words": ((D(text="x"), FAULT), pb.RESPONSE_FAULT_KIND_PARTIAL, 1),
    "a fault after a call": ((start(), complete("{}"), FAULT), pb.RESPONSE_FAULT_KIND_PARTIAL, 2),
    "a fault after the end": ((D(text="x"), done(), FAULT), pb.RESPONSE_FAULT_KIND_PARTIAL, 1),
    "a fault before the end": ((D(text="x"), FAULT, done()), pb.RESPONSE_FAULT_KIND_ADVISORY, 1),
    "the end, faults, the end": ((D(text="x"), FAULT, done(), FAULT), pb.RESPONSE_FAULT_KIND_PARTIAL, 1),
}


@pytest.mark.parametrize("case", VERDICTS)
def test_the_verdict_of_every_course_of_events(case: str) -> None:
    deltas, kind, messages = VERDICTS[case]
    answer = reply(*deltas)
    assert (answer.fault.kind if answer.HasField("fault") else None) == kind
    assert len(answer.messages) == messages
    if messages:
        kept = answer.messages[0].status == message_pb2.MESSAGE_STATUS_INTERRUPTED
        assert kept == (kind not in (None, pb.RESPONSE_FAULT_KIND_ADVISORY))


def test_the_first_fault_counts() -> None:
    assert reply(D(text="x"), D(error="one"), D(error="two")).fault.detail == "one"


@pytest.mark.parametrize("reason", [pb.STOP_REASON_MAX_TOKENS, pb.STOP_REASON_REFUSAL])
@pytest.mark.parametrize("pieces", [(), (arguments("{}"),), (arguments('{"a":1}'),)])
def test_a_call_at_the_end_of_an_answer_that_was_cut_is_not_whole(
    reason: pb.StopReason.ValueType, pieces: tuple[pb.ProviderDelta, ...]
) -> None:
    answer = reply(D(text="x"), start(), *pieces, END, done(reason))
    assert answer.fault.kind == pb.RESPONSE_FAULT_KIND_TRUNCATED_CALL
    assert len(answer.messages) == 1
    assert kinds(answer) == []
    assert [note.kind for note in answer.report] == [note_pb.COMPILE_NOTE_KIND_PART_DROPPED]
    whole = reply(start(), *pieces, complete('{"a":1}'), END, done(reason))
    assert request_of(whole).arguments_json == '{"a":1}'


def test_a_whole_call_before_a_cut_one_is_kept() -> None:
    answer = reply(start("a"), complete("{}", "a"), start("b", "g"), arguments('{"', "b"), done())
    assert answer.fault.detail.startswith("g: ")
    assert [each.action_request.provider_call_id for each in answer.messages[1:]] == ["a"]


WRITTEN = {
    '{"a":1,"b":9007199254740993}': ('{"a":1,"b":9007199254740993}', None),
    ' {"a": 1.0} ': (' {"a": 1.0} ', None),
    "{}": ("{}", None),
    "": ("", ""),
    "null": ("", "null"),
    "[]": ("", "[]"),
    '""': ("", '""'),
    '"{}"': ("", '"{}"'),
    "[1,2]": ("", "[1,2]"),
    '[{"a":1}]': ("", '[{"a":1}]'),
    '{"a":1,}': ('{"a":1}', '{"a":1,}'),
    '{"a":[1,2, ],}': ('{"a":[1,2 ]}', '{"a":[1,2, ],}'),
    '{"a":"x\ny\tz\x00"}': ('{"a":"x\\ny\\tz\\u0000"}', '{"a":"x\ny\tz\x00"}'),
    r'{"a":"C:\dir\u12"}': (r'{"a":"C:\\dir\\u12"}', r'{"a":"C:\dir\u12"}'),
    r'{"a":",}\"","b":1,}': (r'{"a":",}\"","b":1}', r'{"a":",}\"","b":1,}'),
}


@pytest.mark.parametrize("text", WRITTEN)
def test_arguments_as_models_write_them(text: str) -> None:
    object_json, kept = WRITTEN[text]
    request = request_of(reply(start(), arguments(text), END, done()))
    assert request.arguments_json == object_json
    assert (request.arguments_text if request.HasField("arguments_text") else None) == kept


@pytest.mark.parametrize(
    "text", ['{"a":', '{"a":"x', '{"a":1', "{a:1}", '{"a":1}}', '{"a":"\\', "{'a':1}", '{"a":1,"a":2}', "tru"]
)
def test_arguments_that_are_no_json_are_never_the_empty_object(text: str) -> None:
    answer = reply(D(text="x"), start(), arguments(text), END, done())
    assert answer.fault.kind == pb.RESPONSE_FAULT_KIND_TRUNCATED_CALL
    assert len(answer.messages) == 1


def test_what_was_repaired_or_is_no_object_is_noted() -> None:
    def notes(text: str) -> list[int]:
        return [note.kind for note in reply(start(), arguments(text), END, done()).report]

    assert notes('{"a":1,}') == [note_pb.COMPILE_NOTE_KIND_ARGUMENTS_REPAIRED]
    assert notes("[1]") == [note_pb.COMPILE_NOTE_KIND_ARGUMENTS_WRAPPED]
    assert notes("") == notes("{}") == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(st.characters(codec="utf-8")), JSON)


@given(OBJECTS, st.data())
def test_a_proper_beginning_of_an_object_is_never_whole(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value, ensure_ascii=False)
    assert read_arguments(text).object_json == text
    end = data.draw(st.integers(1, len(text) - 1))
    assert read_arguments(text[:end]).problem is not None


@given(JSON)
def test_the_repair_leaves_json_as_it_is(value: Any) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        assert repair(text) == text


@given(st.text(st.sampled_from('{}[]",:\\ \n\x01ua1')))
def test_the_repair_adds_nothing_but_escapes(text: str) -> None:
    repaired = repair(text)
    for bracket in '{}[]"':
        assert repaired.count(bracket) == text.count(bracket)
    assert repair(repaired) == repaired


TEXT_CALL = '{"action":{"type":"tool","tool_name":"read","arguments":{"n":9007199254740993,"a":1.0}}}'


@pytest.mark.parametrize(
    "text", [TEXT_CALL, f"\n {TEXT_CALL} \n", f"```json\n{TEXT_CALL}\n```", f"```\n{TEXT_CALL}```\n"]
)
def test_a_text_that_is_a_call_becomes_it(text: str) -> None:
    answer = reply(D(thinking="t"), D(text=text[:20]), D(text=text[20:]), done())
    request = request_of(answer)
    assert (request.function, request.arguments_json) == ("read", '{"n":9007199254740993,"a":1.0}')
    assert answer.messages[0].assistant_response.assistant_response == ""
    assert answer.stop_reason == pb.STOP_REASON_TOOL_USE
    assert kinds(answer) == ["thinking", "tool_call"]
    assert request.provider_call_id.startswith("call_0_")
    assert [note.kind for note in answer.report] == [note_pb.COMPILE_NOTE_KIND_PART_CONVERTED]


@pytest.mark.parametrize(
    "text",
    [
        "so: " + TEXT_CALL,
        TEXT_CALL + TEXT_CALL,
        TEXT_CALL[:-1],
        '{"action":{"type":"say","tool_name":"read"}}',
        '{"action":{"type":"tool"}}',
        '{"action":{"type":"tool","tool_name":""}}',
        '{"action":{"type":"tool","tool_name":5}}',
        '{"action":{"type":"tool","tool_name":"r","arguments":"{"}}',
        '{"action":{"type":"tool","tool_name":"r","more":1}}',
        '{"action":{"type":"tool","tool_name":"r"},"why":"x"}',
        '{"action":[]}',
        "[]",
    ],
)
def test_any_other_text_stays_text(text: str) -> None:
    answer = reply(D(text=text), done())
    assert answer.messages[0].assistant_response.assistant_response == text
    assert len(answer.messages) == 1


def test_beside_a_call_a_text_stays_text() -> None:
    answer = reply(D(text=TEXT_CALL), start(), complete("{}"), END, done())
    assert answer.messages[0].assistant_response.assistant_response == TEXT_CALL
    assert request_of(answer).function == "f"


def test_names_are_mapped_back_wherever_they_stand() -> None:
    names = [ActionName(name="my tool!", provider_name="my_tool_")]
    answer = reply(start(name="my_tool_"), complete("{}"), END, done(), names=names)
    assert request_of(answer).function == "my tool!"
    assert answer.messages[0].assistant_response.blocks[0].tool_call.name == "my tool!"
    written = TEXT_CALL.replace("read", "my_tool_")
    assert request_of(reply(D(text=written), done(), names=names)).function == "my tool!"


def test_ids_that_are_made_differ_from_answer_to_answer_and_call_to_call() -> None:
    def ids(text: str) -> list[str]:
        local = [start("1", id_is_local=True), start("2", id_is_local=True)]
        answer = reply(D(text=text), *local, complete("{}", "1"), complete("{}", "2"), done())
        return [each.action_request.provider_call_id for each in answer.messages[1:]]

    assert ids("a") == ids("a")
    assert len({*ids("a"), *ids("b")}) == 4


def test_an_unknown_target_is_refused() -> None:
    with pytest.raises(TargetUnknownError):
        reply(target="nobody.chat")


TEXTS = st.text(st.characters(codec="utf-8"), max_size=6)
IDS = st.sampled_from(["a", "b"])
DELTAS = st.one_of(
    TEXTS.map(lambda text: D(text=text)),
    TEXTS.map(lambda text: D(thinking=text)),
    TEXTS.map(lambda text: D(thinking_signature=text)),
    TEXTS.map(lambda text: D(refusal=text)),
    TEXTS.map(lambda text: D(error=text)),
    TEXTS.map(lambda text: D(model=text)),
    st.builds(start, IDS, TEXTS, id_is_local=st.booleans(), is_free_text=st.booleans()),
    st.builds(arguments, st.sampled_from(["{", "}", '"a"', ":1", "{}", "", " ", "x"]), IDS),
    st.builds(complete, st.sampled_from(["{", "{}", "[]", ""]), IDS),
    IDS.map(lambda call_id: D(tool_call_end=call_id)),
    st.sampled_from(pb.StopReason.values()).map(done),
    st.just(D(opaque=pb.OpaqueDelta(kind="k", data_json="[1]"))),
    st.integers(0, 3).map(lambda count: D(usage=pb.Usage(input_tokens=count, cache_read_tokens=count))),
    st.just(D()),
)


@given(st.lists(DELTAS, max_size=14), st.sampled_from(["openai.chat", "gemini.generate_content"]))
def test_any_deltas_give_messages_that_a_history_takes(deltas: list[pb.ProviderDelta], target: str) -> None:
    answer = reply(*deltas, target=target)
    violations: list[Violation] = []
    for message in answer.messages:
        validate_message(message, "message", violations)
    assert violations == []
    markers = [
        block.tool_call.id
        for message in answer.messages[:1]
        for block in message.assistant_response.blocks
        if block.HasField("tool_call")
    ]
    calls = [each.action_request for each in answer.messages[1:]]
    assert markers == [call.provider_call_id for call in calls]
    assert len(set(markers)) == len(markers)
    assert all(call.function for call in calls)
    text = "".join(d.text for d in deltas if d.WhichOneof("delta") == "text")
    assert "".join(m.assistant_response.assistant_response for m in answer.messages[:1]) == text
    assert reply(*deltas, target=target) == answer

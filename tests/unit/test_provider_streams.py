"""Raw streams of every provider to messages: cut anywhere, cut short, and with faults within."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from antiphon.compiler.v1 import provider_pb2 as pb
from antiphon.message.v1 import message_pb2
from antiphon_client.errors import TargetUnknownError
from antiphon_client.gemini_contents import import_contents
from antiphon_client.limits import DEFAULT_LIMITS
from antiphon_client.provider_streams import StreamDecodeError, assemble, decode, decode_async
from compiler_service.responses import parse_response
from tests.support.provider_responses import (
    ARGUMENTS_A,
    ARGUMENTS_B,
    SAMPLES,
    SHORT,
    SIGNATURE,
    SIGNATURE_2,
    TEXT,
    THINKING,
    Sample,
    compact,
    event,
)

every_sample = pytest.mark.parametrize("name", SAMPLES)


def assembled(target: str, *chunks: bytes, model: str | None = None) -> pb.AssembleResponseResponse:
    return assemble(pb.AssembleOptions(target=target, model=model), decode(target, chunks))


def parsed(target: str, payload: str) -> pb.ParseResponseResponse:
    return parse_response(pb.ParseResponseRequest(target=target, payload_json=payload), DEFAULT_LIMITS)


def plain(reply: Any) -> bytes:
    encoded: bytes = reply.SerializeToString(deterministic=True)
    return encoded


def calls_of(reply: Any) -> list[tuple[str, str]]:
    requests = [each.action_request for each in reply.messages if each.HasField("action_request")]
    return [(each.function, each.arguments_json) for each in requests]


@every_sample
def test_a_stream_and_the_whole_answer_give_equal_replies(name: str) -> None:
    sample = SAMPLES[name]
    assert plain(assembled(sample.target, sample.stream)) == plain(parsed(sample.target, sample.whole))


@every_sample
def test_what_the_provider_said_arrives(name: str) -> None:
    reply = assembled(SAMPLES[name].target, SAMPLES[name].stream)
    turn = reply.messages[0].assistant_response
    assert turn.assistant_response == TEXT
    assert calls_of(reply) == [("look_up", ARGUMENTS_A), ("count", ARGUMENTS_B)]
    assert "".join(b.thinking.thinking for b in turn.blocks).startswith(THINKING)
    assert reply.stop_reason == pb.STOP_REASON_TOOL_USE
    cached = 0 if name == "ollama.chat" else 30
    assert (reply.usage.input_tokens, reply.usage.cache_read_tokens) == (100 - cached, cached)
    markers = [b.tool_call.id for b in turn.blocks if b.HasField("tool_call")]
    assert markers == [m.action_request.provider_call_id for m in reply.messages[1:]]
    assert not reply.HasField("fault")
    metadata = json.loads(reply.messages[0].metadata_json)
    assert metadata["usage"]["output_tokens"] == reply.usage.output_tokens > 0


@every_sample
def test_a_stream_cut_at_every_byte_gives_the_same_reply(name: str) -> None:
    sample = SHORT[name]
    stream = sample.stream
    expected = plain(assembled(sample.target, stream))
    for at in range(1, len(stream)):
        assert plain(assembled(sample.target, stream[:at], stream[at:])) == expected, at


@every_sample
def test_a_stream_that_comes_byte_by_byte_gives_the_same_reply(name: str) -> None:
    sample = SAMPLES[name]
    one_by_one = [sample.stream[at : at + 1] for at in range(len(sample.stream))]
    assert plain(assembled(sample.target, *one_by_one)) == plain(assembled(sample.target, sample.stream))


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("name", ["openai.chat", "openai.responses", "anthropic.messages"])
def test_lines_may_end_in_any_way_and_comments_may_stand_anywhere(name: str, line_end: bytes) -> None:
    sample = SHORT[name]
    expected = plain(assembled(sample.target, sample.stream))
    frames = b": note\n\n".join((b"\xef\xbb\xbfid: 1\n", *sample.frames)).replace(b"\n", line_end)
    for size in (1, 2, 3, 64):
        chunks = [frames[at : at + size] for at in range(0, len(frames), size)]
        assert plain(assembled(sample.target, *chunks)) == expected


def test_data_on_several_lines_is_one_event() -> None:
    data = json.dumps({"choices": [{"delta": {"content": "a\nb"}, "finish_reason": "stop"}]}, indent=1)
    stream = "".join(f"data:{line}\n" for line in data.split("\n")) + "\n"
    for line_end in ("\n", "\r\n", "\r"):
        encoded = stream.replace("\n", line_end).encode()
        for at in range(len(encoded)):
            reply = assembled("openai.chat", encoded[:at], encoded[at:])
            assert reply.messages[0].assistant_response.assistant_response == "a\nb"


@every_sample
def test_without_its_last_frames_a_stream_is_incomplete_and_its_words_are_kept(name: str) -> None:
    sample = SAMPLES[name]
    reply = assembled(sample.target, *sample.frames[: -sample.terminal])
    assert reply.fault.kind == pb.RESPONSE_FAULT_KIND_NO_TERMINAL
    assert reply.stop_reason == pb.STOP_REASON_UNSPECIFIED
    assert reply.messages[0].status == message_pb2.MESSAGE_STATUS_INTERRUPTED
    assert reply.messages[0].assistant_response.assistant_response == TEXT


@every_sample
def test_wherever_a_stream_is_cut_short_no_call_has_arguments_that_are_not_its_own(name: str) -> None:
    sample = SHORT[name]
    whole = calls_of(assembled(sample.target, sample.stream))
    faults = set()
    for end in range(len(sample.stream)):
        reply = assembled(sample.target, sample.stream[:end])
        assert calls_of(reply) == whole[: len(calls_of(reply))], end
        faults.add(reply.fault.kind)
    assert pb.RESPONSE_FAULT_KIND_NO_TERMINAL in faults
    assert faults <= {pb.RESPONSE_FAULT_KIND_NO_TERMINAL, pb.RESPONSE_FAULT_KIND_UNSPECIFIED}


@every_sample
def test_a_last_frame_without_its_line_end_counts(name: str) -> None:
    sample = SHORT[name]
    assert plain(assembled(sample.target, sample.stream.rstrip())) == plain(
        assembled(sample.target, sample.stream)
    )


ERRORS = {
    "openai.chat": (
        {"error": {"message": "boom", "type": "server_error", "code": None}},
        "server_error: boom",
    ),
    "openai.responses": (
        {"type": "error", "code": "server_error", "message": "boom", "param": None, "sequence_number": 9},
        "server_error: boom",
    ),
    "anthropic.messages": (
        {"type": "error", "error": {"type": "overloaded_error", "message": "boom"}},
        "overloaded_error: boom",
    ),
    "gemini.generate_content": (
        {"error": {"code": 503, "message": "boom", "status": "UNAVAILABLE"}},
        "UNAVAILABLE: boom",
    ),
    "ollama.chat": ({"error": "boom"}, "boom"),
}


def error_frame(target: str) -> bytes:
    data = compact(ERRORS[target][0])
    return f"{data}\n".encode() if target == "ollama.chat" else event(data, "error")


@pytest.mark.parametrize("target", ERRORS)
def test_an_error_frame_is_a_fault_in_the_providers_words(target: str) -> None:
    sample = SAMPLES[target]
    alone = assembled(target, error_frame(target))
    assert alone.fault == pb.ResponseFault(kind=pb.RESPONSE_FAULT_KIND_FAILED, detail=ERRORS[target][1])
    assert not alone.messages
    last = assembled(target, *sample.frames[: -sample.terminal], error_frame(target))
    assert last.fault.kind == pb.RESPONSE_FAULT_KIND_PARTIAL
    assert last.messages[0].assistant_response.assistant_response == TEXT
    early = assembled(target, error_frame(target), sample.stream)
    assert early.fault.kind == pb.RESPONSE_FAULT_KIND_ADVISORY
    assert early.messages == assembled(target, sample.stream).messages


def test_a_failed_responses_run_is_a_fault() -> None:
    failed = {"status": "failed", "error": {"code": "rate_limit_exceeded", "message": "slow down"}}
    reply = assembled("openai.responses", event(compact({"type": "response.failed", "response": failed})))
    assert reply.fault.kind == pb.RESPONSE_FAULT_KIND_FAILED
    assert reply.fault.detail == "rate_limit_exceeded: slow down"


@pytest.mark.parametrize(
    ("target", "frame"),
    [
        ("openai.chat", b"data: {nonsense\n\n"),
        ("openai.chat", b'data: {"choices":[{"delta":{"content":5}}]}\n\n'),
        ("openai.chat", b'data: {"choices":[{"delta":{"content":"\xff"}}]}\n\n'),
        ("openai.responses", b"data: []\n\n"),
        ("anthropic.messages", b'data: {"type":"content_block_start","index":0}\n\n'),
        ("gemini.generate_content", b'data: {"candidates":{}}\n\n'),
        ("ollama.chat", b"oops\n"),
    ],
)
def test_a_frame_that_is_not_the_providers_is_an_error_that_says_where(target: str, frame: bytes) -> None:
    with pytest.raises(StreamDecodeError, match="frame 1 of the stream"):
        list(decode(target, [frame]))


def test_a_source_that_fails_after_the_reason_for_stopping_leaves_a_whole_response() -> None:
    sample = SAMPLES["openai.chat"]

    def source() -> Iterator[bytes]:
        yield from sample.frames[:-2]
        raise ConnectionError("gone")

    deltas: list[pb.ProviderDelta] = []
    with pytest.raises(ConnectionError, match="gone"):
        deltas.extend(decode_until_error(source(), deltas))
    reply = assemble(pb.AssembleOptions(target="openai.chat"), deltas)
    assert not reply.HasField("fault")
    assert not reply.HasField("usage")


def decode_until_error(chunks: Iterator[bytes], into: list[pb.ProviderDelta]) -> Iterator[pb.ProviderDelta]:
    for delta in decode("openai.chat", chunks):
        into.append(delta)
    yield from ()


def test_an_unknown_target_has_no_decoder() -> None:
    with pytest.raises(TargetUnknownError):
        list(decode("nobody.chat", []))


@pytest.mark.anyio
@every_sample
async def test_the_asynchronous_decoder_gives_the_same_deltas(name: str) -> None:
    sample = SAMPLES[name]

    async def source() -> AsyncIterator[bytes]:
        for at in range(0, len(sample.stream), 100):
            yield sample.stream[at : at + 100]

    assert [delta async for delta in decode_async(sample.target, source())] == list(
        decode(sample.target, [sample.stream])
    )


def chat(*choices: dict[str, Any], **rest: Any) -> list[bytes]:
    return [event(compact({"choices": [choice], **rest})) for choice in choices]


def call_piece(index: int | None = None, **fields: Any) -> dict[str, Any]:
    piece = fields if index is None else {"index": index, **fields}
    return {"index": 0, "delta": {"tool_calls": [piece]}}


END = {"index": 0, "delta": {}, "finish_reason": "tool_calls"}


def function(name: str | None = None, arguments: str | None = None) -> dict[str, Any]:
    given = {"name": name, "arguments": arguments}
    return {key: value for key, value in given.items() if value is not None}


def test_the_end_waits_for_the_usage_and_is_the_last_delta() -> None:
    kinds = [d.WhichOneof("delta") for d in decode("openai.chat", SAMPLES["openai.chat"].frames)]
    assert kinds[-2:] == ["usage", "done"]


def test_calls_that_share_an_index_are_told_apart_by_their_ids() -> None:
    frames = chat(
        call_piece(0, id="a", function=function("f", '{"x":1}')),
        call_piece(0, id="b", function=function("f", '{"x":2}')),
        END,
    )
    reply = assembled("openai.chat", *frames)
    assert calls_of(reply) == [("f", '{"x":1}'), ("f", '{"x":2}')]


def test_calls_without_ids_or_of_one_id_get_ids_of_their_own() -> None:
    def ids(text: str) -> list[str]:
        frames = chat(
            {"index": 0, "delta": {"content": text}},
            call_piece(0, function=function("f", "{}")),
            call_piece(1, id="same", function=function("f", "{}")),
            call_piece(2, id="same", function=function("f", "{}")),
            END,
        )
        reply = assembled("openai.chat", *frames)
        return [each.action_request.provider_call_id for each in reply.messages[1:]]

    first, again, other = ids("a"), ids("a"), ids("b")
    assert first == again
    assert first[1] == "same"
    assert len(set(first)) == 3
    assert set(first) & set(other) == {"same"}


def test_a_call_that_never_gets_a_name_is_cut() -> None:
    frames = chat(call_piece(0, id="a", function=function(None, "{}")), END)
    reply = assembled("openai.chat", *frames)
    assert reply.fault.kind == pb.RESPONSE_FAULT_KIND_TRUNCATED_CALL
    assert not calls_of(reply)


def test_the_older_form_of_a_call_is_read() -> None:
    frames = chat(
        {"index": 0, "delta": {"function_call": {"name": "f", "arguments": ""}}},
        {"index": 0, "delta": {"function_call": {"arguments": '{"x":1}'}}},
        {"index": 0, "delta": {}, "finish_reason": "function_call"},
    )
    reply = assembled("openai.chat", *frames)
    assert calls_of(reply) == [("f", '{"x":1}')]
    assert reply.stop_reason == pb.STOP_REASON_TOOL_USE


def test_other_answers_than_the_first_are_left_out() -> None:
    frames = chat(
        {"index": 0, "delta": {"content": "one"}},
        {"index": 1, "delta": {"content": "two"}, "finish_reason": "length"},
        {"index": 0, "delta": {}, "finish_reason": "stop"},
    )
    reply = assembled("openai.chat", *frames)
    assert reply.messages[0].assistant_response.assistant_response == "one"
    assert reply.stop_reason == pb.STOP_REASON_END_TURN


def test_a_custom_tools_input_is_kept_as_text() -> None:
    frames = chat(
        call_piece(0, id="a", type="custom", custom={"name": "run", "input": "print("}),
        call_piece(0, custom={"input": "1)"}),
        END,
    )
    whole = {
        "choices": [
            {
                "message": {
                    "tool_calls": [
                        {"id": "a", "type": "custom", "custom": {"name": "run", "input": "print(1)"}}
                    ]
                },
                "finish_reason": "tool_calls",
            }
        ]
    }
    reply = assembled("openai.chat", *frames)
    request = reply.messages[1].action_request
    assert (request.arguments_text, request.arguments_json) == ("print(1)", "")
    assert not reply.report
    assert plain(reply) == plain(parsed("openai.chat", compact(whole)))


def test_anthropics_stream_without_its_last_event_is_whole_once_the_reason_was_said() -> None:
    sample = SAMPLES["anthropic.messages"]
    assert plain(assembled(sample.target, *sample.frames[:-1])) == plain(
        assembled(sample.target, sample.stream)
    )


def test_anthropics_call_without_arguments_is_the_empty_object() -> None:
    frames = [
        event(
            compact(
                {
                    "type": "content_block_start",
                    "index": 0,
                    "content_block": {"type": "tool_use", "id": "t", "name": "f", "input": {}},
                }
            )
        ),
        event(compact({"type": "content_block_stop", "index": 0})),
        event(compact({"type": "message_delta", "delta": {"stop_reason": "tool_use"}})),
        event(compact({"type": "message_stop"})),
    ]
    reply = assembled("anthropic.messages", *frames)
    assert calls_of(reply) == [("f", "{}")]
    cut = [*frames[:2], event(compact({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}))]
    reply = assembled("anthropic.messages", *cut)
    assert reply.fault.kind == pb.RESPONSE_FAULT_KIND_TRUNCATED_CALL
    assert not calls_of(reply)


def test_geminis_signature_beside_text_stands_in_its_place() -> None:
    reply = assembled("gemini.generate_content", SAMPLES["gemini.generate_content"].stream)
    blocks = reply.messages[0].assistant_response.blocks
    kinds = [block.WhichOneof("block") for block in blocks]
    assert kinds == ["thinking", "opaque", "text", "thinking", "tool_call", "tool_call"]
    assert blocks[3].thinking.signature == SIGNATURE_2
    assert [m.action_request.thought_signature for m in reply.messages[1:]] == [SIGNATURE, ""]


@every_sample
def test_a_sample_is_what_it_says(name: str) -> None:
    """The samples' streams hold characters of several bytes, so that cuts go through them."""
    sample: Sample = SHORT[name]
    assert any(byte >= 0x80 for byte in sample.stream)
    assert sample.stream == b"".join(sample.frames)


@every_sample
def test_the_model_is_told_once(name: str) -> None:
    sample = SAMPLES[name]
    deltas = [*decode(sample.target, [sample.stream])]
    assert len([delta for delta in deltas if delta.HasField("model")]) <= 1
    if sample.target == "ollama.chat":
        assert sample.stream.count(b'"model"') > 1, "it names the model in every line"


@pytest.mark.parametrize(
    "attribute", ["thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata"]
)
def test_what_a_gemini_part_holds_is_told_from_what_is_said_of_it(attribute: str) -> None:
    held = {"inlineData": {"mimeType": "audio/wav", "data": "AA=="}}
    part = {attribute: "c2ln" if attribute == "thoughtSignature" else {}, **held}
    whole = {"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]}
    block = parsed("gemini.generate_content", compact(whole)).messages[0].assistant_response.blocks[0]
    assert block.opaque.kind == "inlineData"
    (record,) = import_contents([{"role": "model", "parts": [part]}]).messages
    assert record.assistant_response.blocks[0].opaque.kind == "inlineData"

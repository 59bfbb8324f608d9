"""ParseResponse and AssembleResponse over the wire and through the SDK."""

from __future__ import annotations

import traceback
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import grpc.aio
import pytest

from antiphon.compiler.v1 import provider_pb2 as pb
from antiphon.compiler.v1.compiler_service_pb2_grpc import CompilerServiceStub
from antiphon.compiler.v1.target_pb2 import ActionName
from antiphon_client import ActionRequest, AssistantResponse, AsyncCompilerClient, Branch, CompilerClient
from antiphon_client.errors import (
    AntiphonError,
    FieldInvalidError,
    StreamIncompleteError,
    TargetUnknownError,
)
from antiphon_client.history import HistoryClient
from antiphon_client.limits import Limits
from antiphon_client.provider_response import ResponseFault, Usage
from antiphon_client.provider_streams import assemble, decode, decode_async
from antiphon_client.status import error_from_rpc
from compiler_service.server import build_server
from compiler_service.settings import CompilerSettings
from tests.support.pair import Pair, served_pair
from tests.support.provider_responses import ARGUMENTS_A, SAMPLES, TEXT, Sample

if TYPE_CHECKING:
    # Known to the type stubs only.
    from antiphon.compiler.v1.compiler_service_pb2_grpc import CompilerServiceAsyncStub

Request = pb.AssembleResponseRequest
every_sample = pytest.mark.parametrize("name", SAMPLES)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with served_pair(tmp_path_factory.mktemp("pair")) as pair:
        yield pair


@pytest.fixture(scope="module")
def compiler(pair: Pair) -> Iterator[CompilerClient]:
    with CompilerClient(pair.compiler, timeout=30) as client:
        yield client


def options(sample: Sample, **fields: Any) -> Request:
    return Request(options=pb.AssembleOptions(target=sample.target, **fields))


def requests(sample: Sample, **fields: Any) -> Iterator[Request]:
    yield options(sample, **fields)
    for delta in decode(sample.target, [sample.stream]):
        yield Request(delta=delta)


@every_sample
def test_both_calls_answer_alike_and_as_the_library_does(pair: Pair, name: str) -> None:
    sample = SAMPLES[name]
    names = [ActionName(name="look up!", provider_name="look_up")]
    with grpc.insecure_channel(pair.compiler) as channel:
        stub = CompilerServiceStub(channel)
        streamed = stub.AssembleResponse(requests(sample, action_names=names))
        whole = stub.ParseResponse(
            pb.ParseResponseRequest(target=sample.target, payload_json=sample.whole, action_names=names)
        )
    local = assemble(
        pb.AssembleOptions(target=sample.target, action_names=names), decode(sample.target, [sample.stream])
    )
    assert streamed == local
    assert streamed.SerializeToString(deterministic=True) == whole.SerializeToString(deterministic=True)
    assert streamed.messages[1].action_request.function == "look up!"


@every_sample
def test_the_sdk_gives_typed_messages_that_a_branch_takes(
    pair: Pair, compiler: CompilerClient, name: str
) -> None:
    sample = SAMPLES[name]
    streamed = compiler.assemble_response(
        sample.target, decode(sample.target, sample.frames), action_names={"look up!": "look_up"}
    )
    whole = compiler.parse_response(sample.target, sample.whole, action_names={"look up!": "look_up"})
    assert isinstance(streamed.messages[0], AssistantResponse)
    assert streamed.text == whole.text == TEXT
    assert [call.function for call in streamed.calls] == ["look up!", "count"]
    assert (streamed.stop_reason, streamed.fault, streamed.refusal) == ("tool_use", None, None)
    assert streamed.usage == whole.usage
    with HistoryClient(pair.history, timeout=30) as history:
        branch = Branch.create(history)
        branch.add_message(instruction="ask")
        branch.add(streamed.messages)
        stored = list(branch.messages())
    calls = [each for each in stored if isinstance(each, ActionRequest)]
    assert [call.id for call in calls] == [call.id for call in streamed.calls]
    origin = calls[0].wire_origin
    assert origin is not None
    assert origin.action_request.arguments_json == ARGUMENTS_A


def test_usage_and_bytes_and_mappings_are_taken(compiler: CompilerClient) -> None:
    payload = {
        "message": {"content": "hi"},
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": 3,
        "eval_count": 2,
    }
    response = compiler.parse_response("ollama.chat", payload)
    assert response.usage == Usage(input_tokens=3, output_tokens=2)
    assert (response.text, response.stop_reason, response.provider_stop_reason) == ("hi", "end_turn", "stop")
    raw = compiler.parse_response("ollama.chat", b'{"message":{"content":"hi"},"done":true}')
    assert (raw.text, raw.usage) == ("hi", None)


@every_sample
def test_an_incomplete_stream_raises_with_what_was_said(compiler: CompilerClient, name: str) -> None:
    sample = SAMPLES[name]
    frames = sample.frames[: -sample.terminal]
    with pytest.raises(StreamIncompleteError) as caught:
        compiler.assemble_response(sample.target, decode(sample.target, frames))
    assert caught.value.metadata["cause"] == "no_terminal"
    partial = caught.value.partial
    assert partial is not None
    assert partial.text == TEXT
    assert partial.messages[0].status.value == "interrupted"
    kept = compiler.assemble_response(sample.target, decode(sample.target, frames), keep_partial=True)
    assert kept.text == TEXT
    assert kept.fault is not None
    assert kept.fault.kind == "no_terminal"


def test_a_source_that_fails_is_the_cause_of_the_error(compiler: CompilerClient) -> None:
    sample = SAMPLES["anthropic.messages"]

    def source() -> Iterator[bytes]:
        yield from sample.frames[: -sample.terminal]
        raise ConnectionError("gone")

    with pytest.raises(StreamIncompleteError) as caught:
        compiler.assemble_response(sample.target, decode(sample.target, source()))
    assert caught.value.partial is not None
    assert caught.value.partial.text == TEXT
    assert isinstance(caught.value.__cause__, ConnectionError)
    assert "gone" in "".join(traceback.format_exception(caught.value))


def test_a_source_that_fails_after_the_end_changes_nothing(compiler: CompilerClient) -> None:
    sample = SAMPLES["anthropic.messages"]

    def source() -> Iterator[bytes]:
        yield from sample.frames
        raise ConnectionError("gone")

    assert compiler.assemble_response(sample.target, decode(sample.target, source())).fault is None


def test_a_call_that_was_cut_whole_or_streamed_keeps_the_words(compiler: CompilerClient) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a":'}}
    message = {"role": "assistant", "content": "words", "tool_calls": [call]}
    with pytest.raises(StreamIncompleteError) as caught:
        compiler.parse_response(
            "openai.chat", {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
        )
    assert caught.value.metadata["cause"] == "truncated_call"
    assert caught.value.partial is not None
    assert (caught.value.partial.text, caught.value.partial.calls) == ("words", ())
    assert [note.kind for note in caught.value.partial.report] == ["PART_DROPPED"]


def test_faults_that_are_no_errors_are_told(compiler: CompilerClient) -> None:
    words, fault = pb.ProviderDelta(text="x"), pb.ProviderDelta(error="boom")
    end = pb.ProviderDelta(done=pb.ResponseDone(stop_reason=pb.STOP_REASON_END_TURN))
    partial = compiler.assemble_response("ollama.chat", [words, fault])
    assert partial.fault == ResponseFault("partial", "boom")
    assert partial.stop_reason == "unspecified"
    assert compiler.assemble_response("ollama.chat", [words, fault, end]).fault == ResponseFault(
        "advisory", "boom"
    )
    with pytest.raises(StreamIncompleteError) as caught:
        compiler.assemble_response("ollama.chat", [fault])
    assert caught.value.metadata["cause"] == "provider_fault"
    assert caught.value.metadata["detail"] == "boom"
    assert caught.value.partial is not None
    assert caught.value.partial.messages == ()


def test_errors_of_requests_reach_the_caller(compiler: CompilerClient) -> None:
    with pytest.raises(TargetUnknownError):
        compiler.assemble_response("nobody.chat", [])
    with pytest.raises(TargetUnknownError):
        compiler.parse_response("nobody.chat", {})
    with pytest.raises(FieldInvalidError, match="slow down"):
        compiler.parse_response("anthropic.messages", {"type": "error", "error": {"message": "slow down"}})


@pytest.mark.anyio
async def test_the_asyncio_client_takes_what_arrives_asynchronously(pair: Pair) -> None:
    sample = SAMPLES["gemini.generate_content"]

    async def source(count: int) -> AsyncIterator[bytes]:
        for frame in sample.frames[:count]:
            yield frame

    async with AsyncCompilerClient(pair.compiler, timeout=30) as compiler:
        arriving = decode_async(sample.target, source(len(sample.frames)))
        response = await compiler.assemble_response(sample.target, arriving)
        assert response.text == TEXT
        given = await compiler.assemble_response(sample.target, decode(sample.target, sample.frames))
        assert given.text == TEXT
        with pytest.raises(StreamIncompleteError) as caught:
            await compiler.assemble_response(sample.target, decode_async(sample.target, source(1)))
        assert caught.value.partial is not None


def test_the_blocking_client_refuses_what_arrives_asynchronously(compiler: CompilerClient) -> None:
    async def source() -> AsyncIterator[pb.ProviderDelta]:
        yield pb.ProviderDelta(text="x")

    with pytest.raises(TypeError, match="blocking"):
        compiler.assemble_response("ollama.chat", source())


def answer(stub: Any, parts: Iterable[Request]) -> AntiphonError | pb.AssembleResponseResponse | None:
    try:
        reply: pb.AssembleResponseResponse = stub.AssembleResponse(iter(parts))
    except grpc.RpcError as exc:
        return error_from_rpc(exc)
    return reply


START = Request(options=pb.AssembleOptions(target="ollama.chat", keep_partial=True))

BAD_STREAMS: dict[str, tuple[list[Request], str]] = {
    "no request": ([], "options"),
    "no options": ([Request(delta=pb.ProviderDelta(text="x"))], "options"),
    "options twice": ([START, START], "options"),
    "no target": ([Request(options=pb.AssembleOptions())], "options.target"),
    "a name without meaning": (
        [
            Request(
                options=pb.AssembleOptions(target="ollama.chat", action_names=[ActionName(provider_name="x")])
            )
        ],
        "options.action_names[0].name",
    ),
    "a delta of no kind": ([START, Request(delta=pb.ProviderDelta())], "delta.delta"),
    "a call without id": (
        [START, Request(delta=pb.ProviderDelta(tool_call_start=pb.ToolCallStart(name="f")))],
        "delta.tool_call_start.id",
    ),
    "a part that is no JSON": (
        [START, Request(delta=pb.ProviderDelta(opaque=pb.OpaqueDelta(kind="k", data_json="{")))],
        "delta.opaque.data_json",
    ),
    "an empty part": (
        [START, Request(delta=pb.ProviderDelta(opaque=pb.OpaqueDelta(kind="k")))],
        "delta.opaque.data_json",
    ),
    "usage below zero": (
        [START, Request(delta=pb.ProviderDelta(usage=pb.Usage(output_tokens=-1)))],
        "delta.usage.output_tokens",
    ),
    "an unknown reason": (
        [
            START,
            Request(delta=pb.ProviderDelta(done=pb.ResponseDone(stop_reason=77))),  # type: ignore[arg-type]
        ],
        "delta.done.stop_reason",
    ),
}


@pytest.mark.parametrize("case", BAD_STREAMS)
def test_a_field_that_breaks_its_rule_is_named(pair: Pair, case: str) -> None:
    parts, field = BAD_STREAMS[case]
    with grpc.insecure_channel(pair.compiler) as channel:
        error = answer(CompilerServiceStub(channel), parts)
    assert isinstance(error, FieldInvalidError)
    assert [violation.field for violation in error.violations] == [field]


def test_options_and_the_first_delta_may_come_together_and_requests_may_be_empty(pair: Pair) -> None:
    first = Request(options=START.options, delta=pb.ProviderDelta(text="x"))
    with grpc.insecure_channel(pair.compiler) as channel:
        reply = answer(CompilerServiceStub(channel), [first, Request()])
    assert isinstance(reply, pb.AssembleResponseResponse)
    assert reply.messages[0].assistant_response.assistant_response == "x"


def test_without_keep_partial_the_service_itself_answers_with_the_error(pair: Pair) -> None:
    with grpc.insecure_channel(pair.compiler) as channel:
        error = answer(
            CompilerServiceStub(channel), [Request(options=pb.AssembleOptions(target="ollama.chat"))]
        )
    assert isinstance(error, StreamIncompleteError)
    assert error.domain == "antiphon.compiler"
    assert error.metadata["cause"] == "no_terminal"


@pytest.mark.anyio
async def test_deltas_are_bounded(tmp_path: Path) -> None:
    limits = Limits(assembly_bytes=1000)
    server = build_server(CompilerSettings(listen=f"unix:{tmp_path}/c.sock", limits=limits), None)
    address = await server.start()
    try:
        async with grpc.aio.insecure_channel(address) as channel:
            stub: CompilerServiceAsyncStub = CompilerServiceStub(channel)
            parts = [START, *[Request(delta=pb.ProviderDelta(text="x" * 400))] * 3]
            assert (await stub.AssembleResponse(iter(parts[:3]))).fault.detail
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await stub.AssembleResponse(iter(parts))
            error = error_from_rpc(caught.value)
            assert error is not None
            assert (error.reason, error.metadata["limit_name"]) == ("SIZE_LIMIT_EXCEEDED", "assembly_bytes")
    finally:
        await server.stop(0)

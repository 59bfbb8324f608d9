"""The samples are answers and streams as the providers' own packages know them."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from antiphon.compiler.v1 import provider_pb2 as pb
from antiphon_client.limits import DEFAULT_LIMITS
from antiphon_client.provider_streams import assemble, decode
from compiler_service.responses import parse_response
from tests.support.provider_responses import SAMPLES, Sample

with warnings.catch_warnings():
    # They import what newer versions of others deprecate.
    warnings.simplefilter("ignore")
    import anthropic
    import httpx2
    import ollama
    import openai
    from anthropic.types import Message as AnthropicMessage
    from anthropic.types import RawMessageStreamEvent
    from google.genai.types import GenerateContentResponse
    from openai.types.chat import ChatCompletion, ChatCompletionChunk
    from openai.types.responses import Response, ResponseStreamEvent

TYPES: dict[str, tuple[Any, Any]] = {
    "openai.chat": (ChatCompletion, ChatCompletionChunk),
    "openai.responses": (Response, ResponseStreamEvent),
    "anthropic.messages": (AnthropicMessage, RawMessageStreamEvent),
    "gemini.generate_content": (GenerateContentResponse, GenerateContentResponse),
    "gemini array": (GenerateContentResponse, GenerateContentResponse),
    "ollama.chat": (ollama.ChatResponse, ollama.ChatResponse),
}
"""The types of a whole answer and of a stream's frames."""

EXTENSIONS = {"openai.chat": {"reasoning_content"}, "anthropic.messages": {"ping"}}
"""What servers that speak the API add: reasoning in words; and events that the type leaves out."""


def frames_of(sample: Sample) -> Iterable[Any]:
    """Return the JSON values in a sample's stream."""
    text = sample.stream.decode()
    if text.startswith("["):
        return json.loads(text)  # type: ignore[no-any-return]
    lines = (line.removeprefix("data:").strip() for line in text.splitlines() if not line.startswith(":"))
    return [json.loads(line) for line in lines if line.startswith("{")]


def extras(value: Any) -> set[str]:
    """Return the keys, at any depth, that a model has no field for."""
    found: set[str] = set()
    if isinstance(value, BaseModel):
        found |= set(value.model_extra or {})
        for name in type(value).model_fields:
            found |= extras(getattr(value, name))
    elif isinstance(value, list):
        found = set().union(*map(extras, value)) if value else found
    return found


def check(target: str, kind: Any, value: Any) -> None:
    """Refuse a value that is not of the provider's type, or has keys the type does not know."""
    unknown = extras(TypeAdapter(kind).validate_python(value)) - EXTENSIONS.get(target, set())
    if unknown:
        raise ValueError(f"unknown keys: {unknown}")


@pytest.mark.parametrize("name", SAMPLES)
def test_whole_answers_and_frames_are_of_the_providers_types(name: str) -> None:
    sample = SAMPLES[name]
    whole, frame = TYPES[name]
    check(name, whole, json.loads(sample.whole))
    for value in frames_of(sample):
        if value.get("type") not in EXTENSIONS.get(name, set()):
            check(name, frame, value)


@pytest.mark.parametrize("name", SAMPLES)
def test_wrong_shapes_would_be_found(name: str) -> None:
    whole, _ = TYPES[name]
    value = json.loads(SAMPLES[name].whole)
    if name != "ollama.chat":  # Its types take any key and drop it.
        with pytest.raises(ValueError, match=r"unknown keys|Extra inputs"):
            check(name, whole, {**value, "not_a_key": 1})
    key = next(key for key in ("choices", "output", "content", "candidates", "message") if key in value)
    with pytest.raises(ValidationError):
        check(name, whole, {**value, key: 5})


def replayed(sample: Sample) -> httpx2.Client:
    """Return a client that is answered by a sample's stream."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, content=sample.stream, headers={"content-type": "text/event-stream"})

    return httpx2.Client(transport=httpx2.MockTransport(answer))


def accumulated_by_openai_chat(sample: Sample) -> str:
    client = openai.OpenAI(api_key="k", base_url="http://nowhere.test", http_client=replayed(sample))
    with client.chat.completions.stream(model="m", messages=[]) as stream:
        return stream.get_final_completion().model_dump_json()


def accumulated_by_openai_responses(sample: Sample) -> str:
    client = openai.OpenAI(api_key="k", base_url="http://nowhere.test", http_client=replayed(sample))
    with client.responses.stream(model="m", input="x") as stream:
        return stream.get_final_response().model_dump_json()


def accumulated_by_anthropic(sample: Sample) -> str:
    client = anthropic.Anthropic(api_key="k", base_url="http://nowhere.test", http_client=replayed(sample))
    with client.messages.stream(model="m", max_tokens=5, messages=[]) as stream:
        return stream.get_final_message().model_dump_json()


ACCUMULATED = {
    "openai.chat": accumulated_by_openai_chat,
    "openai.responses": accumulated_by_openai_responses,
    "anthropic.messages": accumulated_by_anthropic,
}


def meaning(reply: Any) -> list[Any]:
    """Return what a reply says, without the spelling of its JSON texts."""
    turn = reply.messages[0].assistant_response
    calls = [each.action_request for each in reply.messages[1:]]
    return [
        turn.assistant_response,
        [block.WhichOneof("block") for block in turn.blocks],
        [block.thinking.signature for block in turn.blocks if block.HasField("thinking")],
        [(call.function, call.provider_call_id, json.loads(call.arguments_json)) for call in calls],
        reply.usage,
        reply.stop_reason,
    ]


@pytest.mark.parametrize("target", ACCUMULATED)
def test_what_the_providers_package_makes_of_the_stream_says_the_same(target: str) -> None:
    sample = SAMPLES[target]
    if target == "openai.chat":
        # The package wants the indexes of calls without gaps, their ids first, and knows no reasoning.
        stream = sample.stream.replace(b'"index":3', b'"index":1')
        frames = stream.split(b"\n\n")
        early = next(i for i, frame in enumerate(frames) if b'"tool_calls":[{"index":0,"function"' in frame)
        frames[early], frames[early + 1] = frames[early + 1], frames[early]
        sample = Sample(target, sample.whole, b"\n\n".join(frames), (), 0)
    payload = ACCUMULATED[target](sample)
    theirs = parse_response(pb.ParseResponseRequest(target=target, payload_json=payload), DEFAULT_LIMITS)
    ours = assemble(pb.AssembleOptions(target=target), decode(target, [sample.stream]))
    assert meaning(theirs) == meaning(ours)

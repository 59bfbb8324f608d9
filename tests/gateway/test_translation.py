"""An upstream that speaks Anthropic's Messages, behind an endpoint that speaks OpenAI's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from antiphon_client import Branch, HistoryClient
from antiphon_client.messages.role import MessageStatus
from tests.gateway.support import (
    KEY,
    WEATHER,
    Gateway,
    Message,
    Provider,
    Reply,
    ask,
    assistant,
    refuses,
    running_gateway,
    sse,
    user,
)
from tests.support.pair import Pair

both = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
THINKING = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
SIGNED_CALL = {"type": "tool_use", "id": "toolu_a", "name": "weather", "input": {"city": "Oslo"}}


@pytest.fixture(scope="module")
def gateway(pair: Pair, running: Provider, folder: Path) -> Iterator[Gateway]:
    flags = ("--target", "anthropic.messages")
    with running_gateway(pair, running.url, folder / "log", *flags) as gateway:
        yield gateway


def says(*blocks: Message, stop_reason: str = "end_turn", is_cut: bool = False) -> Reply:
    """Return an answer of Anthropic's with these blocks, streamed where that is asked."""
    usage = {"input_tokens": 3, "output_tokens": 2, "cache_read_input_tokens": 4}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "usage": usage}

    def events() -> Iterator[Message]:
        yield {"type": "message_start", "message": {**head, "content": []}}
        for index, block in enumerate(blocks):
            opening, deltas = _pieces(block)
            yield {"type": "content_block_start", "index": index, "content_block": opening}
            for delta in deltas:
                yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
        if not is_cut:
            yield {
                "type": "message_delta",
                "delta": {"stop_reason": stop_reason},
                "usage": {"output_tokens": 2},
            }
            yield {"type": "message_stop"}

    async def reply(request: Request) -> Response:
        if (await request.json()).get("stream"):
            return StreamingResponse(iter(sse(*events())), media_type="text/event-stream")
        return JSONResponse({**head, "content": list(blocks), "stop_reason": stop_reason})

    return reply


def _pieces(block: Message) -> tuple[Message, list[Message]]:
    if block["type"] == "text":
        texts = [{"type": "text_delta", "text": word} for word in block["text"].partition(" ")]
        return {"type": "text", "text": ""}, texts
    if block["type"] == "thinking":
        return {"type": "thinking", "thinking": ""}, [
            {"type": "thinking_delta", "thinking": block["thinking"]},
            {"type": "signature_delta", "signature": block["signature"]},
        ]
    return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]


@both
def test_a_conversation_with_tools_is_translated_both_ways(
    gateway: Gateway, provider: Provider, key: str, stream: bool
) -> None:
    provider.will(
        says(THINKING, {"type": "text", "text": "Let me see."}, SIGNED_CALL, stop_reason="tool_use"),
        says({"type": "text", "text": "It rains."}),
    )
    said: list[Message] = [{"role": "system", "content": "Be brief."}, user("Weather in Oslo?")]
    more: dict[str, Any] = {"tools": [WEATHER], "max_tokens": 50, "stop": "END", "temperature": 0.5}
    with gateway.client(key) as client:
        said.append(ask(client, said, stream=stream, **more))
        (called,) = said[-1]["tool_calls"]
        assert (said[-1]["content"], called["id"]) == ("Let me see.", "toolu_a")
        assert json.loads(called["function"]["arguments"]) == {"city": "Oslo"}
        said.append({"role": "tool", "tool_call_id": "toolu_a", "content": "rain"})
        said.append(ask(client, said, stream=stream, **more))
        assert said[-1] == assistant("It rains.")
        again = ask(client, said[:-1], stream=stream, **more)
    assert again == said[-1]
    assert gateway.kept(key) == said
    assert [asked.path for asked in provider.asked] == ["/v1/messages"] * 2
    last = provider.asked[-1]
    assert last.headers["x-api-key"] == KEY
    assert last.headers["anthropic-version"]
    assert "authorization" not in last.headers
    assert last.body["system"] == [{"type": "text", "text": "Be brief."}]
    assert (last.body["max_tokens"], last.body["stop_sequences"]) == (50, ["END"])
    assert last.body.get("stream", False) is stream
    # What the client never saw is there for the model: the signed thought before its call.
    assert last.messages[1]["content"][0] == THINKING
    assert last.messages[2]["content"][0]["tool_use_id"] == "toolu_a"
    schema = WEATHER["function"]["parameters"]  # type: ignore[index]
    assert last.body["tools"][0]["input_schema"] == schema


@both
def test_why_a_model_stopped_and_what_it_cost(
    gateway: Gateway, provider: Provider, key: str, stream: bool
) -> None:
    for word, expected in (
        ("end_turn", "stop"),
        ("max_tokens", "length"),
        ("refusal", "content_filter"),
        ("stop_sequence", "stop"),
    ):
        provider.will(says({"type": "text", "text": "So far."}, stop_reason=word))
        given: Any = [user("?")]
        with gateway.client(f"{key}-{word}") as client:
            for _ in range(2):  # the second time from what is kept
                assert _ending(client, given, stream=stream) == ("So far.", expected, (7, 2, 9))
        assert len(provider.asked) == 1


def _ending(client: openai.OpenAI, given: Any, *, stream: bool) -> tuple[str, str, tuple[int, int, int]]:
    """Return an answer's text, why it ended, and its cost."""
    if stream:
        options: Any = {"include_usage": True}
        chunks = list(
            client.chat.completions.create(model="m", messages=given, stream=True, stream_options=options)
        )
        text = "".join(each.choices[0].delta.content or "" for each in chunks[:-1])
        reason, usage = chunks[-2].choices[0].finish_reason, chunks[-1].usage
    else:
        answer = client.chat.completions.create(model="m", messages=given)
        text, reason = answer.choices[0].message.content or "", answer.choices[0].finish_reason
        usage = answer.usage
    assert reason is not None
    assert usage is not None
    return text, reason, (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens)


def test_a_stream_comes_as_it_is_said(gateway: Gateway, provider: Provider, key: str) -> None:
    provider.will(says({"type": "text", "text": "It rains."}))
    given: Any = [user("?")]
    with (
        gateway.client(key) as client,
        client.chat.completions.create(model="m", messages=given, stream=True) as stream,
    ):
        chunks = list(stream)
    texts = [each.choices[0].delta.content for each in chunks if each.choices[0].delta.content]
    assert texts == ["It", " ", "rains."]
    assert len({(each.id, each.created, each.model) for each in chunks}) == 1
    assert [each.choices[0].finish_reason for each in chunks][-1] == "stop"


def test_a_stream_that_breaks_off_is_an_error(gateway: Gateway, provider: Provider, key: str) -> None:
    provider.will(says({"type": "text", "text": "It rains."}, is_cut=True))
    with gateway.client(key) as client, pytest.raises(openai.APIError) as cut:
        ask(client, [user("?")], stream=True)
    assert cut.value.code == "STREAM_INCOMPLETE"
    with HistoryClient(gateway.pair.history) as history:
        (answer,) = Branch.open(history, external_key=key).assistant_responses()
    assert (answer.response, answer.status) == ("It rains.", MessageStatus.INTERRUPTED)


def test_an_error_is_said_in_openais_words(gateway: Gateway, provider: Provider, key: str) -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    provider.will(refuses(529, error))
    with gateway.client(key) as client, pytest.raises(openai.InternalServerError) as refused:
        ask(client, [user("?")], stream=False)
    assert refused.value.status_code == 529
    assert refused.value.code == "overloaded_error"
    assert "Overloaded" in refused.value.message


def test_a_shape_of_the_answer_and_a_choice_of_tool_have_their_place(
    gateway: Gateway, provider: Provider, key: str
) -> None:
    provider.will(says({"type": "text", "text": "{}"}))
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    with gateway.client(key) as client:
        ask(
            client,
            [user("?")],
            stream=False,
            tools=[WEATHER],
            tool_choice="required",
            parallel_tool_calls=False,
            response_format={"type": "json_schema", "json_schema": {"name": "a", "schema": schema}},
            user="u",
            n=1,
        )
    (asked,) = provider.asked
    assert asked.body["output_config"] == {"format": {"type": "json_schema", "schema": schema}}
    assert asked.body["tool_choice"] == {"type": "any", "disable_parallel_tool_use": True}
    assert "user" not in asked.body
    assert "n" not in asked.body


@pytest.mark.parametrize(
    "more", [{"seed": 1}, {"logprobs": True}, {"response_format": {"type": "json_object"}}]
)
def test_what_has_no_place_is_refused(
    gateway: Gateway, provider: Provider, key: str, more: dict[str, Any]
) -> None:
    provider.will(says({"type": "text", "text": "never"}))
    with gateway.client(key) as client, pytest.raises(openai.BadRequestError) as refused:
        ask(client, [user("?")], stream=False, **more)
    assert refused.value.param == next(iter(more))
    assert not gateway.knows(key)

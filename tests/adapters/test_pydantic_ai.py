"""Message histories of Pydantic AI in branches."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="needs the extra pydantic-ai: `make adapters`")

from pydantic_ai import Agent
from pydantic_ai import messages as parts
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelRequest, ModelResponse
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import RequestUsage

from antiphon_client import (
    AsyncBranch,
    AsyncCompilerClient,
    AsyncHistoryClient,
    HistoryClient,
    Instruction,
    TurnRequest,
)
from antiphon_client.adapters.pydantic_ai import (
    KEY_PREFIX,
    AntiphonMessageHistory,
    SyncAntiphonMessageHistory,
)
from tests.support.pair import Pair

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore:.*RetryPromptPart.* is deprecated"),
]

TEXT = 'A text with "quotes", ünïcödé and \x00.'
WHEN = datetime(2026, 1, 2, 3, 4, 5, 678901, UTC)


def request(*given: Any, **fields: Any) -> ModelRequest:
    return ModelRequest(parts=list(given), **fields)


def messages() -> list[ModelMessage]:
    """Messages with every kind of part that the framework lets an application make."""
    binary = parts.BinaryContent(b"\x00\xff\xfe", media_type="application/pdf", vendor_metadata={"a": None})
    return [
        request(parts.SystemPromptPart("Be brief.", dynamic_ref="f"), parts.UserPromptPart(TEXT)),
        request(
            parts.UserPromptPart(
                [
                    TEXT,
                    parts.ImageUrl("https://example.com/a.png"),
                    parts.ImageUrl("http://127.0.0.1/a.png", media_type="image/png"),
                    parts.AudioUrl("https://example.com/a.mp3"),
                    parts.VideoUrl("https://example.com/a.mp4"),
                    parts.DocumentUrl("https://example.com/a.pdf", force_download=True),
                    binary,
                    parts.CachePoint(),
                    parts.TextContent("content", metadata={"m": 1}),
                ]
            ),
            instructions="Be kind.",
            timestamp=WHEN,
            metadata={"who": "me"},
        ),
        ModelResponse(
            parts=[
                parts.ThinkingPart("hm", id="t", signature="sig", provider_name="anthropic"),
                parts.TextPart("Looking.", id="x", provider_details={"d": None}),
                parts.ToolCallPart("find", {"number": 7, "none": None}, "call_1"),
                parts.ToolCallPart("find", '{"number":  8.0}', "call_2"),
                parts.ToolCallPart("find", "not json", "call_3"),
                parts.ToolCallPart("find", None, "call_4"),
                parts.NativeToolCallPart("web_search", {"q": 1}, "n_1", provider_name="openai"),
                parts.NativeToolReturnPart("web_search", [1], "n_1", provider_name="openai"),
                parts.FilePart(parts.BinaryContent(b"\xff\x00", media_type="image/png")),
                parts.TextPart("Found."),
            ],
            usage=RequestUsage(input_tokens=3, details={"x": 1}),
            model_name="m",
            finish_reason="stop",
            provider_details={"logprobs": [None, 1.5]},
        ),
        request(
            parts.ToolReturnPart("find", {"place": "Bremen", "none": None}, "call_1", metadata={"a": 1}),
            parts.ToolReturnPart("find", None, "call_2"),
            parts.ToolReturnPart("find", "it broke", "call_3", outcome="failed"),
            parts.RetryPromptPart("again", tool_name="find", tool_call_id="call_4"),
            parts.RetryPromptPart("once more"),
            parts.UserPromptPart("And?"),
        ),
        ModelResponse(parts=[parts.TextPart("Tomorrow.")], usage=RequestUsage(output_tokens=2)),
        ModelResponse(parts=[]),
        request(),
    ]


def own_round_trip(given: list[ModelMessage]) -> list[ModelMessage]:
    """What the framework's own type adapter makes of its JSON."""
    return ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(given))


async def test_every_part_comes_back(history: AsyncHistoryClient) -> None:
    given = messages()
    await AntiphonMessageHistory("s", history).append(given)
    kept = AntiphonMessageHistory("s", history.with_options())
    for _ in range(2):
        assert await kept.load() == own_round_trip(given)


@pytest.mark.parametrize("index", range(7))
async def test_every_message_comes_back_alone(history: AsyncHistoryClient, index: int) -> None:
    given = messages()[index : index + 1]
    kept = AntiphonMessageHistory("s", history)
    await kept.append(given)
    assert await kept.load() == own_round_trip(given)
    dumped = [ModelMessagesTypeAdapter.dump_json(own) for own in (await kept.load(), own_round_trip(given))]
    assert dumped[0] == dumped[1]


async def test_what_is_given_out_can_be_changed(history: AsyncHistoryClient) -> None:
    kept, given = AntiphonMessageHistory("s", history), messages()
    await kept.append(given)
    read = await kept.load()
    read[2].parts[2].args["number"] = 8  # type: ignore[index, union-attr]
    assert await kept.load() == own_round_trip(given)


def test_the_blocking_history(blocking: HistoryClient) -> None:
    kept, given = SyncAntiphonMessageHistory("s", blocking), messages()
    assert kept.load() == []
    kept.append(given[:2])
    kept.append(given[2:])
    assert kept.load() == own_round_trip(given)
    kept.clear()
    assert kept.load() == []


async def test_parts_are_records_that_anyone_can_read(history: AsyncHistoryClient) -> None:
    await AntiphonMessageHistory("s", history).append(messages())
    branch = await AsyncBranch.open(history, external_key=KEY_PREFIX + "s")
    requests, responses = await branch.action_requests(), await branch.action_responses()
    assert [call.is_responded for call in requests] == [True] * 4
    assert [call.arguments for call in requests][:2] == [{"number": 7, "none": None}, {"number": 8.0}]
    outcomes = [(response.output, response.content.error) for response in responses]
    assert outcomes == [
        ({"place": "Bremen", "none": None}, None),
        (None, None),
        (None, "it broke"),
        (None, "again"),
    ]
    turns = await branch.assistant_responses()
    assert turns[0].response == "Looking.Found."
    kinds = [block.type for block in turns[0].content.blocks]
    assert kinds == ["thinking", "text", "text", "tool_call", "tool_call", "tool_call", "tool_call"]
    async for message in branch.messages():
        assert "Bremen" not in str(message.metadata)


async def test_records_of_other_clients_are_plain_messages(history: AsyncHistoryClient) -> None:
    kept = AntiphonMessageHistory("s", history)
    await kept.append([request(parts.UserPromptPart("q"))])
    branch = await AsyncBranch.open(history, external_key=KEY_PREFIX + "s")
    call = await branch.add_message(action_function="find", action_arguments={"a": 1})
    await branch.respond(call.id, output=[1])
    await branch.add_message(assistant_response="Found.")
    read = [part for message in (await kept.load())[1:] for part in message.parts]
    assert isinstance(read[0], parts.ToolCallPart)
    assert (read[0].tool_name, read[0].args, read[0].tool_call_id) == ("find", {"a": 1}, str(call.id))
    assert isinstance(read[1], parts.ToolReturnPart)
    assert (read[1].tool_name, read[1].content, read[1].tool_call_id) == ("find", [1], str(call.id))
    assert isinstance(read[2], parts.TextPart)
    assert read[2].content == "Found."


async def test_an_agent_goes_on_where_it_was(history: AsyncHistoryClient, pair: Pair) -> None:
    seen: list[list[ModelMessage]] = []

    def answer(given: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(list(given))
        if not any(isinstance(message, ModelResponse) for message in given):
            return ModelResponse(parts=[parts.ToolCallPart("find_parcel", {"number": 7}, "call_1")])
        return ModelResponse(parts=[parts.TextPart(f"Answer {len(given)}.")])

    agent = Agent(FunctionModel(answer), instructions="Be brief.")

    @agent.tool_plain
    def find_parcel(number: int) -> str:
        return f"Parcel {number} is in Bremen."

    kept = AntiphonMessageHistory("run", history)
    first = await agent.run("Where is parcel 7?", message_history=await kept.load())
    await kept.append(first.new_messages())
    second = await agent.run("When does it arrive?", message_history=await kept.load())
    await kept.append(second.new_messages())
    assert (first.output, second.output) == ("Answer 3.", "Answer 5.")
    assert seen[-1][:4] == own_round_trip(first.all_messages())
    assert await kept.load() == own_round_trip(second.all_messages())
    branch = await AsyncBranch.open(history, external_key=KEY_PREFIX + "run")
    async with AsyncCompilerClient(pair.compiler) as compiler:
        turn = TurnRequest(Instruction.create("Thanks."))
        compiled = await compiler.compile(branch.branch_id, turn, profile="native")
    roles = [message.role.value for message in compiled.request.messages]
    assert roles == ["user", "assistant", "tool", "assistant", "user", "assistant", "user"]


async def test_the_test_model_of_the_framework(history: AsyncHistoryClient) -> None:
    kept = AntiphonMessageHistory("test", history)
    result = await Agent(TestModel()).run("Hello")
    await kept.append(result.new_messages())
    assert await kept.load() == own_round_trip(result.all_messages())

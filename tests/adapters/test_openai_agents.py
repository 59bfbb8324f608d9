"""Sessions of the OpenAI Agents SDK in branches."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

pytest.importorskip("agents", reason="needs the extra openai-agents: `make adapters`")

from agents import Agent, RunConfig, Runner, Session, function_tool
from agents.memory import SessionSettings
from agents.testing import ScriptedModel, assistant_message, function_call

from antiphon_client import AsyncBranch, AsyncCompilerClient, AsyncHistoryClient, Instruction, TurnRequest
from antiphon_client.adapters.openai_agents import KEY_PREFIX, AntiphonSession
from antiphon_client.json_text import JsonTextError
from tests.adapters.openai_items import CALLS, KNOWN, MESSAGES, TEXT, others, types
from tests.support.pair import Pair

pytestmark = pytest.mark.anyio


async def branch_of(session: AntiphonSession, history: AsyncHistoryClient) -> AsyncBranch:
    return await AsyncBranch.open(history, external_key=KEY_PREFIX + session.session_id)


def texts(items: list[Any]) -> list[str]:
    """The items with the order of their keys."""
    return [json.dumps(item) for item in items]


async def test_an_item_of_every_type_comes_back_key_for_key(history: AsyncHistoryClient) -> None:
    given = [*KNOWN, *others()]
    assert types() <= {item.get("type", "message") for item in given}
    await AntiphonSession("s", history).add_items(given)
    session = AntiphonSession("s", history.with_options())
    assert texts(await session.get_items()) == texts(given)
    assert texts(await session.get_items()) == texts(given)
    popped = [await session.pop_item() for _ in given]
    assert texts(popped) == texts(given[::-1])
    assert await session.pop_item() is None


async def test_what_is_given_out_can_be_changed(history: AsyncHistoryClient) -> None:
    session = AntiphonSession("s", history)
    await session.add_items(MESSAGES)
    for item in await session.get_items():
        item.clear()
    assert await session.get_items() == MESSAGES


async def test_items_are_records_that_anyone_can_read(history: AsyncHistoryClient) -> None:
    session = AntiphonSession("s", history)
    await session.add_items(CALLS[:1])
    await session.add_items([*CALLS[1:], MESSAGES[0], MESSAGES[8]])
    branch = await branch_of(session, history)
    requests, responses = await branch.action_requests(), await branch.action_responses()
    assert [request.content.provider_call_id for request in requests] == [
        "call_1",
        "call_2",
        "call_3",
        "call_4",
    ]
    assert [request.is_responded for request in requests] == [True, True, False, True]
    assert [response.content.function for response in responses] == ["find", "find", "shell"]
    assert responses[0].output == TEXT
    last = await branch.last_instruction()
    answer = await branch.last_response()
    assert last is not None
    assert (last.content.instruction, last.metadata) == (TEXT, {})
    assert answer is not None
    assert (answer.response, answer.metadata) == (TEXT, {"openai_agents": "msg_1"})


async def test_no_text_is_stored_twice(history: AsyncHistoryClient) -> None:
    session = AntiphonSession("s", history)
    marker = "a text that is long enough to be found again"
    parts = [{"type": "input_text", "text": marker}, {"type": "input_file", "file_data": marker}]
    output = [{"type": "output_text", "text": marker, "annotations": []}]
    await session.add_items(
        [
            {"role": "user", "content": marker, "extra": 1},
            {"role": "user", "content": parts},
            {"role": "assistant", "content": output, "status": "incomplete"},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": json.dumps({"a": marker})},
            {"type": "function_call_output", "id": "o", "call_id": "c", "output": marker},
            {"type": "web_search_call", "query": marker},
        ]
    )
    async for message in (await branch_of(session, history)).messages():
        assert marker not in json.dumps(message.metadata)


async def test_two_outputs_of_one_call_are_both_kept(history: AsyncHistoryClient) -> None:
    session = AntiphonSession("s", history)
    output = {"call_id": "call_1", "output": "1", "type": "function_call_output"}
    await session.add_items([CALLS[0], output, {**output, "output": "2"}])
    await session.add_items([{**output, "output": "3"}])
    assert [item.get("output") for item in await session.get_items()] == [None, "1", "2", "3"]
    responses = await (await branch_of(session, history)).action_responses()
    assert [response.content.action_request_id is None for response in responses] == [False, True, True]


async def test_outputs_that_come_at_once_are_all_kept(history: AsyncHistoryClient) -> None:
    """Each sees the call open; those that the service refuses as its answer stay as items."""
    sessions = [AntiphonSession("s", history.with_options()) for _ in range(4)]
    await sessions[0].add_items(CALLS[:1])
    outputs = [{**CALLS[1], "output": str(number)} for number in range(4)]
    await asyncio.gather(
        *(session.add_items([output]) for session, output in zip(sessions, outputs, strict=True))
    )
    items = await sessions[0].get_items()
    assert sorted(texts(items[1:])) == texts(outputs)
    responses = await (await branch_of(sessions[0], history)).action_responses()
    linked = [response.content.action_request_id is not None for response in responses]
    assert linked.count(True) == 1


async def test_an_output_without_its_call_is_kept(history: AsyncHistoryClient) -> None:
    session = AntiphonSession("s", history)
    await session.add_items(CALLS[1:2])
    assert await session.get_items() == CALLS[1:2]


async def test_the_latest_items(history: AsyncHistoryClient) -> None:
    session = AntiphonSession("s", history)
    items = [{"content": str(number), "role": "user"} for number in range(30)]
    assert await session.get_items() == [] == await session.get_items(3)
    await session.add_items(items)
    assert await session.get_items(3) == items[-3:]
    assert await session.get_items(100) == items
    assert await session.get_items(0) == []
    assert await session.get_items(-1) == items
    limited = AntiphonSession("s", history, session_settings=SessionSettings(limit=2))
    assert await limited.get_items() == items[-2:]
    assert await limited.get_items(4) == items[-4:]


async def test_more_items_than_one_write_takes(history: AsyncHistoryClient) -> None:
    session = AntiphonSession("s", history)
    items = [{"content": f"{number} " + "x" * 2000, "role": "user"} for number in range(2500)]
    await session.add_items(items)
    assert await session.get_items() == items
    assert await session.get_items(1200) == items[-1200:]


async def test_clearing_and_going_on(history: AsyncHistoryClient) -> None:
    session = AntiphonSession("s", history)
    await session.clear_session()
    assert await session.pop_item() is None
    await session.add_items(MESSAGES)
    await session.clear_session()
    assert await session.get_items() == []
    await session.add_items(MESSAGES[:1])
    assert await session.get_items() == MESSAGES[:1]


async def test_a_deleted_session_begins_anew(history: AsyncHistoryClient) -> None:
    session, other = AntiphonSession("s", history), AntiphonSession("s", history.with_options())
    await session.add_items(MESSAGES)
    assert len(await other.get_items()) == len(MESSAGES)
    await (await branch_of(session, history)).delete()
    assert await other.get_items() == []
    await session.add_items(MESSAGES[:2])
    assert await other.get_items() == MESSAGES[:2]
    assert await session.get_items() == MESSAGES[:2]


async def test_what_others_write_is_seen_at_once(history: AsyncHistoryClient) -> None:
    session, other = AntiphonSession("s", history), AntiphonSession("s", history.with_options())
    expected: list[Any] = []
    for number in range(4):
        for writer in (session, other):
            expected += [{"content": f"{number}", "role": "user"}, CALLS[0], CALLS[1]]
            await writer.add_items(expected[-3:])
            assert await session.get_items() == expected
            assert await other.get_items() == expected
    assert await other.pop_item() == expected.pop()
    assert await session.get_items() == expected
    branch = await branch_of(session, history)
    await branch.add_message(instruction="From elsewhere")
    assert await session.get_items() == [*expected, {"content": "From elsewhere", "role": "user"}]
    await branch.set_system("Be brief.")
    assert (await session.get_items())[0] == {"content": "Be brief.", "role": "system"}


async def test_records_of_other_clients_are_plain_items(history: AsyncHistoryClient) -> None:
    session = AntiphonSession("s", history)
    await session.add_items(MESSAGES[:1])
    branch = await branch_of(session, history)
    call = await branch.add_message(action_function="find", action_arguments={"a": 1})
    await branch.respond(call.id, output={"b": 2})
    await branch.add_message(assistant_response="Found.")
    _, made, output, said = await session.get_items()
    call_id = str(call.id)
    assert made == {"arguments": '{"a":1}', "call_id": call_id, "name": "find", "type": "function_call"}
    assert output == {"call_id": call_id, "output": '{"b":2}', "type": "function_call_output"}
    assert said == {"content": "Found.", "role": "assistant"}


async def test_a_compacted_branch_is_a_shorter_session(history: AsyncHistoryClient) -> None:
    session = AntiphonSession("s", history)
    items = [{"content": str(number), "role": "user"} for number in range(6)]
    await session.add_items(items)
    branch = await branch_of(session, history)
    order = await branch.progression()
    await branch.commit_compaction("So far: 0 to 3.", first_id=order[0], last_id=order[3], kept=order[4:])
    short = [{"content": "So far: 0 to 3.", "role": "user"}, *items[4:]]
    assert await session.get_items() == short
    assert await session.get_items(2) == short[-2:]
    await session.add_items(MESSAGES[:1])
    assert await session.pop_item() == MESSAGES[0]
    assert await session.pop_item() == items[5]
    assert await session.get_items() == short[:-1]


async def test_no_two_calls_pop_one_item(history: AsyncHistoryClient) -> None:
    items = [{"content": str(number), "role": "user"} for number in range(20)]
    sessions = [AntiphonSession("s", history.with_options()) for _ in range(4)]
    await sessions[0].add_items(items)
    popped = await asyncio.gather(*(session.pop_item() for session in sessions for _ in range(5)))
    assert sorted(json.dumps(item) for item in popped) == sorted(texts(items))
    assert await sessions[0].get_items() == []


@pytest.mark.parametrize("value", ["\ud800", float("nan")], ids=["lone surrogate", "NaN"])
async def test_what_json_has_not_is_refused_and_nothing_stored(
    history: AsyncHistoryClient, value: Any
) -> None:
    session = AntiphonSession("s", history)
    with pytest.raises(JsonTextError):
        await session.add_items([MESSAGES[0], {"type": "web_search_call", "query": value}])
    assert await session.get_items() == []


async def test_the_runner_goes_on_where_it_was(history: AsyncHistoryClient, pair: Pair) -> None:
    asked: list[str] = []

    @function_tool
    def find_parcel(number: int) -> str:
        """Find a parcel."""
        asked.append(str(number))
        return f"Parcel {number} is in Bremen."

    model = ScriptedModel(
        [
            [function_call("find_parcel", {"number": 7}, call_id="call_1")],
            [assistant_message("It is in Bremen.", item_id="msg_1")],
            [assistant_message("Tomorrow.", item_id="msg_2")],
        ]
    )
    agent = Agent(name="Post", model=model, tools=[find_parcel])
    config = RunConfig(tracing_disabled=True)
    session = AntiphonSession("run", history)
    assert isinstance(session, Session)
    first = await Runner.run(agent, "Where is parcel 7?", session=session, run_config=config)
    again = AntiphonSession("run", history.with_options())
    second = await Runner.run(agent, "When does it arrive?", session=again, run_config=config)
    assert (first.final_output, second.final_output, asked) == ("It is in Bremen.", "Tomorrow.", ["7"])
    seen = model.calls[-1].input
    assert [item.get("type", item.get("role")) for item in seen] == [
        "user",
        "function_call",
        "function_call_output",
        "message",
        "user",
    ]
    branch = await branch_of(session, history)
    async with AsyncCompilerClient(pair.compiler) as compiler:
        compiled = await compiler.compile(
            branch.branch_id, TurnRequest(Instruction.create("Thanks.")), profile="native"
        )
    roles = [message.role.value for message in compiled.request.messages]
    assert roles == ["user", "assistant", "tool", "assistant", "user", "assistant", "user"]

"""Sessions of the Google ADK in branches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

pytest.importorskip("google.adk", reason="needs the extra google-adk: `make adapters`")

from google.adk.agents import Agent
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events import Event, EventActions
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService, Session
from google.adk.sessions.base_session_service import GetSessionConfig
from google.genai import types
from pydantic import Field

from antiphon_client import AsyncBranch, AsyncCompilerClient, AsyncHistoryClient, Instruction, TurnRequest
from antiphon_client.adapters.google_adk import KEY_PREFIX, AntiphonSessionService
from tests.support.pair import Pair

pytestmark = pytest.mark.anyio

APP: dict[str, Any] = {"app_name": "app/1", "user_id": "üser"}
TEXT = 'A text with "quotes", ünïcödé and \x00.'


def event(*parts: types.Part, author: str = "user", **fields: Any) -> Event:
    role = "user" if author == "user" else "model"
    content = types.Content(role=role, parts=list(parts)) if parts else None
    return Event(author=author, invocation_id="i-1", content=content, **fields)


def events() -> list[Event]:
    """Events with every part that the framework's content has, and every action."""
    call = types.FunctionCall(id="call_1", name="find", args={"number": 7, "none": None})
    result = types.FunctionResponse(id="call_1", name="find", response={"place": "Bremen", "none": None})
    blob = types.Blob(data=b"\x00\xff\xfe", mime_type="image/png")
    return [
        event(types.Part(text=TEXT)),
        event(types.Part(text="one"), types.Part(text="two"), types.Part(inline_data=blob)),
        event(types.Part(file_data=types.FileData(file_uri="gs://b/f", mime_type="text/plain"))),
        event(
            types.Part(text="hm", thought=True, thought_signature=b"\xff\xfe"),
            types.Part(text="Looking."),
            types.Part(function_call=call, thought_signature=b"\x01"),
            types.Part(function_call=types.FunctionCall(name="find")),
            author="agent",
            long_running_tool_ids={"call_1"},
            branch="a.b",
            model_version="m",
            usage_metadata=types.GenerateContentResponseUsageMetadata(prompt_token_count=3),
        ),
        event(types.Part(function_response=result), author="agent"),
        event(types.Part(function_response=types.FunctionResponse(name="find")), author="agent"),
        event(
            types.Part(executable_code=types.ExecutableCode(code="1", language=types.Language.PYTHON)),
            types.Part(code_execution_result=types.CodeExecutionResult(outcome=types.Outcome.OUTCOME_OK)),
            author="agent",
        ),
        event(
            author="agent",
            actions=EventActions(
                state_delta={"a": {"b": None}},
                artifact_delta={"f": 1},
                transfer_to_agent="other",
                escalate=True,
            ),
        ),
        event(author="agent", error_code="E", error_message="failed", turn_complete=True),
        event(
            types.Part(text="Tomorrow."), author="agent", custom_metadata={"k": [None, 1.5]}, partial=False
        ),
    ]


async def filled(service: AntiphonSessionService, given: list[Event]) -> Session:
    session = await service.create_session(**APP, session_id="s")
    for one in given:
        await service.append_event(session, one.model_copy(deep=True))
    return session


async def loaded(service: Any, session_id: str = "s", **config: Any) -> Session:
    chosen = GetSessionConfig(**config) if config else None
    session = await service.get_session(**APP, session_id=session_id, config=chosen)
    assert session is not None
    return session


async def test_every_event_comes_back(history: AsyncHistoryClient) -> None:
    given = events()
    await filled(AntiphonSessionService(history), given)
    service = AntiphonSessionService(history.with_options())
    for _ in range(2):
        session = await loaded(service)
        assert session.events == given
        assert session.last_update_time == given[-1].timestamp
    dumped = [one.model_dump_json() for one in session.events]
    assert dumped == [one.model_dump_json() for one in given]


@pytest.mark.parametrize("index", range(10))
async def test_every_event_comes_back_alone(history: AsyncHistoryClient, index: int) -> None:
    given = events()[index : index + 1]
    service = AntiphonSessionService(history)
    await filled(service, given)
    assert (await loaded(service)).events == given


async def test_events_are_records_that_anyone_can_read(history: AsyncHistoryClient) -> None:
    await filled(AntiphonSessionService(history), events())
    branch = await AsyncBranch.open(history, external_key=f"{KEY_PREFIX}app%2F1/%C3%BCser/s")
    requests, responses = await branch.action_requests(), await branch.action_responses()
    assert [call.is_responded for call in requests] == [True, False]
    assert [response.output for response in responses] == [{"place": "Bremen", "none": None}, None]
    assert [turn.response for turn in await branch.assistant_responses()] == ["Looking.", "Tomorrow."]
    async for message in branch.messages():
        assert "Bremen" not in str(message.metadata)


async def test_the_same_as_the_framework_s_own_service(history: AsyncHistoryClient) -> None:
    """The same calls on both give the same sessions, but for times that the services take themselves."""
    given = [
        event(
            types.Part(text="1"),
            actions=EventActions(state_delta={"a": 1, "app:x": 1, "temp:t": 1}),
            timestamp=1.0,
        ),
        event(
            types.Part(text="2"), actions=EventActions(state_delta={"user:y": [1], "a": None}), timestamp=2.0
        ),
        event(types.Part(text="3"), partial=True, timestamp=2.5),
        event(types.Part(text="4"), timestamp=3.0),
        event(
            types.Part(text="5"), actions=EventActions(state_delta={"app:x": 2, "b": {"c": 1}}), timestamp=4.0
        ),
    ]

    async def told(service: Any) -> list[Any]:
        heard: list[Any] = []
        state = {"first": 1, "app:z": "z", "user:u": None, "temp:gone": 1}
        for session_id in ("s", " t "):
            session = await service.create_session(**APP, session_id=session_id, state=state)
            heard.append((session.id, session.state, session.events))
            for one in given:
                await service.append_event(session, one.model_copy(deep=True))
            heard.append((session.state, session.events, session.last_update_time))
        configs: list[dict[str, Any]] = [{"num_recent_events": number} for number in (0, 1, 2, 9)]
        configs += [{"after_timestamp": time} for time in (0.0, 2.0, 2.5, 9.0)]
        configs += [
            {"after_timestamp": 2.0, "num_recent_events": 1},
            {"after_timestamp": 9.0, "num_recent_events": 1},
        ]
        for config in [{}, *configs]:
            heard.append(await loaded(service, **config))
        for user_id in (APP["user_id"], None, "nobody"):
            heard.append(await service.list_sessions(app_name=APP["app_name"], user_id=user_id))
        heard.append(await service.get_user_state(**APP))
        await service.delete_session(**APP, session_id="t")
        await service.delete_session(**APP, session_id="t")
        heard.append(await service.get_session(**APP, session_id="t"))
        heard.append(await service.list_sessions(app_name=APP["app_name"]))
        again = await service.create_session(**APP, session_id="t")
        heard.append((again.state, again.events))
        return heard

    ours, theirs = await told(AntiphonSessionService(history)), await told(InMemorySessionService())
    for mine, other in zip(ours, theirs, strict=True):
        assert mine == other


async def test_errors_of_the_framework(history: AsyncHistoryClient) -> None:
    service = AntiphonSessionService(history)
    session = await service.create_session(**APP, session_id="s")
    with pytest.raises(AlreadyExistsError):
        await AntiphonSessionService(history.with_options()).create_session(**APP, session_id="s")
    await service.delete_session(**APP, session_id="s")
    with pytest.raises(SessionNotFoundError):
        await service.append_event(session, event(types.Part(text="late")))
    assert await service.get_session(**APP, session_id="s") is None


async def test_an_event_delivered_again_is_one_event(history: AsyncHistoryClient) -> None:
    service, given = AntiphonSessionService(history), events()
    session = await filled(service, given)
    for one in given:
        await service.append_event(session, one.model_copy(deep=True))
    assert (await loaded(service)).events == given


async def test_two_events_with_one_id_are_both_kept(history: AsyncHistoryClient) -> None:
    service = AntiphonSessionService(history)
    given = [event(types.Part(text=text), id="same", timestamp=1.0) for text in ("1", "2")]
    await filled(service, given)
    assert (await loaded(service)).events == given


async def test_no_change_of_a_shared_state_is_lost(history: AsyncHistoryClient) -> None:
    services = [AntiphonSessionService(history.with_options()) for _ in range(4)]

    async def count(number: int) -> None:
        session = await services[number].create_session(**APP, session_id=f"s{number}")
        for step in range(5):
            delta = {f"app:{number}.{step}": step, f"user:{number}.{step}": step, f"{step}": number}
            await services[number].append_event(session, event(actions=EventActions(state_delta=delta)))

    await asyncio.gather(*map(count, range(4)))
    state = (await loaded(services[0], "s3")).state
    names = [f"{number}.{step}" for number in range(4) for step in range(5)]
    assert state == {
        **{f"app:{name}": int(name[-1]) for name in names},
        **{f"user:{name}": int(name[-1]) for name in names},
        **{str(step): 3 for step in range(5)},
    }


async def test_events_outside_of_the_view_have_changed_the_state(history: AsyncHistoryClient) -> None:
    service = AntiphonSessionService(history)
    given = [event(types.Part(text=str(n)), actions=EventActions(state_delta={f"{n}": n})) for n in range(4)]
    await filled(service, given)
    branch = await AsyncBranch.open(history, external_key=f"{KEY_PREFIX}app%2F1/%C3%BCser/s")
    order = await branch.progression()
    await branch.commit_compaction("Before.", first_id=order[0], last_id=order[5], kept=order[6:])
    configs: list[dict[str, Any]] = [{}, {"num_recent_events": 1}]
    for config in configs:
        session = await loaded(service, **config)
        assert session.events[-1] == given[3]
        assert session.state == {"0": 0, "1": 1, "2": 2, "3": 3}
    whole = await loaded(service)
    assert [(one.author, one.content.parts[0].text) for one in whole.events] == [
        ("user", "Before."),
        ("user", "3"),
    ]


async def test_what_cannot_be_json_is_not_half_stored(history: AsyncHistoryClient) -> None:
    service = AntiphonSessionService(history)
    session = await service.create_session(**APP, session_id="s")
    with pytest.raises(ValueError, match="lone surrogate"):
        await service.append_event(session, event(types.Part(text="\ud800")))
    assert (await loaded(service)).events == [] == session.events
    delta = {"a": float("nan"), "app:b": float("inf")}
    await service.append_event(session, event(actions=EventActions(state_delta=delta)))
    assert (await loaded(service)).state == {"a": None, "app:b": None}


class Scripted(BaseLlm):
    """A model that gives the answers it was made with, and notes what it was asked."""

    answers: list[types.Part]
    asked: list[list[types.Content]] = Field(default_factory=list)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse]:
        self.asked.append([content.model_copy(deep=True) for content in llm_request.contents])
        yield LlmResponse(content=types.Content(role="model", parts=[self.answers.pop(0)]))


async def test_a_runner_goes_on_where_it_was(history: AsyncHistoryClient, pair: Pair) -> None:
    def find_parcel(number: int) -> dict[str, Any]:
        """Find a parcel."""
        return {"place": f"Bremen {number}"}

    call = types.FunctionCall(id="call_1", name="find_parcel", args={"number": 7})
    model = Scripted(
        model="scripted",
        answers=[types.Part(function_call=call), types.Part(text="In Bremen."), types.Part(text="Tomorrow.")],
    )
    agent = Agent(name="post", model=model, tools=[find_parcel], output_key="answer")
    await AntiphonSessionService(history).create_session(app_name="app", user_id="u", session_id="run")
    for question in ("Where is parcel 7?", "When does it arrive?"):
        service = AntiphonSessionService(history.with_options())
        runner = Runner(app_name="app", agent=agent, session_service=service)
        message = types.Content(role="user", parts=[types.Part(text=question)])
        async for _ in runner.run_async(user_id="u", session_id="run", new_message=message):
            pass
    kinds = [
        [
            next(name for name in ("text", "function_call", "function_response") if getattr(part, name))
            for part in content.parts or []
        ]
        for content in model.asked[-1]
    ]
    assert kinds == [["text"], ["function_call"], ["function_response"], ["text"], ["text"]]
    session = await service.get_session(app_name="app", user_id="u", session_id="run")
    assert session is not None
    assert session.state == {"answer": "Tomorrow."}
    branch = await AsyncBranch.open(history, external_key=KEY_PREFIX + "app/u/run")
    async with AsyncCompilerClient(pair.compiler) as compiler:
        turn = TurnRequest(Instruction.create("Thanks."))
        compiled = await compiler.compile(branch.branch_id, turn, profile="native")
    roles = [message.role.value for message in compiled.request.messages]
    assert roles == ["user", "assistant", "tool", "assistant", "user", "assistant", "user"]

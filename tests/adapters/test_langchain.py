"""Chat message histories of LangChain in branches."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain: `make adapters`")

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables.history import RunnableWithMessageHistory

from antiphon_client import (
    AsyncBranch,
    AsyncCompilerClient,
    AsyncHistoryClient,
    Branch,
    HistoryClient,
    Instruction,
    TurnRequest,
)
from antiphon_client.adapters.langchain import KEY_PREFIX, AntiphonChatMessageHistory
from antiphon_client.json_text import JsonTextError
from tests.support.pair import Pair

CALL = {"name": "find", "args": {"number": 7, "none": None}, "id": "call_1", "type": "tool_call"}
MESSAGES: list[BaseMessage] = [
    SystemMessage("Be brief."),
    SystemMessage([{"type": "text", "text": "And kind."}]),
    HumanMessage("Where?", id="h-1", name="Ada", additional_kwargs={"a": [1, None]}),
    HumanMessage(
        [
            "plain",
            {"type": "text", "text": "part", "extra": 1},
            {"type": "image_url", "image_url": {"url": "https://example.com/a.png", "detail": "low"}},
            {"type": "image", "url": "https://example.com/b.png", "mime_type": "image/png"},
            {"type": "image_url", "image_url": {"url": "http://127.0.0.1/c.png"}},
            {"type": "image", "base64": "aGk=", "mime_type": "image/png"},
            {"no": "type"},
        ]
    ),
    AIMessage(
        "",
        tool_calls=[CALL, {**CALL, "id": "call_2", "args": {}}],
        usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        response_metadata={"model": "m"},
    ),
    ToolMessage("In Bremen.", tool_call_id="call_1", name="find", artifact={"raw": [1.5]}),
    ToolMessage("no such parcel", tool_call_id="call_2", status="error"),
    AIMessage(
        [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "There."}],
        invalid_tool_calls=[{"name": "f", "args": "{", "id": "x", "error": "e", "type": "invalid_tool_call"}],
    ),
    AIMessageChunk("Tomorrow.", id="run-1", chunk_position="last"),
    ToolMessage(["a", {"type": "text", "text": "b"}], tool_call_id="elsewhere"),
    ChatMessage("Hm.", role="critic"),
    FunctionMessage("1", name="find"),
    RemoveMessage("h-1"),
    AIMessage("Done. \x00 ünïcödé \U0001f337"),
]


def test_every_kind_of_message_comes_back(blocking: HistoryClient) -> None:
    AntiphonChatMessageHistory("s", blocking).add_messages(MESSAGES)
    history = AntiphonChatMessageHistory("s", blocking.with_options())
    for _ in range(2):
        read = history.messages
        assert read == MESSAGES
        assert [type(message) for message in read] == [type(message) for message in MESSAGES]


def test_what_is_given_out_can_be_changed(blocking: HistoryClient) -> None:
    history = AntiphonChatMessageHistory("s", blocking)
    history.add_messages(MESSAGES)
    history.messages[4].response_metadata.clear()
    assert history.messages == MESSAGES


@pytest.mark.anyio
@pytest.mark.parametrize("has_async", [True, False], ids=["asyncio client", "blocking client"])
async def test_the_asynchronous_methods(
    blocking: HistoryClient, history: AsyncHistoryClient, has_async: bool
) -> None:
    kept = (
        AntiphonChatMessageHistory("s", async_history=history)
        if has_async
        else AntiphonChatMessageHistory("s", blocking)
    )
    assert await kept.aget_messages() == []
    await kept.aadd_messages(MESSAGES)
    assert await kept.aget_messages() == MESSAGES
    await kept.aclear()
    assert await kept.aget_messages() == []
    await kept.aadd_messages(MESSAGES[:1])
    assert await kept.aget_messages() == MESSAGES[:1]


def test_clearing_and_single_messages(blocking: HistoryClient) -> None:
    history = AntiphonChatMessageHistory("s", blocking)
    history.clear()
    history.add_user_message("q")
    history.add_ai_message("a")
    assert history.messages == [HumanMessage("q"), AIMessage("a")]
    history.clear()
    assert history.messages == []


def test_messages_are_records_that_anyone_can_read(blocking: HistoryClient) -> None:
    AntiphonChatMessageHistory("s", blocking).add_messages(MESSAGES)
    branch = Branch.open(blocking, external_key=KEY_PREFIX + "s")
    requests, responses = branch.action_requests(), branch.action_responses()
    assert [request.arguments for request in requests] == [CALL["args"], {}]
    assert all(request.is_responded for request in requests)
    outcomes = [
        (response.content.function, response.output, response.content.error) for response in responses
    ]
    assert outcomes[:2] == [("find", "In Bremen.", None), ("find", None, "no such parcel")]
    assert "In Bremen." not in str(responses[0].metadata)
    assert branch.record().system_message_id is None


def test_records_of_other_clients_are_plain_messages(blocking: HistoryClient) -> None:
    history = AntiphonChatMessageHistory("s", blocking)
    history.add_user_message("q")
    branch = Branch.open(blocking, external_key=KEY_PREFIX + "s")
    call = branch.add_message(action_function="find", action_arguments={"a": 1})
    branch.respond(call.id, error="gone")
    branch.add_message(assistant_response="Sorry.")
    branch.set_system("Be brief.")
    made = {"name": "find", "args": {"a": 1}, "id": str(call.id), "type": "tool_call"}
    assert history.messages == [
        SystemMessage("Be brief."),
        HumanMessage("q"),
        AIMessage("", tool_calls=[made]),
        ToolMessage("gone", tool_call_id=str(call.id), status="error"),
        AIMessage("Sorry."),
    ]


def test_a_message_of_which_a_record_was_removed_is_left_out(blocking: HistoryClient) -> None:
    history = AntiphonChatMessageHistory("s", blocking)
    history.add_messages([HumanMessage("q"), MESSAGES[4], AIMessage("a")])
    branch = Branch.open(blocking, external_key=KEY_PREFIX + "s")
    branch.remove(branch.action_requests()[0].id)
    assert history.messages == [HumanMessage("q"), AIMessage("a")]


def test_an_edited_record_gives_its_new_text(blocking: HistoryClient) -> None:
    history = AntiphonChatMessageHistory("s", blocking)
    history.add_messages([HumanMessage("q", id="h-1")])
    assert history.messages == [HumanMessage("q", id="h-1")]
    branch = Branch.open(blocking, external_key=KEY_PREFIX + "s")
    asked = branch.last_instruction()
    assert asked is not None
    asked.update(instruction="another question")
    branch.add(asked)
    assert history.messages == [HumanMessage("another question", id="h-1")]


def test_what_json_has_not_is_refused_and_nothing_stored(blocking: HistoryClient) -> None:
    history = AntiphonChatMessageHistory("s", blocking)
    with pytest.raises(JsonTextError):
        history.add_messages([HumanMessage("q"), ToolMessage("x", tool_call_id="c", artifact=object())])
    assert history.messages == []


def test_a_history_without_a_client_is_refused(blocking: HistoryClient, pair: Pair) -> None:
    with pytest.raises(ValueError, match="needs a client"):
        AntiphonChatMessageHistory("s")


@pytest.mark.anyio
async def test_an_asyncio_client_alone_serves_no_blocking_call(history: AsyncHistoryClient) -> None:
    kept = AntiphonChatMessageHistory("s", async_history=history)
    with pytest.raises(RuntimeError, match="begin with 'a'"):
        kept.add_user_message("q")


@pytest.mark.anyio
@pytest.mark.filterwarnings("ignore:RunnableWithMessageHistory is deprecated")
async def test_a_runnable_goes_on_where_it_was(history: AsyncHistoryClient, pair: Pair) -> None:
    seen: list[list[Any]] = []

    class Recording(GenericFakeChatModel):
        def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
            seen.append([(message.type, message.content) for message in messages])
            return super()._generate(messages, *args, **kwargs)

    model = Recording(messages=iter([AIMessage("In Bremen."), AIMessage("Tomorrow.")]))
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("history"), ("human", "{question}")])
    chain = RunnableWithMessageHistory(
        prompt | model,
        lambda session_id: AntiphonChatMessageHistory(session_id, async_history=history),
        input_messages_key="question",
        history_messages_key="history",
    )
    config: Any = {"configurable": {"session_id": "run"}}
    await chain.ainvoke({"question": "Where is it?"}, config)
    await chain.ainvoke({"question": "When?"}, config)
    assert seen[1] == [("human", "Where is it?"), ("ai", "In Bremen."), ("human", "When?")]
    branch = await AsyncBranch.open(history, external_key=KEY_PREFIX + "run")
    async with AsyncCompilerClient(pair.compiler) as compiler:
        turn = TurnRequest(Instruction.create("Thanks."))
        compiled = await compiler.compile(branch.branch_id, turn, profile="native")
    assert [message.role.value for message in compiled.request.messages] == ["user", "assistant"] * 2 + [
        "user"
    ]

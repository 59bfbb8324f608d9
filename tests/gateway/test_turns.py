"""Conversations through OpenAI's own client: what is said is kept, once, and the model is shown it."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from antiphon_client import Branch, HistoryClient, Summary
from antiphon_client.messages import to_proto
from antiphon_gateway.conversation import CONVERSATION_HEADER
from tests.gateway.support import (
    KEY,
    WEATHER,
    Gateway,
    Message,
    Provider,
    ask,
    assistant,
    call,
    says,
    user,
)

both = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


@both
def test_a_conversation_with_tools_is_kept_as_it_was_said(
    gateway: Gateway, provider: Provider, key: str, stream: bool
) -> None:
    provider.will(says(call("call_a", "Århus")), says("Sun in Århus."), says("Yes: 9007199254740993."))
    said: list[Message] = [{"role": "system", "content": "Be brief."}, user("Weather in Århus?")]
    with gateway.client(key) as client:
        said.append(ask(client, said, stream=stream, tools=[WEATHER]))
        assert said[-1] == call("call_a", "Århus")
        said.append({"role": "tool", "tool_call_id": "call_a", "content": '{"sun": 9007199254740993}'})
        said.append(ask(client, said, stream=stream, tools=[WEATHER]))
        assert said[-1] == assistant("Sun in Århus.")
        said.append(user("Sure?"))
        said.append(ask(client, said, stream=stream))
    assert gateway.kept(key) == said
    shown = [asked.messages for asked in provider.asked]
    assert shown == [said[:2], said[:4], said[:6]]
    assert [asked.body.get("tools") for asked in provider.asked] == [[WEATHER], [WEATHER], None]
    assert all(asked.headers["authorization"] == f"Bearer {KEY}" for asked in provider.asked)


@both
def test_parameters_reach_the_upstream_as_they_are(
    gateway: Gateway, provider: Provider, key: str, stream: bool
) -> None:
    provider.will(says("a"))
    more: dict[str, Any] = {
        "temperature": 0.7,
        "seed": 9007199254740993,
        "tools": [WEATHER],
        "tool_choice": {"type": "function", "function": {"name": "weather"}},
        "parallel_tool_calls": False,
        "response_format": {"type": "json_object"},
        "extra_body": {"of_mine": {"x": [1, None]}},
    }
    with gateway.client(key) as client:
        ask(client, [user("?")], stream=stream, **more)
    (asked,) = provider.asked
    expected = {**more, **more["extra_body"], "model": "m", "messages": [user("?")]}
    del expected["extra_body"]
    if stream:
        expected["stream"] = True
    assert asked.body == expected


@both
def test_a_turn_that_is_sent_again_is_answered_from_what_is_kept(
    gateway: Gateway, provider: Provider, key: str, stream: bool
) -> None:
    provider.will(says(call("call_a", "Oslo")), says("Rain."))
    said = [user("Weather?")]
    with gateway.client(key) as client:
        first = ask(client, said, stream=stream, tools=[WEATHER])
        assert ask(client, said, stream=stream, tools=[WEATHER]) == first
        assert len(provider.asked) == 1
        said += [first, {"role": "tool", "tool_call_id": "call_a", "content": "rain"}]
        answer = ask(client, said, stream=stream)
        again = client.chat.completions.with_raw_response.create(model="m", messages=said)  # type: ignore[arg-type]
        assert again.headers["x-antiphon-replayed"] == "true"
        replayed = again.parse()
        assert replayed.choices[0].message.content == answer["content"] == "Rain."
        assert replayed.choices[0].finish_reason == "stop"
        assert replayed.model == "m"
    assert len(provider.asked) == 2
    assert gateway.kept(key) == [*said, answer]


def test_usage_is_kept_and_told_again(gateway: Gateway, provider: Provider, key: str) -> None:
    provider.will(says("a"))
    with gateway.client(key) as client:
        for _ in range(2):
            answer = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "?"}])
            assert answer.usage is not None
            counts = answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens
            assert counts == (3, 2, 5)
    assert len(provider.asked) == 1


def test_the_same_said_otherwise_is_the_same(gateway: Gateway, provider: Provider, key: str) -> None:
    provider.will(says({**call("call_a", "Oslo"), "content": "Let me see."}), says("Rain."))
    with gateway.client(key) as client:
        first = ask(client, [user("Weather?")], stream=False)
        spelled: Message = {
            **first,
            "content": [{"type": "text", "text": "Let me see."}],
            "refusal": None,
            "audio": None,
            "annotations": [],
        }
        spelled["tool_calls"][0]["function"]["arguments"] = '{ "city" : "Oslo" }'
        question = {"role": "user", "content": [{"type": "text", "text": "Weather?"}]}
        result = {"role": "tool", "tool_call_id": "call_a", "content": "rain"}
        ask(client, [question, spelled, result], stream=False)
    kept = gateway.kept(key)
    assert len(kept) == 4
    assert kept[0] == user("Weather?")
    assert kept[1] == {**call("call_a", "Oslo"), "content": "Let me see."}


@both
def test_only_what_is_new_may_be_sent(gateway: Gateway, provider: Provider, key: str, stream: bool) -> None:
    provider.will(says("Hello."), says("Again."), says("Hello."))
    new = {"extra_headers": {"x-antiphon-messages": "new"}}
    with gateway.client(key) as client:
        for text in ("Hi.", "Hi.", "Hi."):
            ask(client, [user(text)], stream=stream, **new)
    said = [user("Hi."), assistant("Hello."), user("Hi."), assistant("Again."), user("Hi.")]
    assert provider.asked[-1].messages == said
    assert gateway.kept(key) == [*said, assistant("Hello.")]


def test_what_is_new_and_waits_for_its_answer_is_not_added_again(
    gateway: Gateway, provider: Provider, key: str
) -> None:
    provider.will(says("a"))
    new = {"extra_headers": {"x-antiphon-messages": "new"}}
    with gateway.client(key) as client:
        ask(client, [user("1")], stream=False, **new)
        with pytest.raises(openai.InternalServerError):  # the provider has nothing more to say
            ask(client, [user("2")], stream=False, **new)
        provider.will(says("b"))
        ask(client, [user("2")], stream=False, **new)
    assert gateway.kept(key) == [user("1"), assistant("a"), user("2"), assistant("b")]


@both
def test_without_a_key_a_new_conversation_is_made_and_named(
    gateway: Gateway, provider: Provider, stream: bool
) -> None:
    provider.will(says("Hello."), says("Bye."))
    said = [user("Hi.")]
    given: Any = said
    with gateway.client() as client:
        raw = client.chat.completions.with_raw_response.create(model="m", messages=given, stream=stream)
        name = raw.headers[CONVERSATION_HEADER]
        if stream:
            list(raw.parse())
        said += [assistant("Hello."), user("Ciao.")]
        answer = ask(client, said, stream=stream, extra_headers={CONVERSATION_HEADER: name})
    assert gateway.kept(name) == [*said, answer]


def test_a_conversation_may_begin_with_a_history(gateway: Gateway, provider: Provider, key: str) -> None:
    provider.will(says("c"))
    said = [
        user("a"),
        call("call_a", "Oslo"),
        {"role": "tool", "tool_call_id": "call_a", "content": "rain"},
        assistant("b"),
        {"role": "developer", "content": "Now be brief."},
        user("c?"),
    ]
    with gateway.client(key) as client:
        answer = ask(client, said, stream=True)
    assert provider.asked[0].messages == said
    assert gateway.kept(key) == [*said, answer]


def test_system_text_in_the_middle_stays_in_its_place(gateway: Gateway, provider: Provider, key: str) -> None:
    provider.will(says("a"), says("b"))
    said = [user("1")]
    with gateway.client(key) as client:
        said.append(ask(client, said, stream=False))
        said += [{"role": "system", "content": "Be brief."}, user("2")]
        said.append(ask(client, said, stream=False))
    assert provider.asked[-1].messages == said[:4]
    assert gateway.kept(key) == said


def test_several_calls_are_answered_at_once(gateway: Gateway, provider: Provider, key: str) -> None:
    both_calls = call("call_a", "Oslo")
    both_calls["tool_calls"] += call("call_b", "Bergen")["tool_calls"]
    provider.will(says(both_calls), says("Done."))
    said = [user("Weather?")]
    with gateway.client(key) as client:
        said.append(ask(client, said, stream=True))
        result = {"role": "tool", "tool_call_id": "call_b", "content": "rain"}
        with pytest.raises(openai.BadRequestError) as refused:
            ask(client, [*said, result], stream=True)
        assert refused.value.code == "OPEN_CALLS"
        with pytest.raises(openai.BadRequestError) as refused:
            ask(client, [*said, user("Never mind.")], stream=True)
        assert refused.value.code == "OPEN_CALLS"
        assert gateway.kept(key) == said
        said += [result, {"role": "tool", "tool_call_id": "call_a", "content": "sun"}]
        said.append(ask(client, said, stream=True))
    assert gateway.kept(key) == said


def test_a_name_that_the_upstream_refuses_is_the_clients_own_to_the_client(
    gateway: Gateway, provider: Provider, key: str
) -> None:
    tool = {"type": "function", "function": {"name": "weather.now", "parameters": {"type": "object"}}}
    for stream in (False, True):
        conversation = f"{key}-{stream}"

        async def reply(request: Any) -> Any:
            name = (await request.json())["tools"][0]["function"]["name"]
            assert name != "weather.now"
            answer = call("call_a", "Oslo")
            answer["tool_calls"][0]["function"]["name"] = name
            return await says(answer)(request)

        provider.will(reply)
        with gateway.client(conversation) as client:
            answer = ask(client, [user("?")], stream=stream, tools=[tool])
        assert answer["tool_calls"][0]["function"]["name"] == "weather.now"
        assert gateway.kept(conversation) == [user("?"), answer]


def test_a_compacted_conversation_goes_on(gateway: Gateway, provider: Provider, key: str) -> None:
    provider.will(says("a"), says("b"))
    said = [user("1")]
    with gateway.client(key) as client:
        said.append(ask(client, said, stream=False))
        with HistoryClient(gateway.pair.history) as history:
            branch = Branch.open(history, external_key=key)
            first, last = (to_proto(each).id for each in branch.messages())
            branch.commit_compaction("They greeted.", first_id=first, last_id=last)
            assert any(isinstance(each, Summary) for each in branch.messages())
        said.append(user("2"))
        said.append(ask(client, said, stream=False))
    shown = provider.asked[-1].messages
    assert len(shown) == 2
    assert "They greeted." in shown[0]["content"]
    assert shown[1] == user("2")

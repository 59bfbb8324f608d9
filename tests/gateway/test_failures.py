"""What goes wrong on the way of a turn: the question is kept, the answer whole, interrupted or not at all."""

from __future__ import annotations

import contextlib
import json
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from starlette.requests import Request
from starlette.responses import Response

from antiphon_client import (
    AssistantResponse,
    AsyncHistoryClient,
    Branch,
    HistoryClient,
    Instruction,
    System,
)
from antiphon_client.errors import AntiphonError, BranchExistsError, RevisionConflictError
from antiphon_client.messages.role import MessageStatus
from antiphon_gateway.conversation import CONVERSATION_HEADER, Conversation
from tests.gateway.support import (
    DONE,
    KEY,
    SECONDS,
    Gateway,
    Held,
    Late,
    Message,
    Provider,
    ask,
    assistant,
    call,
    chunk,
    chunks_of,
    completion,
    refuses,
    running_gateway,
    says,
    sse,
    streams,
    user,
)
from tests.support.pair import Pair

both = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
BEGINNING = sse(chunk({"role": "assistant", "content": ""}), chunk({"content": "The "}))
QUESTION = user("Where is my parcel?")


def texts(client: openai.OpenAI, messages: list[Message], **more: Any) -> Iterator[str]:
    """Yield the texts of a stream as they come."""
    given: Any = messages
    with client.chat.completions.create(model="m", messages=given, stream=True, **more) as stream:
        for each in stream:
            if each.choices and each.choices[0].delta.content:
                yield each.choices[0].delta.content


def answers(gateway: Gateway, key: str) -> list[tuple[str, MessageStatus]]:
    """The answers that are kept, with their status."""
    with HistoryClient(gateway.pair.history) as history:
        branch = Branch.open(history, external_key=key)
        return [(each.response, each.status) for each in branch.assistant_responses()]


def wait_for_answer(gateway: Gateway, key: str) -> None:
    """Wait until a conversation has an answer."""
    found = threading.Event()

    def watch(branch: Branch) -> None:
        with contextlib.suppress(AntiphonError):  # the client is closed
            for _ in branch.watch():
                if branch.assistant_responses():
                    found.set()

    with HistoryClient(gateway.pair.history) as history:
        watching = threading.Thread(target=watch, args=[Branch.open(history, external_key=key)])
        watching.start()
        was_found = found.wait(SECONDS)
    watching.join()
    assert was_found


def test_a_gateway_killed_in_the_middle_leaves_the_question_and_no_answer(
    pair: Pair, provider: Provider, folder: Path, key: str
) -> None:
    provider.will(held := Held(BEGINNING), says("The parcel is in Aarhus."))
    said = [{"role": "system", "content": "Be brief."}, QUESTION]
    with running_gateway(pair, provider.url, folder / "killed") as gateway, gateway.client(key) as client:
        stream = texts(client, said)
        assert next(stream) == "The "
        gateway.stop(signal.SIGKILL)
        with pytest.raises((openai.APIConnectionError, openai.APIError)):
            list(stream)
        assert held.ended.wait(SECONDS)
        assert gateway.kept(key) == said
    with running_gateway(pair, provider.url, folder / "after") as gateway, gateway.client(key) as client:
        answer = ask(client, said, stream=True)
        assert gateway.kept(key) == [*said, answer] == [*said, assistant("The parcel is in Aarhus.")]
    assert provider.asked[-1].messages == said


def test_a_gateway_killed_after_the_end_of_an_answer_has_kept_it(
    pair: Pair, provider: Provider, folder: Path, key: str
) -> None:
    provider.will(says("The parcel is in Aarhus."))
    given: Any = [QUESTION]
    with running_gateway(pair, provider.url, folder / "killed") as gateway, gateway.client(key) as client:
        with client.chat.completions.create(model="m", messages=given, stream=True) as stream:
            assert any(each.choices[0].finish_reason for each in stream)
            gateway.stop(signal.SIGKILL)
        assert gateway.kept(key) == [QUESTION, assistant("The parcel is in Aarhus.")]
    with running_gateway(pair, provider.url, folder / "after") as gateway, gateway.client(key) as client:
        assert ask(client, [QUESTION], stream=True) == assistant("The parcel is in Aarhus.")
    assert len(provider.asked) == 1


def test_a_user_may_say_something_else_after_a_kill(
    pair: Pair, provider: Provider, folder: Path, key: str
) -> None:
    provider.will(Held(BEGINNING), says("Bye."))
    with running_gateway(pair, provider.url, folder / "killed") as gateway, gateway.client(key) as client:
        next(stream := texts(client, [QUESTION]))
        gateway.stop(signal.SIGKILL)
        with pytest.raises((openai.APIConnectionError, openai.APIError)):
            list(stream)
    # The client keeps what it has seen of the answer.
    said = [QUESTION, assistant("The "), user("Never mind.")]
    with running_gateway(pair, provider.url, folder / "after") as gateway, gateway.client(key) as client:
        said.append(ask(client, said, stream=False))
        assert gateway.kept(key) == said


@both
@pytest.mark.parametrize(
    ("status", "error", "raised"),
    [
        (400, {"message": "too long", "type": "invalid", "param": "messages", "code": "ctx"}, 400),
        (401, {"message": f"Incorrect API key provided: {KEY}.", "code": "invalid_api_key"}, 401),
        (429, {"message": "slow down", "type": "rate_limit_error", "code": None}, 429),
        (500, {"message": "sorry"}, 500),
        (503, {"message": "full"}, 503),
        (302, {"message": "elsewhere"}, 502),
    ],
)
def test_what_an_upstream_refuses_is_passed_on(
    gateway: Gateway,
    provider: Provider,
    key: str,
    stream: bool,
    status: int,
    error: Message,
    raised: int,
) -> None:
    provider.will(refuses(status, {"error": error}, {"retry-after": "7"}), says("In Aarhus."))
    with gateway.client(key) as client:
        with pytest.raises(openai.APIStatusError) as refused:
            ask(client, [QUESTION], stream=stream)
        assert refused.value.status_code == raised
        assert refused.value.response.headers["retry-after"] == "7"
        assert refused.value.response.headers[CONVERSATION_HEADER] == key
        assert refused.value.code == (error.get("code") or error.get("type") or "UPSTREAM_ERROR")
        assert refused.value.param == error.get("param")
        assert error["message"].replace(KEY, "[key]") in refused.value.message
        assert KEY not in refused.value.response.text
        assert gateway.kept(key) == [QUESTION]
        answer = ask(client, [QUESTION], stream=stream)
    assert gateway.kept(key) == [QUESTION, answer]


def test_an_official_client_gets_over_a_refusal_by_itself(
    gateway: Gateway, provider: Provider, key: str
) -> None:
    provider.will(refuses(429, {"error": {}}, {"retry-after": "0.01"}), says("In Aarhus."))
    with gateway.client(key, retries=1) as client:
        answer = ask(client, [QUESTION], stream=False)
    assert gateway.kept(key) == [QUESTION, answer]


@both
def test_an_upstream_that_is_silent_or_away(
    pair: Pair, provider: Provider, folder: Path, key: str, stream: bool
) -> None:
    flags = ("--upstream-timeout-seconds", "0.2")
    provider.will(silent := Late(says("never")))
    with (
        running_gateway(pair, provider.url, folder / "silent", *flags) as gateway,
        gateway.client(key) as client,
    ):
        with pytest.raises(openai.InternalServerError) as refused:
            ask(client, [QUESTION], stream=stream)
        silent.let_go()
        assert (refused.value.status_code, refused.value.code) == (504, "UPSTREAM_TIMEOUT")
        assert gateway.kept(key) == [QUESTION]
    # Nothing listens at port 9 of the loopback.
    with (
        running_gateway(pair, "http://127.0.0.1:9/v1", folder / "away") as gateway,
        gateway.client(key) as client,
    ):
        with pytest.raises(openai.InternalServerError) as refused:
            ask(client, [QUESTION], stream=stream)
        assert (refused.value.status_code, refused.value.code) == (502, "UPSTREAM_UNREACHABLE")
        assert gateway.kept(key) == [QUESTION]


def test_a_stream_that_falls_silent_is_kept_as_interrupted(
    pair: Pair, provider: Provider, folder: Path, key: str
) -> None:
    provider.will(held := Held(BEGINNING))
    flags = ("--upstream-timeout-seconds", "0.2")
    with (
        running_gateway(pair, provider.url, folder / "slow", *flags) as gateway,
        gateway.client(key) as client,
    ):
        with pytest.raises(openai.APIError) as cut:
            list(texts(client, [QUESTION]))
        assert cut.value.code == "UPSTREAM_TIMEOUT"
        assert held.ended.wait(SECONDS)
        assert answers(gateway, key) == [("The ", MessageStatus.INTERRUPTED)]


CUT_CALL = chunks_of(call("call_a", "Aarhus"))[:3]
CUTS = {
    "cut": BEGINNING,
    "fault": [*BEGINNING, *sse({"error": {"message": "overloaded"}})],
    "nonsense": [*BEGINNING, b"data: nonsense\n\n"],
    "cut call": [*BEGINNING, *CUT_CALL[1:]],
}


@pytest.mark.parametrize("pieces", CUTS.values(), ids=CUTS)
def test_a_stream_that_breaks_off_is_kept_as_interrupted_until_the_turn_is_tried_again(
    gateway: Gateway, provider: Provider, key: str, pieces: list[bytes]
) -> None:
    provider.will(streams(pieces), says("The parcel is in Aarhus."))
    with gateway.client(key) as client:
        seen: list[str] = []
        with pytest.raises(openai.APIError) as cut:
            seen.extend(texts(client, [QUESTION]))
        assert cut.value.code in ("STREAM_INCOMPLETE", "UPSTREAM_ANSWER_INVALID")
        assert gateway.kept(key) == [QUESTION, assistant("The ")]
        assert answers(gateway, key) == [("The ", MessageStatus.INTERRUPTED)]
        answer = ask(client, [QUESTION], stream=True)
    assert provider.asked[-1].messages == [QUESTION]
    assert gateway.kept(key) == [QUESTION, answer]
    assert [status for _, status in answers(gateway, key)] == [MessageStatus.EXCLUDED, MessageStatus.ACTIVE]


def test_a_whole_call_of_a_broken_stream_is_never_to_be_answered(
    gateway: Gateway, provider: Provider, key: str
) -> None:
    provider.will(streams(chunks_of(call("call_a", "Aarhus"))[:-2]), says("In Aarhus."))
    with gateway.client(key) as client:
        with pytest.raises(openai.APIError):
            list(texts(client, [QUESTION]))
        assert gateway.kept(key) == [QUESTION]
        # A client that sends only what is new cannot leave the broken answer out.
        new = {"extra_headers": {"x-antiphon-messages": "new"}}
        answer = ask(client, [user("Well?")], stream=False, **new)
    assert gateway.kept(key) == [QUESTION, user("Well?"), answer]


def test_a_fault_in_place_of_a_stream_leaves_nothing(gateway: Gateway, provider: Provider, key: str) -> None:
    provider.will(streams([b'{"error": {"message": "overloaded"}}']))
    with gateway.client(key) as client, pytest.raises(openai.APIError, match="overloaded") as cut:
        list(texts(client, [QUESTION]))
    assert cut.value.code == "STREAM_INCOMPLETE"
    assert gateway.kept(key) == [QUESTION]


def test_a_client_may_go_on_from_an_interrupted_answer(
    gateway: Gateway, provider: Provider, key: str
) -> None:
    pieces = [*BEGINNING, *sse(chunk({"content": "parcel"}))]
    provider.will(streams(pieces), says("It is in Aarhus."), says("Bye."))
    # Of "The parcel" the client has seen a part only.
    said = [QUESTION, assistant("The "), user("Go on.")]
    with gateway.client(key) as client:
        with pytest.raises(openai.APIError):
            list(texts(client, [QUESTION]))
        said.append(ask(client, said, stream=False))
        said.append(user("Thanks."))
        said.append(ask(client, said, stream=False))
    held = [QUESTION, assistant("The parcel"), *said[2:]]
    assert gateway.kept(key) == held
    assert provider.asked[-1].messages == held[:-1]


@pytest.mark.parametrize(
    "body",
    ["nonsense", {"choices": []}, {"error": {"message": "broken"}}, b"\xff"],
)
def test_an_answer_that_is_none_is_an_error(
    gateway: Gateway, provider: Provider, key: str, body: Any
) -> None:
    async def reply(_request: Request) -> Response:
        return Response(body if isinstance(body, bytes) else json.dumps(body))

    provider.will(reply)
    with gateway.client(key) as client, pytest.raises(openai.InternalServerError) as refused:
        ask(client, [QUESTION], stream=False)
    assert (refused.value.status_code, refused.value.code) == (502, "UPSTREAM_ANSWER_INVALID")
    assert gateway.kept(key) == [QUESTION]


def test_a_whole_answer_with_a_cut_call_is_an_error(gateway: Gateway, provider: Provider, key: str) -> None:
    cut = {**call("call_a", "Aarhus"), "content": "Let me see."}
    cut["tool_calls"][0]["function"]["arguments"] = '{"ci'

    async def reply(_request: Request) -> Response:
        return Response(json.dumps(completion(cut, "length")))

    provider.will(reply)
    with gateway.client(key) as client, pytest.raises(openai.InternalServerError) as refused:
        ask(client, [QUESTION], stream=False)
    assert (refused.value.status_code, refused.value.code) == (502, "STREAM_INCOMPLETE")
    assert answers(gateway, key) == [("Let me see.", MessageStatus.INTERRUPTED)]


def test_a_client_that_goes_away_ends_the_upstreams_work(
    gateway: Gateway, provider: Provider, key: str
) -> None:
    provider.will(held := Held(BEGINNING), says("The parcel is in Aarhus."))
    with gateway.client(key) as client:
        stream = texts(client, [QUESTION])
        assert next(stream) == "The "
        stream.close()  # type: ignore[attr-defined]
    assert held.ended.wait(SECONDS)
    wait_for_answer(gateway, key)
    assert answers(gateway, key) == [("The ", MessageStatus.INTERRUPTED)]
    with gateway.client(key) as client:
        answer = ask(client, [QUESTION], stream=True)
    assert gateway.kept(key) == [QUESTION, answer]


def test_an_answer_whose_client_went_away_is_there_when_it_asks_again(
    gateway: Gateway, provider: Provider, key: str
) -> None:
    provider.will(late := Late(says("In Aarhus.")))
    body = {"model": "m", "messages": [QUESTION]}
    connection = httpx.Client(base_url=gateway.url, headers={CONVERSATION_HEADER: key})
    with connection, pytest.raises(httpx.ReadTimeout):
        connection.post("/v1/chat/completions", json=body, timeout=0.5)
    assert late.began.wait(SECONDS)
    late.let_go()
    wait_for_answer(gateway, key)
    with gateway.client(key) as client:
        answer = ask(client, [QUESTION], stream=False)
    assert gateway.kept(key) == [QUESTION, answer]
    assert len(provider.asked) == 1


def test_a_gateway_that_is_stopped_keeps_what_it_has(
    pair: Pair, provider: Provider, folder: Path, key: str
) -> None:
    provider.will(Held(BEGINNING))
    with (
        running_gateway(pair, provider.url, folder / "stopped", "--grace-seconds", "0") as gateway,
        gateway.client(key) as client,
    ):
        next(stream := texts(client, [QUESTION]))
        gateway.stop(signal.SIGTERM)
        with pytest.raises((openai.APIConnectionError, openai.APIError)):
            list(stream)
        assert answers(gateway, key) == [("The ", MessageStatus.INTERRUPTED)]


def ask_in_thread(gateway: Gateway, key: str, found: list[openai.APIError]) -> threading.Thread:
    """Ask the question in a thread; the error goes to a list."""

    def run() -> None:
        try:
            with gateway.client(key) as client:
                ask(client, [QUESTION], stream=False)
        except openai.APIError as error:
            found.append(error)

    waiting = threading.Thread(target=run)
    waiting.start()
    return waiting


@pytest.mark.parametrize("comes", [True, False], ids=["that comes", "that does not come"])
def test_a_gateway_that_is_stopped_keeps_an_answer_that_comes_soon(
    pair: Pair, provider: Provider, folder: Path, key: str, comes: bool
) -> None:
    provider.will(late := Late(says("In Aarhus.")))
    with running_gateway(pair, provider.url, folder / "late", "--grace-seconds", "0") as gateway:
        found: list[openai.APIError] = []
        waiting = ask_in_thread(gateway, key, found)
        assert late.began.wait(SECONDS)
        gateway.process.send_signal(signal.SIGTERM)
        waiting.join(SECONDS)
        assert len(found) == 1
        if comes:
            late.let_go()
        gateway.process.wait(SECONDS)
        assert gateway.kept(key) == ([QUESTION, assistant("In Aarhus.")] if comes else [QUESTION])
        assert "Traceback" not in gateway.log.read_text()


def test_the_end_of_a_stream_is_shown_once_the_answer_is_kept(
    gateway: Gateway, provider: Provider, key: str
) -> None:
    provider.will(streams(chunks_of(assistant("In Aarhus."))))
    given: Any = [QUESTION]
    with (
        gateway.client(key) as client,
        client.chat.completions.create(model="m", messages=given, stream=True) as stream,
    ):
        for each in stream:
            if each.choices[0].finish_reason:
                assert gateway.kept(key) == [QUESTION, assistant("In Aarhus.")]
                break
        else:
            pytest.fail("there was no end")


def test_a_turn_that_another_writer_has_gone_past_is_not_answered(
    gateway: Gateway, provider: Provider, key: str
) -> None:
    provider.will(held := Held(BEGINNING, [*chunks_of(assistant("parcel"))[1:]]))
    with gateway.client(key) as client:
        stream = texts(client, [QUESTION])
        assert next(stream) == "The "
        with HistoryClient(gateway.pair.history) as history:
            Branch.open(history, external_key=key).add(Instruction.create("Never mind."))
        held.let_go()
        with pytest.raises(openai.APIError) as refused:
            list(stream)
        assert refused.value.code == "REVISION_CONFLICT"
        assert gateway.kept(key) == [QUESTION, user("Never mind.")]


def test_of_two_answers_to_one_turn_one_is_kept_and_both_clients_get_it(
    gateway: Gateway, provider: Provider, key: str
) -> None:
    first = Held(BEGINNING, chunks_of(assistant("first."))[1:])
    provider.will(first, says("The second."))
    with gateway.client(key, retries=2) as client:
        stream = texts(client, [QUESTION])
        next(stream)
        assert ask(client, [QUESTION], stream=False) == assistant("The second.")
        first.let_go()
        with pytest.raises(openai.APIError) as refused:
            list(stream)
        assert refused.value.code == "REVISION_CONFLICT"
        assert ask(client, [QUESTION], stream=True) == assistant("The second.")
    assert gateway.kept(key) == [QUESTION, assistant("The second.")]


def test_a_late_whole_answer_is_a_conflict_that_the_official_client_gets_over(
    gateway: Gateway, provider: Provider, key: str
) -> None:
    provider.will(late := Late(says("The late one.")), says("The early one."))
    found: list[Message] = []
    with gateway.client(key, retries=1) as client:
        waiting = threading.Thread(target=lambda: found.append(ask(client, [QUESTION], stream=False)))
        waiting.start()
        assert late.began.wait(SECONDS)
        early = ask(client, [QUESTION], stream=False)
        late.let_go()
        waiting.join(SECONDS)
    assert found == [early] == [assistant("The early one.")]
    assert len(provider.asked) == 2


@pytest.mark.anyio
async def test_of_two_turns_decided_at_one_revision_one_is_refused(pair: Pair, key: str) -> None:
    async with AsyncHistoryClient(pair.history) as history:
        first, late = [await Conversation.open(history, key) for _ in range(2)]
        await first.take([user("zero")], only_new=True)
        with pytest.raises(BranchExistsError):
            await late.take([user("late")], only_new=True)
        one, other, same = [await Conversation.open(history, key) for _ in range(3)]
        taken = await one.take([user("one")], only_new=True)
        with pytest.raises(RevisionConflictError):
            await other.take([user("other")], only_new=True)
        again = await same.take([user("one")], only_new=True)
        assert taken is not None
        assert again is not None
        assert again.revision == taken.revision == 3
        answer = [AssistantResponse.create("yes")]
        kept = await taken.keep(answer)
        repeated = await again.keep([AssistantResponse.create("yes", created_at=answer[0].created_at)])
        assert repeated.revision == kept.revision == 4
        with pytest.raises(RevisionConflictError):
            await again.keep([AssistantResponse.create("no")])


def diverging(client: openai.OpenAI, messages: list[Message]) -> openai.ConflictError:
    with pytest.raises(openai.ConflictError) as refused:
        ask(client, messages, stream=False)
    assert refused.value.code == "HISTORY_DIVERGED"
    return refused.value


def test_a_history_that_differs_is_refused_and_changes_nothing(
    gateway: Gateway, provider: Provider, key: str
) -> None:
    provider.will(says(call("call_a", "Oslo")), says("Rain."))
    said = [{"role": "system", "content": "Be brief."}, user("Weather?")]
    # It would be refused again, so the client does not try: there are two requests below for each.
    with gateway.client(key, retries=3) as client:
        said.append(ask(client, said, stream=False))
        said.append({"role": "tool", "tool_call_id": "call_a", "content": "rain"})
        said.append(ask(client, said, stream=False))
        for index, changed in (
            (0, {"role": "system", "content": "Be long."}),
            (1, user("Weather")),
            (1, {**user("Weather?"), "name": "Eve"}),
            (2, call("call_b", "Oslo")),
            (2, call("call_a", "Bergen")),
            (2, {**call("call_a", "Oslo"), "content": "Hm."}),
            (3, {"role": "tool", "tool_call_id": "call_a", "content": "sun"}),
            (4, assistant("Rain")),
            (4, user("Rain.")),
        ):
            other = [*said[:index], changed, *said[index + 1 :], user("Sure?")]
            error = diverging(client, other)
            assert error.param == f"messages[{index}]"
            assert error.response.headers["x-should-retry"] == "false"
        assert "has 5 messages" in diverging(client, said[:2]).message
        diverging(client, said[1:4])
    assert gateway.kept(key) == said
    assert len(provider.asked) == 2


def invalid_requests() -> Iterator[tuple[Any, str | None]]:
    question: Message = {"model": "m", "messages": [QUESTION]}
    yield "nonsense", None
    yield [], None
    yield {**question, "model": None}, "model"
    yield {**question, "messages": []}, "messages"
    yield {**question, "messages": [1]}, "messages"
    yield {**question, "messages": [QUESTION, assistant("a")]}, "messages[1].role"
    yield {**question, "messages": [{"role": "user", "content": 5}]}, "messages"
    yield {**question, "messages": [{"role": "tool", "tool_call_id": "x", "content": "a"}]}, "messages"
    yield {**question, "n": 2}, "n"
    yield {**question, "tools": {}}, "tools"
    yield {**question, "tool_choice": "some"}, "tool_choice"
    yield {**question, "parallel_tool_calls": "yes"}, "parallel_tool_calls"
    yield {**question, "functions": [{"name": "f"}]}, "functions"


@pytest.mark.parametrize(("body", "param"), list(invalid_requests()))
def test_an_invalid_request_is_refused_before_anything_is_kept(
    gateway: Gateway, provider: Provider, key: str, body: Any, param: str | None
) -> None:
    provider.will(says("never"))
    text = body if isinstance(body, str) else json.dumps(body)
    answer = httpx.post(
        f"{gateway.url}/v1/chat/completions", content=text, headers={CONVERSATION_HEADER: key}
    )
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["type"] == "invalid_request_error"
    assert error["param"] == param
    assert error["message"]
    assert error["code"]
    assert not gateway.knows(key)
    assert provider.asked == []


@pytest.mark.parametrize(
    "headers", [{CONVERSATION_HEADER: "a b"}, {CONVERSATION_HEADER: "a" * 513}, {"x-antiphon-messages": "x"}]
)
def test_headers_have_their_rules(gateway: Gateway, headers: dict[str, str]) -> None:
    body = {"model": "m", "messages": [QUESTION]}
    answer = httpx.post(f"{gateway.url}/v1/chat/completions", json=body, headers=headers)
    assert answer.status_code == 400
    assert next(iter(headers)) in answer.json()["error"]["message"]


def test_a_request_over_a_limit_is_refused(pair: Pair, provider: Provider, folder: Path, key: str) -> None:
    provider.will(says("never"))
    flags = ("--body-bytes", str(4 * 2**20))
    with (
        running_gateway(pair, provider.url, folder / "limits", *flags) as gateway,
        gateway.client(key) as client,
    ):
        # The gateway's own limit, and the contract's limit on one message.
        for size in (5 * 2**20, 7 * 2**19):
            with pytest.raises(openai.APIStatusError) as refused:
                ask(client, [user("a" * size)], stream=False)
            assert (refused.value.status_code, refused.value.code) == (413, "SIZE_LIMIT_EXCEEDED")
        assert gateway.kept(key) == []
    assert provider.asked == []


def test_a_long_conversation_is_kept_in_several_writes(
    gateway: Gateway, provider: Provider, key: str
) -> None:
    provider.will(says("Fine."), says("Still."))
    said: list[Message] = []
    for number in range(700):
        said += [user(f"{number}"), assistant("x" * 8000)]
    said.append(user("How long?"))
    with gateway.client(key) as client:
        said.append(ask(client, said, stream=False))
        said.append(user("And now?"))
        said.append(ask(client, said, stream=True))
    assert gateway.kept(key) == said
    assert provider.asked[-1].messages == said[:-1]


def test_no_secret_and_no_word_is_logged(pair: Pair, provider: Provider, folder: Path, key: str) -> None:
    provider.will(
        says("A private answer."),
        refuses(401, {"error": {"message": f"bad {KEY}"}}),
        streams(BEGINNING),
        streams(chunks_of(assistant("Another private answer."))),
    )
    log = folder / "secrets"
    with (
        running_gateway(pair, provider.url, log, "--log-level", "debug") as gateway,
        gateway.client(key) as client,
    ):
        said = [user("A private question.")]
        said.append(ask(client, said, stream=False))
        said.append(user("Another private question."))
        for _ in range(2):
            with pytest.raises(openai.APIError):
                list(texts(client, said))
        ask(client, said, stream=True)
        with pytest.raises(openai.ConflictError):
            ask(client, [user("A private lie."), *said], stream=False)
    logged = log.read_text()
    assert key in logged
    assert "HISTORY_DIVERGED" in logged
    for secret in (KEY, "sk-of-the-client", "rivate"):
        assert secret not in logged
    assert "Traceback" not in logged


def test_a_system_record_that_others_wrote_is_part_of_the_history(
    gateway: Gateway, provider: Provider, key: str
) -> None:
    provider.will(says("a"))
    with HistoryClient(gateway.pair.history) as history:
        Branch.create(history, external_key=key, system=System.create("Be brief."))
    with gateway.client(key) as client:
        assert diverging(client, [QUESTION]).param == "messages[0]"
        ask(client, [{"role": "system", "content": "Be brief."}, QUESTION], stream=False)
    assert len(gateway.kept(key)) == 3


def test_events_after_the_end_are_passed_on_too(gateway: Gateway, provider: Provider, key: str) -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    ending = sse(chunk({}, "stop"), {**chunk({}), "choices": [], "usage": usage})
    provider.will(streams([*BEGINNING, *ending, DONE]))
    given: Any = [QUESTION]
    with gateway.client(key) as client:
        stream = client.chat.completions.create(
            model="m", messages=given, stream=True, stream_options={"include_usage": True}
        )
        last = list(stream)[-1]
    assert last.usage is not None
    assert last.usage.total_tokens == 5

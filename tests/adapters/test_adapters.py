"""What the adapters share, without any framework."""

from __future__ import annotations

import asyncio
import gc
import importlib
import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client import AsyncHistoryClient, Branch, HistoryClient
from antiphon_client.adapters.session_branch import SessionBranch
from antiphon_client.adapters.session_branches import BYTES_HELD, SESSIONS_HELD, SessionBranches, branches_of
from antiphon_client.adapters.unit_reading import Read, read_units
from antiphon_client.adapters.units import UnitWriter
from antiphon_client.errors import BranchExistsError
from antiphon_client.rpc import StreamCall, perform

FRAMEWORKS = {
    "openai_agents": ("agents", "openai-agents"),
    "langchain": ("langchain_core", "langchain"),
    "pydantic_ai": ("pydantic_ai", "pydantic-ai"),
    "google_adk": ("google.adk", "google-adk"),
}


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_without_the_framework_the_error_names_the_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    package, extra = FRAMEWORKS[name]
    for module in list(sys.modules):
        if module.startswith(("antiphon_client.adapters", f"{package}.")):
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=f"pip install 'antiphon\\[{extra}\\]'"):
        importlib.import_module(f"antiphon_client.adapters.{name}")


def text_unit(text: str) -> list[pb.Message]:
    writer = UnitWriter()
    writer.instruction(text, "text")
    return writer.finish("test", {"text": text, "n": 1})


def call_unit() -> list[pb.Message]:
    writer = UnitWriter()
    writer.response("", "said")
    writer.request("f", "c", {"a": 1}, "calls", 0)
    writer.request("g", "d", '{"b":  2}', "calls", 1)
    return writer.finish("test", {"said": "", "calls": [{"a": 1}, '{"b":  2}']})


def none(record: pb.Message, kind: str | None, entry: str | None) -> None:
    """No record means anything by itself."""


def read(records: list[pb.Message]) -> list[object]:
    return read_units(records, "test", none).values()


def test_units_are_read_back() -> None:
    records = [*text_unit("a"), *call_unit(), *text_unit("b")]
    whole = {"said": "", "calls": [{"a": 1}, '{"b":  2}']}
    assert read(records) == [{"text": "a", "n": 1}, whole, {"text": "b", "n": 1}]
    assert records[1].metadata_json == (
        '{"test":{"item":{"said":null,"calls":[null,null]},'
        '"at":[[0,"said"],[[1,"value"],"calls",0],[2,"calls",1]]}}'
    )


@pytest.mark.parametrize("missing", [1, 2, 3])
def test_a_unit_without_one_of_its_records_is_left_out(missing: int) -> None:
    records = [*text_unit("a"), *call_unit(), *text_unit("b")]
    del records[missing]
    assert read(records) == [{"text": "a", "n": 1}, {"text": "b", "n": 1}]


def test_a_unit_whose_records_changed_places_is_left_out() -> None:
    head, first, second = call_unit()
    assert read([head, second, first]) == read([first, second, head]) == []


VALUES = [
    {"held": 'quotes " and \\ and \x00 and \u2028 and \U0001f600'},
    {"held": '"held":null'},
    {"held": ',"at":[[0,"held"]]}}'},
    {"held": "a", "other": {"held": None}},
    {"other": {"held": None}, "held": "a"},
    {"held": "a", "more": [None, "null", '{"test":{"item":', ',"at":[[']},
    {"more": {"at": [[0, "held"]], "held": 1}, "held": "a"},
    {"held": "", "number": 10**3999, "float": 1e-300, "zero": -0.0},
]


@pytest.mark.parametrize("item", VALUES)
@pytest.mark.parametrize("as_value", [False, True])
def test_a_thing_of_one_value_is_read_back(item: dict[str, Any], as_value: bool) -> None:
    writer = UnitWriter()
    if as_value:
        item = {**item, "held": {"deep": [item["held"], None, 2**80]}}
        writer.generic(item["held"], "held")
    else:
        writer.response(item["held"], "held")
    records = writer.finish("test", item)
    found = read_units([*text_unit("before"), *records, *text_unit("after")], "test", none)
    assert found.values()[1] == item
    assert json.loads(found.text()) == found.values()
    assert str(found.values()[1]) == str(item)


def test_a_text_that_was_edited_is_the_new_one() -> None:
    records = text_unit("old")
    records[0].instruction.instruction = 'new "text"'
    assert read(records) == [{"text": 'new "text"', "n": 1}]


def test_json_text_of_a_value_is_kept_as_it_is() -> None:
    writer = UnitWriter()
    record = writer.request("f", "c", {"a": 1}, "args")
    records = writer.finish("test", {"args": {"a": 1}})
    record.action_request.arguments_json = '{ "b" :1.50,"a":100000000000000000000}'
    assert read_units(records, "test", none).text() == '[{"args":{ "b" :1.50,"a":100000000000000000000}}]'


def test_a_value_of_a_later_record_needs_every_record() -> None:
    writer = UnitWriter()
    writer.response("")
    writer.request("f", "c", {}, "none")
    writer.request("g", "d", {"b": 2}, "args")
    records = writer.finish("test", {"none": {}, "args": {"b": 2}})
    records[0].metadata_json = '{"test":{"item":{"args":null},"at":[[[2,"value"],"args"]]}}'
    assert read(records) == [{"args": {"b": 2}}]
    head, first, second = records
    for broken in ([head, second], [head, first], [head, second, first], [head, first, *text_unit("a")]):
        assert {"args": {"b": 2}} not in read(broken)


@pytest.mark.parametrize(
    "entry",
    [
        '{"test": {"item": {"text": null}, "at": [[0, "text"]]}}',
        '{"test":{"at":[[0,"text"]],"item":{"text":null}}}',
        '{"mine":1,"test":{"item":{"text":null},"at":[[0,"text"]]}}',
        '{"test":{"item":{"text":null},"at":[[0,"text"]],"files":true}}',
        '{"test":{"item":{"text":7},"at":[[0,"text"]]}}',
    ],
)
def test_an_entry_in_another_spelling_is_read(entry: str) -> None:
    record = text_unit("a")[0]
    record.metadata_json = entry
    found = read_units([record], "test", none)
    assert found.values() == [{"text": "a"}]
    assert found.text() == '[{"text":"a"}]'


def test_the_entries_of_one_framework_are_nothing_to_another() -> None:
    assert read_units(text_unit("a"), "other", lambda *given: given[1]) == Read(["instruction"], [])


def test_a_branch_is_found_by_its_key_whatever_its_id(blocking: HistoryClient) -> None:
    made = Branch.create(blocking, external_key="test:elsewhere")
    made.add_message(instruction="a")
    branch = SessionBranch("test:elsewhere")
    run = blocking._transport.run
    assert [record.instruction.instruction for record in run(branch.read())] == ["a"]
    run(branch.append([text_unit("b")]))
    assert len(list(made.messages())) == 2


def test_the_key_of_a_deleted_branch_is_free_again(blocking: HistoryClient) -> None:
    run = blocking._transport.run
    for text in ("a", "b", "c"):
        branch = SessionBranch("test:again")
        run(branch.append([text_unit(text)]))
        assert read(run(branch.read())) == [{"text": text, "n": 1}]
        run(branch.delete())
        assert run(branch.read()) == []
        run(branch.delete())


def test_a_branch_is_made_once(blocking: HistoryClient) -> None:
    run = blocking._transport.run
    assert run(SessionBranch("test:once").make({"a": 1}))
    assert not run(SessionBranch("test:once").make())
    with pytest.raises(BranchExistsError):
        blocking.create_branch(external_key="test:once")


def test_a_branch_that_two_found_missing_at_once(blocking: HistoryClient) -> None:
    """Both see no branch; the second, whose creation is refused, writes to the first one's."""
    one, two = SessionBranch("test:race"), SessionBranch("test:race")
    run = blocking._transport.run
    assert not run(one.append_if_there([text_unit("a")]))
    assert not run(two.append_if_there([text_unit("b")]))
    run(one.append([text_unit("a")]))
    run(two.append([text_unit("b")]))
    assert read(run(one.read())) == read(run(two.read())) == [{"text": "a", "n": 1}, {"text": "b", "n": 1}]


def test_every_change_by_others_is_read(blocking: HistoryClient) -> None:
    """A reader that holds records sees what a reader that holds none sees, after any kind of write."""
    run = blocking._transport.run
    held = SessionBranch("test:changes")
    run(held.append([text_unit(text) for text in "abcdef"]))
    branch = Branch.open(blocking, external_key="test:changes")
    ids = [record.id for record in run(held.read())]

    def edit() -> None:
        message = branch.page().items[0]
        message.update(instruction=f"edited at {branch.record().revision}")  # type: ignore[call-arg]
        branch.add(message)

    def edit_before_an_own_write() -> None:
        edit()
        run(held.append([text_unit("own after an edit")]))

    again = text_unit("again")
    writes: list[Callable[[], object]] = [
        lambda: run(held.append([again])),
        lambda: run(held.append([again])),
        edit_before_an_own_write,
        lambda: branch.add_message(instruction="added"),
        lambda: branch.remove(ids[2]),
        lambda: branch.move(ids[4], 0),
        edit,
        lambda: branch.set_system("Be brief."),
        lambda: run(held.append([text_unit("own")])),
        lambda: branch.select_view([ids[5], ids[0]]),
        lambda: run(held.append([text_unit("own in a view")])),
        branch.clear_view,
        lambda: run(held.pop(lambda record: True)),
        lambda: run(held.append([text_unit("own after all")])),
        branch.clear,
        lambda: run(held.append([call_unit()])),
    ]
    for write in writes:
        write()
        fresh = run(SessionBranch("test:changes").read())
        seen = run(held.read())
        assert [record.id for record in seen] == [record.id for record in fresh]
        assert [record.metadata_json for record in seen] == [record.metadata_json for record in fresh]
        texts = [(record.instruction.instruction, record.system.system_message) for record in fresh]
        assert [(record.instruction.instruction, record.system.system_message) for record in seen] == texts
        assert held.values(seen, "test", none) == read(fresh)
        assert json.loads(held.text(seen, "test", none)) == read(fresh)


def test_a_first_reading_is_whole_whatever_its_length(blocking: HistoryClient) -> None:
    """A page ends at 1,000 records and at 3 MiB; what is longer comes in another way."""
    run = blocking._transport.run
    for key, texts in {
        "test:many": [str(number) for number in range(1001)],
        "test:page": [str(number) for number in range(1000)],
        "test:large": ["x" * 2**20 * 2, "y" * 2**20 * 2, "z"],
    }.items():
        run(SessionBranch(key).append([text_unit(text) for text in texts]))
        found = run(SessionBranch(key).read())
        assert [record.instruction.instruction for record in found] == texts


def test_a_first_reading_is_one_call(blocking: HistoryClient) -> None:
    """A write that comes while its answer is on the way changes nothing of it."""
    run = blocking._transport.run
    branch = SessionBranch("test:first")
    run(branch.append([text_unit("a"), text_unit("b")]))
    steps = SessionBranch("test:first").whole()
    page = run(perform(next(steps)))
    run(branch.append([text_unit("c")]))
    with pytest.raises(StopIteration) as end:
        steps.send(page)
    record, records = end.value.value
    assert (record.revision, record.message_count) == (2, 2)
    assert read(records) == [{"text": text, "n": 1} for text in ("a", "b")]


def test_a_first_reading_of_a_view_is_a_stream(blocking: HistoryClient) -> None:
    run = blocking._transport.run
    run(SessionBranch("test:view").append([text_unit("a"), text_unit("b")]))
    seen = Branch.open(blocking, external_key="test:view")
    seen.select_view([seen.page().items[1].id])
    steps = SessionBranch("test:view").whole()
    stream = steps.send(run(perform(next(steps))))
    assert isinstance(stream, StreamCall)
    with pytest.raises(StopIteration) as end:
        steps.send(run(perform(stream)))
    record, records = end.value.value
    assert (record.revision, record.view_count) == (3, 1)
    assert read(records) == [{"text": "b", "n": 1}]


@pytest.mark.anyio
async def test_a_session_that_is_not_there_leaves_no_error_behind(history: AsyncHistoryClient) -> None:
    unhandled: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unhandled.append(context))
    assert await history._transport.run(SessionBranch("test:nothing").read()) == []
    gc.collect()
    await asyncio.sleep(0)
    assert unhandled == []


def test_an_answer_finds_the_nearest_open_call(blocking: HistoryClient) -> None:
    run = blocking._transport.run
    branch = SessionBranch("test:calls")

    def answer(text: str) -> list[pb.Message]:
        writer = UnitWriter()
        writer.answer("", "c", text, "out")
        return writer.finish("test", {"out": text})

    def call() -> list[pb.Message]:
        writer = UnitWriter()
        writer.request("f", "c", {}, "args")
        return writer.finish("test", {"args": {}})

    first, second = call(), call()
    run(branch.append([first]))
    run(branch.append([second]))
    for text in ("to the second", "to the first", "to none"):
        run(branch.append([answer(text)]))
    found = [record.action_response.action_request_id for record in run(branch.read())[2:]]
    assert found == [second[0].id, first[0].id, ""]


def test_clients_hold_what_was_used_last(blocking: HistoryClient) -> None:
    assert branches_of(blocking) is branches_of(blocking)
    assert branches_of(blocking) is not branches_of(blocking.with_options())
    branches = SessionBranches()
    made = [branches.branch(f"test:{number}") for number in range(SESSIONS_HELD + 1)]
    assert branches.branch("test:1") is made[1]
    assert branches.branch("test:0") is not made[0]


def test_what_is_held_has_a_bound(blocking: HistoryClient) -> None:
    run = blocking._transport.run
    branches = SessionBranches()
    large = ["x" * 2**20 * 2] * 6
    made = [branches.branch(f"test:large{number}") for number in range(3)]
    for branch in made:
        run(branch.append([text_unit(text) for text in large]))
        run(branch.read())
    assert sum(branch.held_bytes for branch in made) > BYTES_HELD
    assert branches.branch("test:large2") is made[2]
    assert branches.branch("test:large0") is not made[0]


@pytest.mark.anyio
async def test_a_closed_client_is_forgotten(history: AsyncHistoryClient) -> None:
    import weakref

    client = history.with_options()
    seen = weakref.ref(branches_of(client))
    del client
    gc.collect()
    assert seen() is None

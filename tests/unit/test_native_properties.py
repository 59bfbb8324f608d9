"""What holds for every NATIVE compilation, of broken histories above all.

ANTIPHON_TEST_EXAMPLES sets how many histories each property is tried on.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from antiphon.compiler.v1.compiler_service_pb2 import CompileRequest, CompileResponse
from antiphon.message.v1 import message_pb2
from antiphon.message.v1.content_block_pb2 import ContentBlock
from antiphon.message.v1.message_pb2 import Message
from antiphon_client.errors import AntiphonError, FieldInvalidError, OpenCallsError
from compiler_service.compilation import CompileSource, compile_turn
from compiler_service.native.turns import CallPart, NativeTurn, Part, ResultPart
from tests.support.compiler import compile_inline, notes_of
from tests.support.native import compile_native, native_request
from tests.support.native_reimport import records_of, without_records
from tests.support.native_strategies import broken_histories, number_of

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = int(os.environ.get("ANTIPHON_TEST_EXAMPLES", "150"))
MANY = settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
INSTRUCTIONS = st.sampled_from(["go", None])

DROPPING = {
    "EXCLUDED_DROPPED",
    "INTERIM_DROPPED",
    "GENERIC_DROPPED",
    "EMPTY_DROPPED",
    "DUPLICATE_RESULT_DROPPED",
    "SUMMARY_DROPPED",
}
LOSING = {
    "ASSISTANTS_MERGED",
    "CACHE_MARK_DROPPED",
    "EMPTY_PART_DROPPED",
    "GUIDANCE_NOT_RENDERED",
    "ORPHAN_RESULT_NOTED",
    "PART_DROPPED",
    "THINKING_DROPPED",
}
CHANGING = {
    "ASSISTANTS_MERGED",
    "DUPLICATE_RESULT_DROPPED",
    "HELD_BACK",
    "INTERIM_DROPPED",
    "ORPHAN_RESULT_NOTED",
    "PART_DROPPED",
    "RESULT_REORDERED",
    "RESULT_SYNTHESIZED",
    "SUMMARY_DROPPED",
    "SUMMARY_MOVED",
    "THINKING_DROPPED",
}
"""What may change turns that were compiled before."""


@st.composite
def requests(draw: st.DrawFn) -> CompileRequest:
    """Draw a request with or without an instruction, perhaps with a selection of its own."""
    history = draw(broken_histories())
    request = native_request(history, draw(INSTRUCTIONS), system=draw(st.sampled_from([None, "s"])))
    if draw(st.integers(0, 3)) == 0:
        ids = draw(st.permutations([message.id for message in history]))
        request.progression.message_ids.extend(ids[: draw(st.integers(0, len(ids)))])
        request.progression.SetInParent()
    return request


def compiled(request: CompileRequest) -> CompileResponse | None:
    """Compile; None where the request is refused for one of the reasons that a broken history has."""
    try:
        return compile_inline(request)
    except (OpenCallsError, FieldInvalidError):
        assert not request.HasField("instruction")
        return None


def native_turns(request: CompileRequest) -> Sequence[NativeTurn]:
    snapshot = request.snapshot
    outcome = compile_turn(request, CompileSource(None, snapshot.messages))
    return [turn for turn in outcome.turns if isinstance(turn, NativeTurn)]


@MANY
@given(requests())
def test_the_input_is_unchanged_and_the_outcome_is_the_same_again(request: CompileRequest) -> None:
    before = request.SerializeToString(deterministic=True)
    first = compiled(request)
    assert request.SerializeToString(deterministic=True) == before
    assert compiled(CompileRequest.FromString(before)) == first


@MANY
@given(broken_histories())
def test_every_result_follows_its_call_and_every_call_has_one(history: list[Message]) -> None:
    owed: list[str] = []
    last_role = None
    for turn in native_turns(native_request(history, "go")):
        assert turn.parts
        if turn.role == message_pb2.ROLE_TOOL:
            (part,) = turn.parts
            assert isinstance(part, ResultPart)
            assert part.content
            assert owed.pop(0) == part.call_id
        else:
            assert not owed
            owed = [part.id for part in turn.parts if isinstance(part, CallPart)]
            assert len(set(owed)) == len(owed)
            assert not owed or turn.role == message_pb2.ROLE_ASSISTANT
            assert (turn.role, last_role) != (message_pb2.ROLE_ASSISTANT, message_pb2.ROLE_ASSISTANT)
        last_role = turn.role
    assert last_role == message_pb2.ROLE_USER


@MANY
@given(requests())
def test_nothing_disappears_without_a_note(request: CompileRequest) -> None:
    response = compiled(request)
    if response is None:
        return
    selected = [message.id for message in request.snapshot.messages]
    if request.HasField("progression"):
        selected = list(request.progression.message_ids)
    turns = native_turns(request)
    placed = Counter(message_id for turn in turns for message_id in turn.message_ids)
    notes = notes_of(response)
    dropped = Counter(i for kind, ids in notes if kind in DROPPING for i in ids)
    for message_id in selected:
        # Once, in one place or the other.
        assert placed[message_id] + dropped[message_id] == 1, number_of(message_id)
    assert set(placed) <= set(selected)


@MANY
@given(broken_histories())
def test_no_part_disappears_without_a_note(history: list[Message]) -> None:
    request = native_request(history, "go")
    notes = notes_of(compile_inline(request))
    explained = {i for kind, ids in notes if kind in DROPPING | LOSING for i in ids}
    parts = Counter(part.message_id for turn in native_turns(request) for part in _all_parts(turn))
    for message in history:
        if message.id not in explained:
            assert parts[message.id] >= sum(map(_speaks, _blocks_of(message))), number_of(message.id)


def _all_parts(turn: NativeTurn) -> Iterator[Part]:
    for part in turn.parts:
        if isinstance(part, ResultPart):
            yield from part.content
        else:
            yield part


def _blocks_of(message: Message) -> Sequence[ContentBlock]:
    kind = message.WhichOneof("content")
    if kind in ("instruction", "assistant_response", "action_response"):
        blocks: Sequence[ContentBlock] = getattr(message, kind).blocks
        return blocks
    return ()


def _speaks(block: ContentBlock) -> bool:
    return block.WhichOneof("block") != "tool_call"


@MANY
@given(broken_histories())
def test_a_compilation_of_what_was_compiled_is_the_same(history: list[Message]) -> None:
    first = compile_native(history, "go")
    again = compile_native(records_of(first.messages[:-1]), "go")
    assert without_records(again.messages) == without_records(first.messages)
    assert notes_of(again) == []


@MANY
@given(broken_histories())
def test_appending_a_message_keeps_what_was_compiled_unless_a_note_says_so(history: list[Message]) -> None:
    earlier, earlier_notes = _history_of([])
    for size in range(1, len(history) + 1):
        later, later_notes = _history_of(history[:size])
        if later[: len(earlier)] != earlier:
            news = (earlier_notes | later_notes) - (earlier_notes & later_notes)
            assert any(kind in CHANGING for kind, *_ in news), size
        earlier, earlier_notes = later, later_notes


def _history_of(history: list[Message]) -> tuple[list[bytes], set[tuple[str, ...]]]:
    response = compile_native(history, "go")
    messages = [each.SerializeToString(deterministic=True) for each in response.messages[:-1]]
    return messages, {(kind, *ids) for kind, ids in notes_of(response)}


# Reads requests, each after its length, and prints one hash over all the replies.
PROGRAM = """
import hashlib, struct, sys
from antiphon.compiler.v1.compiler_service_pb2 import CompileRequest
from antiphon_client.errors import AntiphonError
from tests.support.compiler import compile_inline
total = hashlib.sha256()
data = open(sys.argv[1], "rb").read()
at = 0
while at < len(data):
    (size,) = struct.unpack_from(">I", data, at)
    request = CompileRequest.FromString(data[at + 4 : at + 4 + size])
    at += 4 + size
    try:
        response = compile_inline(request)
        total.update(response.messages_digest.encode() + response.SerializeToString())
    except AntiphonError as error:
        total.update(error.message.encode())
print(total.hexdigest(), hash("probe"))
"""


def test_four_processes_with_different_hash_seeds_agree(tmp_path: Path) -> None:
    drawn: list[bytes] = []

    @MANY
    @given(requests())
    def draw(request: CompileRequest) -> None:
        drawn.append(request.SerializeToString())

    draw()
    replies = hashlib.sha256()
    for encoded in drawn:
        try:
            response = compile_inline(CompileRequest.FromString(encoded))
            replies.update(response.messages_digest.encode() + response.SerializeToString())
        except AntiphonError as error:
            replies.update(error.message.encode())
    path = tmp_path / "requests"
    path.write_bytes(b"".join(len(each).to_bytes(4, "big") + each for each in drawn))
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(path)],
            env={
                **os.environ,
                "PYTHONHASHSEED": seed,
                "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "clients" / "python")]),
            },
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("0", "1", "4242", "4294967295")
    ]
    outputs = [process.communicate(timeout=600)[0].split() for process in running]
    assert all(process.returncode == 0 for process in running)
    assert {digest for digest, _ in outputs} == {replies.hexdigest()}
    # The seeds did differ.
    assert len({probe for _, probe in outputs}) == 4

"""What the services themselves put on the wire, for recording: times and ids are fixed."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from antiphon.compiler.v1 import compiler_service_pb2 as compiler_pb
from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon.message.v1 import content_block_pb2 as block_pb
from antiphon_client.limits import Limits
from antiphon_client.provider_streams.targets import PROVIDERS
from tests.support.branch_files import export_file
from tests.support.compiler import compile_inline, stream_inline
from tests.support.descriptors import ROLES, messages
from tests.support.history import (
    action_result,
    assistant,
    call_action,
    instruction,
    running,
    system,
    uuid_of,
)
from tests.support.wire_files import Recorded, recorded

SMALL_FRAMES = Limits(frame_bytes=2048)
"""Limits that cut one snapshot, or one text, into several frames."""

FIRST = {kind: 0x1000 * (index + 1) for index, kind in enumerate(ROLES)}
LINKED = {"action_request": "action_response", "action_response": "action_request"}


class Served(NamedTuple):
    """What the history service serves of one branch."""

    stored: list[Recorded]
    snapshot: list[Recorded]
    file: bytes


async def served(folder: Path) -> Served:
    """Store messages that set every field there is; return what the service serves of them.

    Args:
        folder: An empty folder, for a store that wants one.
    """
    given = [
        message
        for kind in ROLES
        for message in messages(kind, FIRST[kind], FIRST[LINKED.get(kind, kind)])
        # A branch has one system record.
        if kind != "system" or message.id == uuid_of(FIRST["system"])
    ]
    async with running("memory", folder, SMALL_FRAMES) as history:
        branch = await history.create(external_key="wire", metadata_json='{ "n":1.0 }')
        await history.add(branch, *given, allow_unresolved=True)
        view = [given[0].id, *(message.id for message in reversed(given[1:]))]
        await history.call(history_pb.SelectViewRequest(branch_id=branch, message_ids=view))
        snapshot = await history.snapshot(branch)
        file = await export_file(history, branch)
    stored = [
        Recorded("antiphon.message.v1.Message", f"{message.WhichOneof('content')} {message.id[-4:]}", body)
        for message, body in zip(snapshot.messages, snapshot.bodies, strict=True)
    ]
    frames = [
        Recorded("antiphon.history.v1.ReadSnapshotResponse", f"frame {index}", frame)
        for index, frame in enumerate(snapshot.frames)
    ]
    return Served(stored, frames, file)


def conversation(
    profile: compiler_pb.Profile.ValueType = compiler_pb.PROFILE_NATIVE, target: str | None = None
) -> compiler_pb.CompileRequest:
    """Return a request to compile a conversation with reasoning, a call, its result and a picture."""
    thought = block_pb.ContentBlock(
        thinking=block_pb.Thinking(
            thinking="It is cold.", signature="c2ln", provider="anthropic", model="a model"
        )
    )
    said = block_pb.ContentBlock(text=block_pb.Text(text="I look. \u2028"))
    marker = block_pb.ContentBlock(
        tool_call=block_pb.ToolCall(id="call_3", name="look_up", arguments_json='{"n": 1.0}')
    )
    opening = instruction(1, "When do I plant tulips? é\u0000")
    opening.instruction.images.append("https://example.org/tulip.png")
    opening.instruction.image_detail = block_pb.IMAGE_DETAIL_LOW
    answer = assistant(2, "I look. \u2028")
    answer.assistant_response.blocks.extend([thought, said, marker])
    result = action_result(4, 3, output='{"at":[1e2,9007199254740993]}')
    result.action_response.provider_call_id = "call_3"
    request = compiler_pb.CompileRequest(
        profile=profile,
        target=target,
        snapshot=compiler_pb.Snapshot(
            system=system(9, "You are a gardener."), messages=[opening, answer, call_action(3), result]
        ),
        instruction=instruction(5, "And how deep?" + " long" * 600),
        token_counter="estimate",
    )
    if target is not None:
        request.target_options.model = "a model"
    return request


def compiled() -> list[Recorded]:
    """Compile the conversation in every profile and for every target; return the answers."""
    requests = {
        "native": conversation(),
        "folded": conversation(compiler_pb.PROFILE_FOLDED),
        **{f"native for {target}": conversation(target=target) for target in sorted(PROVIDERS)},
    }
    return [recorded(name, compile_inline(request)) for name, request in requests.items()]


def compile_stream() -> list[Recorded]:
    """Compile the conversation into frames; return them."""
    frames = stream_inline(conversation(target=min(PROVIDERS)), SMALL_FRAMES)
    return [recorded(f"frame {index}", frame) for index, frame in enumerate(frames)]

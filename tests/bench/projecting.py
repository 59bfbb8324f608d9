"""Our side of the projections, measured as the peers are: in a process of its own, in turns with theirs."""

from __future__ import annotations

from typing import Any

from antiphon.compiler.v1 import compiler_service_pb2 as pb
from antiphon.message.v1.message_pb2 import InstructionContent, Message
from compiler_service.compilation import Compilation, CompileSource, compile_turn
from compiler_service.native.turns import Conversation, NativeTurn
from compiler_service.projection import ProviderRequest, project
from tests.bench.conversation import to_messages
from tests.bench.peers.measuring import Request, Works, serve


def prepare(job: dict[str, Any]) -> Works:
    """Returns the works of a job: from the bytes that a store keeps, from records, from neutral turns.

    All three make the text of the request's body.
    """
    messages = to_messages(job["records"])
    stored = [message.SerializeToString(deterministic=True) for message in messages]
    asked = Message(instruction=InstructionContent(instruction=job["question"]))
    request = pb.CompileRequest(profile=pb.PROFILE_NATIVE, target=job["target"], instruction=asked)

    def compiled(records: list[Message]) -> Compilation:
        return compile_turn(request, CompileSource(system=None, messages=records))

    def body_of(made: ProviderRequest | None) -> Request:
        assert made is not None
        return made.request_json

    turns = [turn for turn in compiled(messages).turns if isinstance(turn, NativeTurn)]
    conversation = Conversation(None, tuple(turns))
    return {
        "stored": lambda: body_of(compiled(list(map(Message.FromString, stored))).provider_request),
        "records": lambda: body_of(compiled(messages).provider_request),
        "ready": lambda: body_of(project(conversation, request)),
    }


if __name__ == "__main__":
    serve(prepare)

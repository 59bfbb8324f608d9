"""What the edge leaves to the compiler: stored messages of a newer kind in an inline snapshot."""

from __future__ import annotations

from pathlib import Path

import grpc
import grpc.aio
import pytest

from antiphon.compiler.v1 import compiler_service_pb2 as pb
from antiphon.compiler.v1 import compiler_service_pb2_grpc
from antiphon.message.v1.message_pb2 import InstructionContent, Message
from antiphon_client import errors
from antiphon_client.ids import new_id
from compiler_service.server import SERVICE, build_server
from compiler_service.settings import CompilerSettings
from tests.support.edge import bytes_method, reasoned

pytestmark = pytest.mark.anyio


async def test_a_message_of_a_newer_kind_is_the_compilers_to_refuse(tmp_path: Path) -> None:
    newer = Message.FromString(Message(id=new_id()).SerializeToString() + b"\xca\x06\x02\x0a\x00")
    request = pb.CompileRequest(
        snapshot=pb.Snapshot(messages=[newer]),
        instruction=Message(instruction=InstructionContent(instruction="go on")),
    )
    stream_request = pb.StreamCompileRequest(request=request)
    server = build_server(CompilerSettings(listen=f"unix:{tmp_path}/c.sock"), None)
    async with grpc.aio.insecure_channel(await server.start()) as channel:
        with pytest.raises(grpc.RpcError) as caught:
            await bytes_method(channel, f"/{SERVICE.full_name}/Compile")(request.SerializeToString())
        error = reasoned(caught.value)
        assert isinstance(error, errors.UnsupportedContentError)
        assert error.metadata["message_ids"] == newer.id
        stream = compiler_service_pb2_grpc.CompilerServiceStub(channel).StreamCompile(stream_request)
        with pytest.raises(grpc.RpcError) as caught:
            await stream.read()
        assert reasoned(caught.value).reason == "UNSUPPORTED_CONTENT"
    await server.stop()

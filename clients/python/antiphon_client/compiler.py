"""Clients of the compiler service, blocking and asyncio.

Every method is the operation of the same name in
:class:`~antiphon_client.compiler_operations.CompilerOperations`, where its
arguments and errors are documented.
"""

from __future__ import annotations

from antiphon.compiler.v1.compiler_service_pb2_grpc import CompilerServiceStub
from antiphon_client.client_base import AsyncClient, SyncClient
from antiphon_client.compiler_operations import CompilerOperations as Operations
from antiphon_client.rpc import AsyncMethod, SyncMethod

_OPERATIONS = Operations()


class CompilerClient(SyncClient):
    """A blocking client of the compiler service."""

    _stub_class = CompilerServiceStub
    _core = _OPERATIONS

    compile = SyncMethod(Operations.compile)
    stream_compile = SyncMethod(Operations.stream_compile)
    compile_chat_request = SyncMethod(Operations.compile_chat_request)


class AsyncCompilerClient(AsyncClient):
    """An asyncio client of the compiler service."""

    _stub_class = CompilerServiceStub
    _core = _OPERATIONS

    compile = AsyncMethod(Operations.compile)
    stream_compile = AsyncMethod(Operations.stream_compile)
    compile_chat_request = AsyncMethod(Operations.compile_chat_request)

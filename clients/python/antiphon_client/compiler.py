"""Clients of the compiler service, blocking and asyncio.

Every method is the operation of the same name in
:class:`~antiphon_client.compiler_operations.CompilerOperations`, where its
arguments and errors are documented.
"""

from __future__ import annotations

from antiphon.compiler.v1.compiler_service_pb2_grpc import CompilerServiceStub
from antiphon_client.client_base import AsyncClient, SyncClient
from antiphon_client.compiler_operations import CompilerOperations as Operations
from antiphon_client.rpc import async_method, sync_method

_OPERATIONS = Operations()


class CompilerClient(SyncClient):
    """A blocking client of the compiler service."""

    _service = "compiler"
    _stub_class = CompilerServiceStub
    _core = _OPERATIONS

    compile = sync_method(Operations.compile)
    stream_compile = sync_method(Operations.stream_compile)
    compile_chat_request = sync_method(Operations.compile_chat_request)


class AsyncCompilerClient(AsyncClient):
    """An asyncio client of the compiler service."""

    _service = "compiler"
    _stub_class = CompilerServiceStub
    _core = _OPERATIONS

    compile = async_method(Operations.compile)
    stream_compile = async_method(Operations.stream_compile)
    compile_chat_request = async_method(Operations.compile_chat_request)

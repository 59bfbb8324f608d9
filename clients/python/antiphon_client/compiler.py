"""Clients of the compiler service, blocking and asyncio.

Every method is the operation of the same name in
:class:`~antiphon_client.compiler_operations.CompilerOperations`, where its
arguments and errors are documented.
"""

from __future__ import annotations

from antiphon.compiler.v1.compiler_service_pb2_grpc import CompilerServiceStub
from antiphon_client.client_base import AsyncClient, SyncClient
from antiphon_client.compiler_operations import CompilerOperations as Operations
from antiphon_client.model_calls import AsyncModelCalls, SyncModelCalls
from antiphon_client.rpc import async_method, sync_method

_OPERATIONS = Operations()


class CompilerClient(SyncModelCalls, SyncClient):
    """A blocking client of the compiler service."""

    _service = "compiler"
    _stub_class = CompilerServiceStub
    _core = _OPERATIONS

    compile = sync_method(Operations.compile)
    stream_compile = sync_method(Operations.stream_compile)
    compile_chat_request = sync_method(Operations.compile_chat_request)
    list_targets = sync_method(Operations.list_targets)
    plan_window = sync_method(Operations.plan_window)
    plan_compaction = sync_method(Operations.plan_compaction)
    parse_response = sync_method(Operations.parse_response)
    assemble_response = sync_method(Operations.assemble_response)


class AsyncCompilerClient(AsyncModelCalls, AsyncClient):
    """An asyncio client of the compiler service."""

    _service = "compiler"
    _stub_class = CompilerServiceStub
    _core = _OPERATIONS

    compile = async_method(Operations.compile)
    stream_compile = async_method(Operations.stream_compile)
    compile_chat_request = async_method(Operations.compile_chat_request)
    list_targets = async_method(Operations.list_targets)
    plan_window = async_method(Operations.plan_window)
    plan_compaction = async_method(Operations.plan_compaction)
    parse_response = async_method(Operations.parse_response)
    assemble_response = async_method(Operations.assemble_response)

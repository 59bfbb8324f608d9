"""The Python SDK of Antiphon: typed messages, branches, turn compilation.

Blocking and asyncio clients have the same methods::

    with HistoryClient("unix:/tmp/history.sock") as history:
        branch = Branch.create(history, external_key="support-42")
        branch.add_message(instruction="Where is my parcel?")

Errors are in :mod:`antiphon_client.errors`, one class for each reason; OpenAI
chat conversations go in and out by :mod:`antiphon_client.openai_chat`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from antiphon_client._lazy import lazy_exports

__version__: str
"""The installed distribution's version."""

if TYPE_CHECKING:
    from antiphon_client.branch import AsyncBranch, Branch
    from antiphon_client.compiler import AsyncCompilerClient, CompilerClient
    from antiphon_client.compiler_operations import InlineSnapshot
    from antiphon_client.errors import AntiphonError
    from antiphon_client.exchange import AsyncExchange, Exchange
    from antiphon_client.exchange_records import ExchangeSettings
    from antiphon_client.history import AsyncHistoryClient, HistoryClient
    from antiphon_client.messages import (
        UNSET,
        ActionRequest,
        ActionResponse,
        AssistantResponse,
        Instruction,
        Message,
        MessageRole,
        MessageStatus,
        System,
    )
    from antiphon_client.transport_errors import TransportError
    from antiphon_client.turn import (
        Compilation,
        CompiledChatRequest,
        CompiledMessage,
        ContextBlock,
        TurnRequest,
    )
    from antiphon_client.watching import Change, WatchToken

__all__ = [
    "UNSET",
    "ActionRequest",
    "ActionResponse",
    "AntiphonError",
    "AssistantResponse",
    "AsyncBranch",
    "AsyncCompilerClient",
    "AsyncExchange",
    "AsyncHistoryClient",
    "Branch",
    "Change",
    "Compilation",
    "CompiledChatRequest",
    "CompiledMessage",
    "CompilerClient",
    "ContextBlock",
    "Exchange",
    "ExchangeSettings",
    "HistoryClient",
    "InlineSnapshot",
    "Instruction",
    "Message",
    "MessageRole",
    "MessageStatus",
    "System",
    "TransportError",
    "TurnRequest",
    "WatchToken",
]

_MODULES = {
    "UNSET": "antiphon_client.messages",
    "ActionRequest": "antiphon_client.messages",
    "ActionResponse": "antiphon_client.messages",
    "AntiphonError": "antiphon_client.errors",
    "AssistantResponse": "antiphon_client.messages",
    "AsyncBranch": "antiphon_client.branch",
    "AsyncCompilerClient": "antiphon_client.compiler",
    "AsyncExchange": "antiphon_client.exchange",
    "AsyncHistoryClient": "antiphon_client.history",
    "Branch": "antiphon_client.branch",
    "Change": "antiphon_client.watching",
    "Compilation": "antiphon_client.turn",
    "CompiledChatRequest": "antiphon_client.turn",
    "CompiledMessage": "antiphon_client.turn",
    "CompilerClient": "antiphon_client.compiler",
    "ContextBlock": "antiphon_client.turn",
    "Exchange": "antiphon_client.exchange",
    "ExchangeSettings": "antiphon_client.exchange_records",
    "HistoryClient": "antiphon_client.history",
    "InlineSnapshot": "antiphon_client.compiler_operations",
    "Instruction": "antiphon_client.messages",
    "Message": "antiphon_client.messages",
    "MessageRole": "antiphon_client.messages",
    "MessageStatus": "antiphon_client.messages",
    "System": "antiphon_client.messages",
    "TransportError": "antiphon_client.transport_errors",
    "TurnRequest": "antiphon_client.turn",
    "WatchToken": "antiphon_client.watching",
}

_load = lazy_exports(__name__, _MODULES)


def __getattr__(name: str) -> Any:
    return _version() if name == "__version__" else _load(name)


def __dir__() -> list[str]:
    return ["__version__", *__all__]


def _version() -> str:
    from importlib import metadata

    try:
        return metadata.version("antiphon")
    except metadata.PackageNotFoundError:
        return "0+unknown"  # run from a checkout that is not installed

"""The Python SDK of Antiphon: typed messages, branches, turn compilation.

Blocking and asyncio clients have the same methods::

    with HistoryClient("unix:/tmp/history.sock") as history:
        branch = Branch.create(history, external_key="support-42")
        branch.add_message(instruction="Where is my parcel?")

Errors are in :mod:`antiphon_client.errors`, one class for each reason; OpenAI
chat conversations go in and out by :mod:`antiphon_client.openai_chat`.
"""

from antiphon_client.branch import AsyncBranch, Branch
from antiphon_client.compiler import AsyncCompilerClient, CompilerClient
from antiphon_client.compiler_operations import InlineSnapshot
from antiphon_client.errors import AntiphonError
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

__all__ = [
    "UNSET",
    "ActionRequest",
    "ActionResponse",
    "AntiphonError",
    "AssistantResponse",
    "AsyncBranch",
    "AsyncCompilerClient",
    "AsyncHistoryClient",
    "Branch",
    "Compilation",
    "CompiledChatRequest",
    "CompiledMessage",
    "CompilerClient",
    "ContextBlock",
    "HistoryClient",
    "InlineSnapshot",
    "Instruction",
    "Message",
    "MessageRole",
    "MessageStatus",
    "System",
    "TransportError",
    "TurnRequest",
]

"""One furnished history service behind its real edge, for tests that ask the same of every RPC."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message as ProtoMessage
from google.protobuf.message_factory import GetMessageClass

from antiphon.compiler.v1 import compiler_service_pb2
from antiphon.history.v1 import exchange_service_pb2 as exchange_pb
from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon_client.errors import AntiphonError
from antiphon_client.limits import DEFAULT_LIMITS, Limits
from antiphon_client.status import error_from_rpc
from history_service.server import build_server
from history_service.settings import HistorySettings
from history_service.storage import open_store
from tests.support.exchange import letter
from tests.support.history import call_action, instruction, store_url, system, uuid_of

METHODS: dict[str, MethodDescriptor] = {
    method.name: method
    for file in (history_pb, exchange_pb, compiler_service_pb2)
    for service in file.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}
"""Every RPC of the contract; no two services have one of the same name."""

BRANCH, OTHER_BRANCH = uuid_of(1), uuid_of(2)
EXCHANGE, OTHER_EXCHANGE = "agents", "others"
OWNERS = (1, 2, 3)
"""Owner 1 writes, owner 2 has mail and leases it once, owner 3 has what it was redriven."""


@dataclass
class Furnished:
    """A running service, furnished.

    A branch has a system record and messages 1 to 5, the third a call that is open; messages 1 and 4
    are its view. Another branch is empty. In an exchange owner 1 has queued message 30, and
    delivered 11 to 13 to owner 2, which has leased 11; message 20 is a dead letter.

    Attributes:
        channel: A channel to it.
        file: The branch as a branch file.
        lease_id: The lease of message 11.
        dead_letter_id: The dead letter.
    """

    channel: grpc.aio.Channel
    file: bytes = b""
    lease_id: str = ""
    dead_letter_id: str = ""

    async def call(self, name: str, request: ProtoMessage | Sequence[ProtoMessage]) -> Any:
        """Call a method by its name; a sequence of requests is a client stream.

        Raises:
            AntiphonError: The service refused.
        """
        method = METHODS[name]
        path = f"/{method.containing_service.full_name}/{name}"
        read = GetMessageClass(method.output_type).FromString
        write = GetMessageClass(method.input_type).SerializeToString
        try:
            if isinstance(request, ProtoMessage):
                return await self.channel.unary_unary(path, write, read)(request)
            return await self.channel.stream_unary(path, write, read)(iter(request))
        except grpc.RpcError as failure:
            error = error_from_rpc(failure)
            raise error or failure from None

    async def refusal(self, name: str, request: ProtoMessage | Sequence[ProtoMessage]) -> AntiphonError:
        """Call a method that must be refused; return the error."""
        try:
            answer = await self.call(name, request)
        except AntiphonError as error:
            return error
        raise AssertionError(f"{name} answered {answer}")

    async def export(self, branch_id: str) -> bytes:
        """Export a branch."""
        stub: Any = self.channel.unary_stream(
            "/antiphon.history.v1.HistoryService/ExportBranch",
            history_pb.ExportBranchRequest.SerializeToString,
            history_pb.ExportBranchResponse.FromString,
        )
        return b"".join(
            [chunk.data async for chunk in stub(history_pb.ExportBranchRequest(branch_id=branch_id))]
        )

    async def everything(self) -> list[Any]:
        """Return all that a caller can see of the branches and of the exchange."""
        branches = (await self.call("ListBranches", history_pb.ListBranchesRequest())).branches
        seen: list[Any] = list(branches)
        for branch in branches:
            at = {"branch_id": branch.branch_id}
            seen.append((await self.call("ListMessages", history_pb.ListMessagesRequest(**at))).messages)
            seen.append(await self.export(branch.branch_id))
        of: dict[str, Any] = {"exchange_id": EXCHANGE}
        seen.append((await self.call("ListOwners", exchange_pb.ListOwnersRequest(**of))).owners)
        seen.append(
            (await self.call("ListDeadLetters", exchange_pb.ListDeadLettersRequest(**of))).dead_letters
        )
        for owner in OWNERS:
            inbox = exchange_pb.ReceiveRequest(owner_id=uuid_of(owner), **of)
            seen.append((await self.call("Receive", inbox)).deliveries)
        return [list(part) if hasattr(part, "add") else part for part in seen]


def paged_methods() -> Iterator[str]:
    """Yield the RPCs that list: those that say so in their name or take a page token."""
    for name, method in METHODS.items():
        if name.startswith("List") or "page_token" in method.input_type.fields_by_name:
            yield name


def repeatable_methods() -> Iterator[str]:
    """Yield the RPCs whose request has a request id, in itself or in a message that it holds."""
    for name, method in METHODS.items():
        fields = method.input_type.fields
        held = [inner for field in fields if field.message_type for inner in field.message_type.fields]
        if "request_id" in {field.name for field in [*fields, *held]}:
            yield name


@asynccontextmanager
async def furnished(store: str, folder: Path, limits: Limits = DEFAULT_LIMITS) -> AsyncIterator[Furnished]:
    """Run a furnished service over a kind of store."""
    settings = HistorySettings(listen=f"unix:{folder / 's'}", limits=limits)
    server = build_server(settings, open_store(store_url(store, folder)))
    address = await server.start()
    try:
        async with grpc.aio.insecure_channel(address) as channel:
            service = Furnished(channel)
            await _furnish_branches(service)
            await _furnish_exchange(service)
            yield service
    finally:
        await server.stop(0)


async def _furnish_branches(service: Furnished) -> None:
    for branch_id in (BRANCH, OTHER_BRANCH):
        await service.call("CreateBranch", history_pb.CreateBranchRequest(branch_id=branch_id))
    messages = [system(9), instruction(1), instruction(2), call_action(3), instruction(4), instruction(5)]
    await service.call("AddMessages", history_pb.AddMessagesRequest(branch_id=BRANCH, messages=messages))
    view = history_pb.SelectViewRequest(branch_id=BRANCH, message_ids=[uuid_of(1), uuid_of(4)])
    await service.call("SelectView", view)
    service.file = await service.export(BRANCH)


async def _furnish_exchange(service: Furnished) -> None:
    of: dict[str, Any] = {"exchange_id": EXCHANGE}
    once = exchange_pb.ExchangeSettings(max_deliveries=1)
    for owner in OWNERS:
        request = exchange_pb.RegisterOwnerRequest(owner_id=uuid_of(owner), settings=once, **of)
        await service.call("RegisterOwner", request)
    for number, recipient in ((11, 2), (12, 2), (13, 2), (20, "name")):
        await service.call("Send", exchange_pb.SendRequest(message=letter(1, recipient, number), **of))
    await service.call("Collect", exchange_pb.CollectRequest(owner_id=uuid_of(1), **of))
    await service.call("Send", exchange_pb.SendRequest(message=letter(1, 2, 30), **of))
    leased = await service.call("Lease", exchange_pb.LeaseRequest(owner_id=uuid_of(2), **of))
    service.lease_id = leased.deliveries[0].lease_id
    dead = await service.call("ListDeadLetters", exchange_pb.ListDeadLettersRequest(**of))
    service.dead_letter_id = dead.dead_letters[0].dead_letter_id

"""A history service without a wire: the real servicer over a store, called by method name.

Requests and responses go through their encodings, as the edge would have it;
errors are raised as they leave the servicer.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.message.v1 import message_pb2 as message_pb
from antiphon_client.edge.call import Call, bind_call
from antiphon_client.ids import is_canonical_uuid
from antiphon_client.limits import DEFAULT_LIMITS, Limits
from history_service.servicer import HistoryServicer
from history_service.snapshot_cache import DEFAULT_CACHE_BYTES
from history_service.storage import open_store
from history_service.storage.port import HistoryStore
from history_service.sweeping import DEFAULT_KEEPING, Keeping
from tests.support import postgres
from tests.support.encryption import ring

CLEAR_STORES = ("memory", "sqlite", "postgres")
STORES = (*CLEAR_STORES, "encrypted", "postgres-encrypted")
"""The kinds of stores; ``encrypted`` is SQLite's."""
METHODS = pb.DESCRIPTOR.services_by_name["HistoryService"].methods_by_name


def on_postgres(kind: str) -> bool:
    """Tell whether a kind of store needs PostgreSQL."""
    return kind.startswith("postgres")


def store_url(kind: str, folder: Path) -> str:
    """Return the URL of an empty store of a kind, or of the same one again."""
    if on_postgres(kind):
        return postgres.schema_url(folder)
    return "memory:" if kind == "memory" else f"sqlite:{folder / 'history.sqlite3'}"


def make_store(kind: str, folder: Path) -> HistoryStore:
    """Return a store of a kind, not started: an empty one, or the same one again."""
    return open_store(store_url(kind, folder), ring=ring() if kind.endswith("encrypted") else None)


def uuid_of(number: int) -> str:
    """Return a canonical UUID that a test can name."""
    return f"00000000-0000-4000-8000-{number:012x}"


class Clock:
    """Ticks a second whenever it is read; tests may turn it."""

    def __init__(self) -> None:
        self.now = 1_700_000_000 * 10**9

    def __call__(self) -> int:
        self.now += 10**9
        return self.now


@dataclass
class Snapshot:
    """A snapshot's frames, taken apart and checked against its footer."""

    header: pb.SnapshotHeader
    order: list[str]
    messages: list[message_pb.Message]
    bodies: list[bytes]
    frames: list[bytes]


class History:
    """The service as one caller sees it.

    Attributes:
        clock: Gives the server's times.
        store: The store behind it.
    """

    def __init__(
        self,
        store: HistoryStore,
        limits: Limits = DEFAULT_LIMITS,
        tenant_id: str = "",
        keeping: Keeping = DEFAULT_KEEPING,
        snapshot_cache_bytes: int = DEFAULT_CACHE_BYTES,
    ) -> None:
        self.clock = Clock()
        self.snapshot_cache_bytes = snapshot_cache_bytes
        self.limits = limits
        self.keeping = keeping
        self.tenant_id = tenant_id
        ids = itertools.count(0xFFFF_0000_0000)

        def make_id() -> str:
            return uuid_of(next(ids))

        self._make_id = make_id
        self.serve(store)

    def serve(self, store: HistoryStore) -> None:
        """Serve from a store; times and ids go on, as if the service had been started again."""
        self.store = store
        self._servicer = HistoryServicer(
            store,
            self.limits,
            clock=self.clock,
            make_id=self._make_id,
            make_message_ids=lambda count: [self._make_id() for _ in range(count)],
            keeping=self.keeping,
            snapshot_cache_bytes=self.snapshot_cache_bytes,
        )

    @property
    def kept_bytes(self) -> float:
        """Bytes of the snapshots that the service keeps in memory, as it publishes them."""
        figures: Any = self._servicer.figures()
        found: dict[str, float] = {figure.name: figure.read() for figure in figures}
        return found["antiphon_snapshot_cache_bytes"]

    async def call(self, request: Any, *, tenant_id: str | None = None) -> Any:
        """Call the unary method whose request this is."""
        name = type(request).__name__.removesuffix("Request")
        raw = request.SerializeToString()
        tenant = self.tenant_id if tenant_id is None else tenant_id

        async def serve() -> Any:
            bind_call(Call(f"/antiphon.history.v1.HistoryService/{name}", tenant, raw))
            return await getattr(self._servicer, name)(type(request).FromString(raw), None)

        # A task has a context of its own, as a call has at the edge.
        reply = await asyncio.create_task(serve())
        response_type = getattr(pb, METHODS[name].output_type.name)
        return response_type.FromString(reply if isinstance(reply, bytes) else reply.SerializeToString())

    async def frames(
        self,
        branch_id: str,
        *,
        at: int | None = None,
        ids: Iterable[str] | None = None,
        since: int | None = None,
        incarnation: str = "",
        takes_joined: bool = False,
    ) -> AsyncGenerator[bytes]:
        """Yield a snapshot's frames, encoded."""
        request = pb.ReadSnapshotRequest(
            branch_id=branch_id,
            at_revision=at,
            since_revision=since,
            since_incarnation=incarnation,
            takes_joined=takes_joined,
        )
        if ids is not None:
            request.progression.message_ids.extend(ids)
            request.progression.SetInParent()
        bind_call(Call("/antiphon.history.v1.HistoryService/ReadSnapshot", self.tenant_id, b""))
        async with aclosing(self._servicer.ReadSnapshot(request, None)) as frames:  # type: ignore[arg-type, type-var]
            async for frame in frames:
                yield frame if isinstance(frame, bytes) else frame.SerializeToString()

    async def snapshot(
        self, branch_id: str, *, at: int | None = None, ids: Iterable[str] | None = None
    ) -> Snapshot:
        """Read a whole snapshot and check that it is whole."""
        return assemble([frame async for frame in self.frames(branch_id, at=at, ids=ids)])

    # The requests that tests make all the time

    async def create(self, number: int = 1, **fields: Any) -> str:
        """Create a branch; return its id."""
        request = pb.CreateBranchRequest(branch_id=uuid_of(number), **fields)
        response: pb.CreateBranchResponse = await self.call(request)
        return response.branch.branch_id

    async def add(self, branch_id: str, *messages: message_pb.Message, **fields: Any) -> Any:
        """Add messages."""
        return await self.call(pb.AddMessagesRequest(branch_id=branch_id, messages=messages, **fields))

    async def system(self, branch_id: str, text: str, message_id: str | None = None, **fields: Any) -> Any:
        """Set the system record."""
        request = pb.SetSystemRequest(branch_id=branch_id, message_id=message_id, **fields)
        request.system.system_message = text
        return await self.call(request)

    async def compact(
        self, branch_id: str, stretch: tuple[int, int], kept: Iterable[int], text: str = "", **fields: Any
    ) -> Any:
        """Commit a compaction of a stretch, given by the numbers of its ends."""
        content = summary(0, *stretch, text).summary
        ids = [uuid_of(number) for number in kept]
        request = pb.CommitCompactionRequest(
            branch_id=branch_id, summary=content, view_message_ids=ids, **fields
        )
        return await self.call(request)

    async def branch(self, branch_id: str, at: int | None = None) -> Any:
        """Read a branch."""
        return (await self.call(pb.GetBranchRequest(branch_id=branch_id, at_revision=at))).branch

    async def get(self, branch_id: str, message_id: str, at: int | None = None) -> message_pb.Message:
        """Read one message."""
        request = pb.GetMessagesRequest(branch_id=branch_id, message_ids=[message_id], at_revision=at)
        message: message_pb.Message = (await self.call(request)).messages[0]
        return message

    async def ids(self, branch_id: str, at: int | None = None) -> list[str]:
        """Read the full order through the pages of a list."""
        return [message.id for message in await self.messages(branch_id, at_revision=at)]

    async def messages(self, branch_id: str, **fields: Any) -> list[message_pb.Message]:
        """Read all pages of a list of messages."""
        messages: list[message_pb.Message] = []
        token = ""
        while True:
            request = pb.ListMessagesRequest(branch_id=branch_id, page_token=token, **fields)
            page = await self.call(request)
            messages.extend(page.messages)
            token = page.next_page_token
            if not token:
                return messages

    async def view(self, branch_id: str, at: int | None = None) -> list[str] | None:
        """Read the view's order; None while none is selected."""
        snapshot = await self.snapshot(branch_id, at=at)
        return snapshot.order if snapshot.header.branch.HasField("view_count") else None


def assemble(frames: Sequence[bytes]) -> Snapshot:
    """Take a snapshot's frames apart; check their order, counts and hash."""
    parsed = [pb.ReadSnapshotResponse.FromString(frame) for frame in frames]
    kinds = [frame.WhichOneof("frame") for frame in parsed]
    ranks = ["header", "order", "batch", "footer"]
    assert kinds == sorted(kinds, key=lambda kind: ranks.index(str(kind)))
    assert kinds.count("header") == kinds.count("footer") == 1
    header, footer = parsed[0].header, parsed[-1].footer
    order = [message_id for frame in parsed for message_id in frame.order.message_ids]
    bodies = [body for frame in parsed for body in frame.batch.messages]
    assert len(order) == len(bodies) == header.message_count == footer.message_count
    assert footer.sha256 == hashlib.sha256(b"".join(bodies)).digest()
    assert header.incarnation == header.branch.incarnation
    assert header.revision == header.branch.revision
    messages = [message_pb.Message.FromString(body) for body in bodies]
    assert [message.id for message in messages] == order
    assert all(body[2:38].decode() == message_id for body, message_id in zip(bodies, order, strict=True))
    return Snapshot(header, order, messages, bodies, list(frames))


@asynccontextmanager
async def running(
    kind: str, folder: Path, limits: Limits = DEFAULT_LIMITS, keeping: Keeping = DEFAULT_KEEPING
) -> AsyncIterator[History]:
    """Run a history service over a store of a kind; the store is closed at the end."""
    store = make_store(kind, folder)
    await store.start()
    try:
        yield History(store, limits, keeping=keeping)
    finally:
        await store.close()


# Messages


def instruction(number: int, text: str = "", **envelope: Any) -> message_pb.Message:
    """Make an instruction."""
    content = message_pb.InstructionContent(instruction=text or f"instruction {number}")
    return message_pb.Message(id=uuid_of(number), instruction=content, **envelope)


def assistant(number: int, text: str = "") -> message_pb.Message:
    """Make an assistant response."""
    content = message_pb.AssistantResponseContent(assistant_response=text or f"answer {number}")
    return message_pb.Message(id=uuid_of(number), assistant_response=content)


def system(number: int, text: str = "") -> message_pb.Message:
    """Make a system record."""
    content = message_pb.SystemContent(system_message=text or f"policy {number}")
    return message_pb.Message(id=uuid_of(number), system=content)


def call_action(number: int, function: str = "look_up") -> message_pb.Message:
    """Make an action request."""
    content = message_pb.ActionRequestContent(
        function=function, arguments_json='{"n": 1.0}', provider_call_id=f"call_{number}"
    )
    return message_pb.Message(id=uuid_of(number), action_request=content)


def action_result(
    number: int, request: int | None = None, *, interim: bool = False, output: str = "{}"
) -> message_pb.Message:
    """Make an action response, naming its request or none."""
    content = message_pb.ActionResponseContent(
        function="look_up",
        output_json=output,
        action_request_id=None if request is None else uuid_of(request),
        state=message_pb.ACTION_RESPONSE_STATE_INTERIM
        if interim
        else message_pb.ACTION_RESPONSE_STATE_UNSPECIFIED,
    )
    return message_pb.Message(id=uuid_of(number), action_response=content)


def summary(number: int, first: int, last: int, text: str = "") -> message_pb.Message:
    """Make a summary of a stretch."""
    content = message_pb.SummaryContent(
        text=text or f"summary {number}", first_id=uuid_of(first), last_id=uuid_of(last)
    )
    return message_pb.Message(id=uuid_of(number), summary=content)


def numbers(message_ids: Iterable[str]) -> list[int]:
    """Return the numbers behind ids made by ``uuid_of``."""
    message_ids = list(message_ids)
    assert all(is_canonical_uuid(message_id) for message_id in message_ids)
    return [int(message_id[-12:], 16) for message_id in message_ids]

"""The RPCs of the history service: check, run the rule in the store, encode.

What a servicer method raises is an ``AntiphonError``; the edge turns it into a
status. Errors per RPC are listed in the proto.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any, ParamSpec, TypeVar

import grpc.aio
from google.protobuf.descriptor import Descriptor

from antiphon.history.v1 import history_service_pb2 as pb
from antiphon.history.v1 import history_service_pb2_grpc
from antiphon.message.v1 import message_pb2 as message_pb
from antiphon_client.action_draft import draft_response
from antiphon_client.edge.call import current_call
from antiphon_client.edge.metrics import Published
from antiphon_client.edge.offload import run_weighted
from antiphon_client.ids import new_id, new_ordered_ids
from antiphon_client.limits import Limits
from history_service import delta_stream, encoding, paging, sweeping, watch_stream
from history_service import request_checks as checks
from history_service.branch_file import export, upload
from history_service.domain import (
    actions,
    branches,
    compaction,
    forks,
    importing,
    membership,
    reads,
    retention,
    views,
)
from history_service.domain.clones import Clones, clone_messages
from history_service.domain.prepared import PreparedMessage, Stamper
from history_service.domain.watching import Watch
from history_service.domain.writes import is_replay, write_branch, write_once
from history_service.joined_frames import joined
from history_service.message_pages import MessagePages
from history_service.signals import Signals
from history_service.snapshot_cache import DEFAULT_CACHE_BYTES, SnapshotCache
from history_service.snapshot_frames import SnapshotFrames
from history_service.snapshot_stream import Front, is_short
from history_service.storage.port import BranchRow, HistoryStore, ReadTransaction, WriteTransaction
from history_service.sweeping import DEFAULT_KEEPING, Keeping
from history_service.watch_stream import DEFAULT_TIMES, WatchTimes
from history_service.write_calls import WriteCalls

P = ParamSpec("P")
T = TypeVar("T")
Context = grpc.aio.ServicerContext[Any, Any]
Spliced = Any
"""An encoded response. The edge passes it through; the generated base class knows typed ones only."""
Rule = Callable[[WriteTransaction, BranchRow], Any]


class HistoryServicer(history_service_pb2_grpc.HistoryServiceServicer):
    """Serves ``antiphon.history.v1.HistoryService`` from a store."""

    def __init__(
        self,
        store: HistoryStore,
        limits: Limits,
        *,
        clock: Callable[[], int] = time.time_ns,
        make_id: Callable[[], str] = new_id,
        make_message_ids: Callable[[int], Sequence[str]] = new_ordered_ids,
        watch_times: WatchTimes = DEFAULT_TIMES,
        keeping: Keeping = DEFAULT_KEEPING,
        snapshot_cache_bytes: int = DEFAULT_CACHE_BYTES,
        ready_bytes: int = 0,
    ) -> None:
        """Set up the servicer.

        Args:
            store: Where branches are kept; started and closed by the caller.
            limits: Bounds on messages, batches, pages, replies and frames.
            clock: Returns nanoseconds since the epoch.
            make_id: Returns a fresh canonical UUID for a branch or an incarnation.
            make_message_ids: Returns so many for messages.
            watch_times: How long a watch is quiet.
            keeping: How long deleted branches and former revisions are kept.
            snapshot_cache_bytes: Bytes of encoded snapshots and pages kept in memory; 0 keeps none.
            ready_bytes: Bytes of them for which memory is fetched now.
        """
        self._store = store
        self._limits = limits
        self._stamper = Stamper(clock, make_id, make_message_ids, limits.message_bytes)
        self._watch_times = watch_times
        self._keeping = keeping
        self._signals = Signals()
        self._cache = SnapshotCache(snapshot_cache_bytes, ready_bytes)
        self._snapshots = SnapshotFrames(store, limits, self._cache, trimming=keeping.revisions > 0)
        self._pages = MessagePages(store, limits, self._cache)
        self._write_calls = WriteCalls(clock)

    def figures(self) -> Sequence[Published]:
        """Return what tells how much the kept frames spare and hold."""
        return self._cache.figures()

    @property
    def signals(self) -> Signals:
        """What wakes watches of branches."""
        return self._signals

    # Branches

    async def CreateBranch(self, request: pb.CreateBranchRequest, context: Context) -> Spliced:
        """Make an empty branch."""
        checks.check_create_branch(request, self._limits)
        call = self._write_calls.make(request.request_id, pb.CreateBranchResponse.DESCRIPTOR)

        def rule(tx: WriteTransaction) -> pb.CreateBranchResponse:
            return branches.create_branch(tx, call.tenant_id, request, self._stamper)

        return await self._store.write(lambda tx: write_once(tx, call, rule))

    async def GetBranch(self, request: pb.GetBranchRequest, context: Context) -> pb.GetBranchResponse:
        """Read what a branch is."""
        checks.check_get_branch(request)
        tenant_id, at_revision = current_call().tenant_id, _at_revision(request)
        branch = await self._store.read(
            lambda tx: branches.read_branch(tx, tenant_id, request.branch_id, at_revision)
        )
        return pb.GetBranchResponse(branch=branch)

    async def ListBranches(
        self, request: pb.ListBranchesRequest, context: Context
    ) -> pb.ListBranchesResponse:
        """List living branches."""
        checks.check_list_branches(request)
        prefix = request.external_key_prefix if request.HasField("external_key_prefix") else None
        parent = request.parent_branch_id if request.HasField("parent_branch_id") else None
        wanted = branches.BranchList(current_call().tenant_id, prefix, parent)
        filters = (wanted.tenant_id, prefix, parent)
        after = paging.read_branch_token(request.page_token, filters) if request.page_token else None
        limit = paging.page_limit(request.page_size, self._limits.page_messages)
        page, anchor = await self._store.read(
            lambda tx: branches.list_branches(tx, wanted, after, limit, self._limits.page_bytes)
        )
        token = paging.branch_token(filters, anchor) if anchor else ""
        return pb.ListBranchesResponse(branches=page, next_page_token=token)

    async def UpdateBranch(self, request: pb.UpdateBranchRequest, context: Context) -> Spliced:
        """Replace a branch's metadata."""
        checks.check_update_branch(request, self._limits)
        rule = partial(branches.update_branch, metadata_json=request.metadata_json)
        return await self._write(request, pb.UpdateBranchResponse.DESCRIPTOR, rule)

    async def DeleteBranch(self, request: pb.DeleteBranchRequest, context: Context) -> Spliced:
        """Delete a branch for good, and erase it at once with ``purge``."""
        checks.check_guarded_write(request)
        call = self._write_calls.make(request.request_id, pb.DeleteBranchResponse.DESCRIPTOR)
        keep_until = self._stamper.clock() + self._keeping.deleted_nanoseconds
        try:
            response = await self._store.write(
                lambda tx: retention.delete_branch(tx, call, request, keep_until)
            )
        finally:
            self._cache.drop(call.tenant_id, request.branch_id)
        self._signals.notify(watch_stream.address(call.tenant_id, request.branch_id))
        if request.purge:
            await sweeping.sweep_branch(self._store, call.tenant_id, request.branch_id, self._stamper.clock)
        return response

    async def TrimHistory(self, request: pb.TrimHistoryRequest, context: Context) -> pb.TrimHistoryResponse:
        """Drop the revisions before one."""
        checks.check_trim_history(request)
        tenant_id, branch_id = current_call().tenant_id, request.branch_id
        try:
            oldest = await self._store.write(
                lambda tx: retention.trim_history(tx, tenant_id, branch_id, request.before_revision)
            )
        finally:
            self._cache.drop(tenant_id, branch_id)
        await sweeping.sweep_branch(self._store, tenant_id, branch_id, self._stamper.clock)
        return pb.TrimHistoryResponse(oldest_revision=oldest)

    async def ForkBranch(self, request: pb.ForkBranchRequest, context: Context) -> Spliced:
        """Make a branch with what another holds at a revision."""
        checks.check_fork_branch(request, self._limits)
        call = self._write_calls.make(request.request_id, pb.ForkBranchResponse.DESCRIPTOR)
        stamper = self._stamper

        def clone(tx: ReadTransaction) -> Clones | None:
            # Of a request answered before, the source may be gone by now.
            return None if is_replay(tx, call) else clone_messages(tx, call.tenant_id, request, stamper)

        clones = await self._store.read(clone) if request.ids == pb.FORK_IDS_NEW else None

        def rule(tx: WriteTransaction) -> pb.ForkBranchResponse:
            return forks.fork_branch(tx, call.tenant_id, request, stamper, clones)

        return await self._store.write(lambda tx: write_once(tx, call, rule))

    # Membership and order

    async def AddMessages(self, request: pb.AddMessagesRequest, context: Context) -> Spliced:
        """Add or replace messages."""
        batch = await _off_loop(self._prepare_batch, request)
        rule = partial(membership.add_messages, batch=batch, allow_unresolved=request.allow_unresolved)
        return await self._write(request, pb.AddMessagesResponse.DESCRIPTOR, rule)

    async def RespondToAction(self, request: pb.RespondToActionRequest, context: Context) -> Spliced:
        """Append the response to an action request."""
        draft = draft_response(request)
        await _off_loop(checks.check_respond, request, draft, self._limits)
        rule = partial(actions.respond, draft=draft, stamper=self._stamper)
        return await self._write(request, pb.RespondToActionResponse.DESCRIPTOR, rule)

    async def SetSystem(self, request: pb.SetSystemRequest, context: Context) -> Spliced:
        """Set the one system record."""
        draft = message_pb.Message(
            id=request.message_id, metadata_json=request.metadata_json, system=request.system
        )
        await _off_loop(checks.check_set_system, request, draft, self._limits)
        rule = partial(membership.set_system, prepared=self._stamper.prepare_all([draft])[0])
        return await self._write(request, pb.SetSystemResponse.DESCRIPTOR, rule)

    async def RemoveMessages(self, request: pb.RemoveMessagesRequest, context: Context) -> Spliced:
        """Remove messages."""
        await _off_loop(checks.check_remove_messages, request, self._limits)
        rule = partial(membership.remove_messages, message_ids=request.message_ids)
        return await self._write(request, pb.RemoveMessagesResponse.DESCRIPTOR, rule)

    async def MoveMessage(self, request: pb.MoveMessageRequest, context: Context) -> Spliced:
        """Move one message."""
        checks.check_move_message(request)
        rule = partial(membership.move_message, message_id=request.message_id, index=request.index)
        return await self._write(request, pb.MoveMessageResponse.DESCRIPTOR, rule)

    async def ClearMessages(self, request: pb.ClearMessagesRequest, context: Context) -> Spliced:
        """Remove all messages but the system record."""
        checks.check_guarded_write(request)
        return await self._write(request, pb.ClearMessagesResponse.DESCRIPTOR, membership.clear_messages)

    async def SelectView(self, request: pb.SelectViewRequest, context: Context) -> Spliced:
        """Select a view."""
        await _off_loop(checks.check_select_view, request)
        rule = partial(views.select_view, message_ids=request.message_ids)
        return await self._write(request, pb.SelectViewResponse.DESCRIPTOR, rule)

    async def ClearView(self, request: pb.ClearViewRequest, context: Context) -> Spliced:
        """Return to the full order."""
        checks.check_guarded_write(request)
        return await self._write(request, pb.ClearViewResponse.DESCRIPTOR, views.clear_view)

    async def CommitCompaction(self, request: pb.CommitCompactionRequest, context: Context) -> Spliced:
        """Store a summary and the view that puts it in the place of what it stands for."""
        draft = compaction.draft_summary(request)
        await _off_loop(checks.check_commit_compaction, request, draft, self._limits)
        rule = partial(compaction.commit_compaction, request=request, draft=draft, stamper=self._stamper)
        return await self._write(request, pb.CommitCompactionResponse.DESCRIPTOR, rule)

    # Reading

    async def GetMessages(self, request: pb.GetMessagesRequest, context: Context) -> Spliced:
        """Read messages by id."""
        await _off_loop(checks.check_get_messages, request, self._limits)
        rule = partial(
            reads.get_messages,
            tenant_id=current_call().tenant_id,
            branch_id=request.branch_id,
            message_ids=request.message_ids,
            at_revision=_at_revision(request),
            reply_bytes=self._limits.reply_bytes,
            overhead=encoding.FIELD_OVERHEAD,
        )
        return encoding.get_messages_response(*await self._store.read(rule))

    async def ListMessages(self, request: pb.ListMessagesRequest, context: Context) -> Spliced:
        """List messages in order."""
        checks.check_list_messages(request)
        return await self._pages.answer(current_call().tenant_id, request)

    async def ReadSnapshot(self, request: pb.ReadSnapshotRequest, context: Context) -> AsyncIterator[Spliced]:
        """Stream a selection of a branch at one revision."""
        await _off_loop(checks.check_read_snapshot, request)
        tenant_id, at_revision = current_call().tenant_id, _at_revision(request)
        chosen = request.progression.message_ids if request.HasField("progression") else None
        base = delta_stream.base_of(request)

        def read(tx: ReadTransaction) -> tuple[reads.Snapshot, delta_stream.OpenedDelta | None, Front | None]:
            snapshot = reads.open_snapshot(tx, tenant_id, request.branch_id, at_revision, chosen)
            delta = None if base is None else delta_stream.open_delta(tx, snapshot, base, self._limits)
            return snapshot, delta, None if delta is not None else self._snapshots.read_front(tx, snapshot)

        drops = self._cache.drops
        snapshot, delta, front = await self._store.read(read)
        takes_joined = request.takes_joined and (delta is not None or is_short(snapshot))
        if delta is None:
            stream = self._snapshots.stream(snapshot, front, drops)
        else:
            stream = delta_stream.frames(self._store, snapshot, delta, self._limits)
        del delta, front  # which a slow reader shall not hold on to
        if takes_joined:
            stream = joined(stream, self._limits.frame_bytes)
        async with aclosing(stream) as frames:
            async for frame in frames:
                yield frame

    async def WatchBranch(
        self, request: pb.WatchBranchRequest, context: Context
    ) -> AsyncIterator[pb.WatchBranchResponse]:
        """Stream every change of a branch after a revision."""
        checks.check_watch_branch(request)
        watch = Watch(current_call().tenant_id, request.branch_id, request.incarnation)
        stream = watch_stream.frames(
            self._store, self._signals, self._watch_times, watch, request.after_revision
        )
        async with aclosing(stream) as frames:
            async for frame in frames:
                yield frame

    async def ExportBranch(
        self, request: pb.ExportBranchRequest, context: Context
    ) -> AsyncIterator[pb.ExportBranchResponse]:
        """Stream a branch as a file."""
        checks.check_export_branch(request)
        tenant_id, at_revision = current_call().tenant_id, _at_revision(request)
        snapshot = await self._store.read(
            lambda tx: reads.open_snapshot(tx, tenant_id, request.branch_id, at_revision, None)
        )
        async with aclosing(export.chunks(self._store, snapshot, self._limits)) as chunks:
            async for chunk in chunks:
                yield pb.ExportBranchResponse(data=chunk)

    async def ImportBranch(
        self, request_iterator: AsyncIterator[pb.ImportBranchRequest], context: Context
    ) -> Spliced:
        """Make a branch from a file."""
        return await upload.receive(request_iterator, self._limits, self._store_upload)

    async def _store_upload(self, received: upload.Upload) -> Spliced:
        head, content = received.head, received.file.content
        response = pb.ImportBranchResponse.DESCRIPTOR
        call = self._write_calls.make(head.request_id, response, identity=received.identity)

        def rule(tx: WriteTransaction) -> pb.ImportBranchResponse:
            return importing.import_branch(tx, call.tenant_id, head, content, self._stamper)

        return await self._store.write(lambda tx: write_once(tx, call, rule))

    # What writes share

    def _prepare_batch(self, request: pb.AddMessagesRequest) -> list[PreparedMessage]:
        checks.check_add_messages(request, self._limits)
        return self._stamper.prepare_all(request.messages)

    async def _write(self, request: checks.GuardedWrite, response: Descriptor, rule: Rule) -> Spliced:
        call = self._write_calls.make(request.request_id, response)
        expected = request.expected_revision if request.HasField("expected_revision") else None

        def keeping(tx: WriteTransaction, branch: BranchRow) -> Any:
            response = rule(tx, branch)
            retention.keep_newest(tx, branch, self._keeping.revisions)
            return response

        work = partial(
            write_branch, call=call, branch_id=request.branch_id, expected_revision=expected, rule=keeping
        )
        response_bytes = await self._store.write(work)
        # A caller that has gone by now leaves this to the watchers' own looking.
        self._signals.notify(watch_stream.address(call.tenant_id, request.branch_id))
        return response_bytes


def _off_loop(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T]:
    """Do work in step with the current request's size; see ``run_weighted``."""
    return run_weighted(len(current_call().request_bytes), work, *args, **kwargs)


def _at_revision(request: checks.BranchRead) -> int | None:
    return request.at_revision if request.HasField("at_revision") else None

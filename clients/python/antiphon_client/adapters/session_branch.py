"""The branch of one session, for blocking and asyncio clients alike.

Operations are written once, as the clients' own are (:mod:`antiphon_client.rpc`),
and give records in their wire form, which a framework's own form is made from
without a typed message between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from antiphon.history.v1 import history_service_pb2 as history_pb
from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.adapters.answers import calls_elsewhere, link_answers, unlink_answers
from antiphon_client.adapters.held_records import HeldRecords
from antiphon_client.adapters.held_things import HeldThings
from antiphon_client.adapters.record_pages import page_call
from antiphon_client.adapters.unit_reading import Usual
from antiphon_client.errors import (
    ActionAlreadyAnsweredError,
    ActionRequestUnknownError,
    BranchDeletedError,
    BranchExistsError,
    BranchNotFoundError,
    RevisionConflictError,
)
from antiphon_client.history_operations import HistoryOperations
from antiphon_client.ids import derived_request_id
from antiphon_client.limits import DEFAULT_LIMITS
from antiphon_client.records import BranchRecord, Written
from antiphon_client.rpc import Steps, perform

T = TypeVar("T")
Records = Sequence[pb.Message]

_HISTORY = HistoryOperations()
_CALLS_LOOKED_AT = 200
"""Latest calls of a branch among which an answer looks for its own: one page, whatever its length."""


class SessionBranch:
    """Operations of the branch with one external key.

    The branch is made with an id that follows from the key, so that a session
    is read without looking for it first. Where that id is of no branch, or of a
    deleted one, the key decides.

    Args:
        external_key: The branch's key.
    """

    def __init__(self, external_key: str) -> None:
        self.external_key = external_key
        self._first_id = derived_request_id("session", external_key)
        self._branch_id = self._first_id
        self._held = HeldRecords()
        self._things = HeldThings()

    @property
    def held_bytes(self) -> int:
        """About how many bytes are held."""
        return self._held.size + self._things.size

    def values(self, records: Records, key: str, usual: Usual) -> list[Any]:
        """Return the values that records stand for, as ``unit_reading.read_units`` does."""
        return self._things.values(records, key, usual)

    def text(self, records: Records, key: str, usual: Usual) -> str:
        """Return what records stand for, as the text of a JSON array."""
        return self._things.text(records, key, usual)

    def make(self, metadata: Mapping[str, Any] | None = None) -> Steps[bool]:
        """Make the branch; False where there is one, such as one that another process just made."""
        try:
            yield from _HISTORY.create_branch(
                branch_id=self._first_id, external_key=self.external_key, metadata=metadata
            )
        except BranchExistsError:
            return False
        except BranchDeletedError:  # a former session's; its id stays taken
            try:
                yield from _HISTORY.create_branch(external_key=self.external_key, metadata=metadata)
            except BranchExistsError:
                return False
        return True

    def record(self) -> Steps[BranchRecord | None]:
        """Return what the branch is; None where there is none."""
        return (yield from self._if_there(_HISTORY.get_branch, None))

    def whole(self) -> Steps[tuple[BranchRecord, list[pb.Message]] | None]:
        """Return what the branch is and, as :meth:`read`, its records; None where there is none."""

        def read(branch_id: str) -> Steps[tuple[BranchRecord, list[pb.Message]] | None]:
            branch, records = yield from self._held.read(branch_id)
            return BranchRecord.from_proto(branch), records

        return (yield from self._if_there(read, None))

    def append(self, units: Sequence[Records]) -> Steps[None]:
        """Add records at the end; make the branch where there is none.

        Records of one unit go into one write, and answers are linked to their
        calls. One write takes 1,000 records or 3 MiB. More are several, of
        which a failure leaves the first ones.
        """
        while units:
            if (yield from self.append_if_there(units)):
                return
            yield from self.make()

    def append_if_there(self, units: Sequence[Records]) -> Steps[bool]:
        """As :meth:`append`, but on a branch that exists; return whether it does."""

        def add(branch_id: str) -> Steps[bool]:
            for batch in _batches(units):
                written = yield from _add(branch_id, batch)
                self._held.appended(written, batch)
            return True

        return (yield from self._if_there(add, False))

    def read(self) -> Steps[list[pb.Message]]:
        """Return the records of the selected view, else of the full order, all true at one revision.

        They are held, and only what has changed since is read again: reading a
        branch that has not changed is one small call.
        """

        def read(branch_id: str) -> Steps[list[pb.Message]]:
            _, records = yield from self._held.read(branch_id)
            return records

        return (yield from self._if_there(read, list[pb.Message]()))

    def latest(self, is_enough: Callable[[Records], bool], page_size: int) -> Steps[list[pb.Message]]:
        """Return the last records, in order: as many pages of them as are needed, or more.

        Args:
            is_enough: Whether the records read so far, last first, will do.
            page_size: Records to read at once.
        """

        def read(branch_id: str) -> Steps[list[pb.Message]]:
            if (yield from _has_view(branch_id)):
                _, records = yield from self._held.read(branch_id)
                return records
            records = []
            token = ""  # nosec B105: of a page, and no secret
            while True:
                page = yield from perform(page_call(branch_id, token=token, size=page_size, descending=True))
                records.extend(page.messages)
                token = page.next_page_token
                if not token or is_enough(records):
                    return records[::-1]

        return (yield from self._if_there(read, list[pb.Message]()))

    def of_kind(self, kind: history_pb.MessageKind.ValueType) -> Steps[list[pb.Message]]:
        """Return every record of one kind in the full order."""

        def read(branch_id: str) -> Steps[list[pb.Message]]:
            records: list[pb.Message] = []
            token = ""  # nosec B105: of a page, and no secret
            while True:
                page = yield from perform(page_call(branch_id, token=token, kind=kind))
                records.extend(page.messages)
                token = page.next_page_token
                if not token:
                    return records

        return (yield from self._if_there(read, list[pb.Message]()))

    def pop(self, is_wanted: Callable[[pb.Message], bool]) -> Steps[pb.Message | None]:
        """Remove the last record that is wanted and return it; None where there is none.

        The removal is refused, and tried again with what is last then, if the
        branch has changed since it was read.
        """

        def pop(branch_id: str) -> Steps[pb.Message | None]:
            while True:
                revision, record = yield from self._last(branch_id, is_wanted)
                if record is None:
                    return None
                try:
                    yield from _HISTORY.remove_messages(branch_id, [record.id], expected_revision=revision)
                except RevisionConflictError:
                    continue
                return record

        return (yield from self._if_there(pop, None))

    def clear(self) -> Steps[None]:
        """Remove every record but a system record."""

        def clear(branch_id: str) -> Steps[None]:
            yield from _HISTORY.clear_messages(branch_id)

        yield from self._if_there(clear, None)

    def delete(self) -> Steps[None]:
        """Delete the branch, where there is one."""

        def delete(branch_id: str) -> Steps[None]:
            yield from _HISTORY.delete_branch(branch_id)

        yield from self._if_there(delete, None)

    def _last(
        self, branch_id: str, is_wanted: Callable[[pb.Message], bool]
    ) -> Steps[tuple[int, pb.Message | None]]:
        if (yield from _has_view(branch_id)):
            branch, records = yield from self._held.read(branch_id)
            return branch.revision, next(filter(is_wanted, reversed(records)), None)
        token, size = "", 1
        while True:
            page = yield from perform(page_call(branch_id, token=token, size=size, descending=True))
            found = next(filter(is_wanted, page.messages), None)
            token, size = page.next_page_token, DEFAULT_LIMITS.page_messages
            if found is not None or not token:
                return page.revision, found

    def _if_there(self, operation: Callable[[str], Steps[T]], otherwise: T) -> Steps[T]:
        """Run an operation on the branch that has the key now; do without where there is none."""
        while True:
            try:
                return (yield from operation(self._branch_id))
            except (BranchDeletedError, BranchNotFoundError):
                self._held = HeldRecords()
                found = yield from _HISTORY.find_branch(self.external_key)
                self._branch_id = self._first_id if found is None else str(found.branch_id)
                if found is None:
                    return otherwise


def _has_view(branch_id: str) -> Steps[bool]:
    record = yield from _HISTORY.get_branch(branch_id)
    return record.view_count is not None


def _add(branch_id: str, records: list[pb.Message]) -> Steps[Written]:
    waiting: list[pb.Message] = []
    if calls_elsewhere(records):
        calls = history_pb.MESSAGE_KIND_ACTION_REQUEST
        page = yield from perform(page_call(branch_id, size=_CALLS_LOOKED_AT, descending=True, kind=calls))
        waiting = [call for call in page.messages if not call.action_request.HasField("action_response_id")]
        waiting.reverse()
    link_answers(records, waiting)
    try:
        return (yield from _HISTORY.add_messages(branch_id, records))
    except (ActionAlreadyAnsweredError, ActionRequestUnknownError):
        # The call was answered or removed in between. The outcome is kept all the same.
        unlink_answers(records)
        return (yield from _HISTORY.add_messages(branch_id, records))


def _batches(units: Sequence[Records]) -> Iterator[list[pb.Message]]:
    """Cut units into writes that the service takes; a unit beyond its limits is one, to be refused."""
    batch: list[pb.Message] = []
    used = 0
    for unit in units:
        size = sum(record.ByteSize() for record in unit)
        is_long = len(batch) + len(unit) > DEFAULT_LIMITS.batch_messages
        if batch and (is_long or used + size > DEFAULT_LIMITS.page_bytes):
            yield batch
            batch, used = [], 0
        batch.extend(unit)
        used += size
    yield batch

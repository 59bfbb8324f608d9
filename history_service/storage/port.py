"""The storage port: what the history domain asks of a store.

A store runs *work*: a synchronous function over a transaction object. The
domain states every rule of the service in terms of the primitives below; a
store only keeps rows and finds them again. Three kinds of rows matter:

* Members: one row per version of a message in a branch, living from
  ``added_revision`` up to, not including, ``removed_revision``. What a branch
  holds at revision ``r`` are the rows with ``added_revision <= r`` that are not
  removed or whose ``removed_revision > r``. Live rows are those not removed.
  Rows are ordered by ``order_key``, a sparse integer of 0 or more that is
  unique among the rows living at any one revision.
* View rows: the same shape without content, under a view's *epoch* (the
  revision that selected it). A message's content is its member row's.
* Bodies: the encoded messages, each version once, referred to by a number. A
  fork's rows refer to the bodies of its source, so a body belongs to the whole
  fork tree. It is kept as long as a member row of any branch refers to it, and
  erased by ``sweep`` with the last one. All rows that refer to a body are of one
  message id: a store may look for them by it.

Every row belongs to a ``BranchKey``; its parts lead every key, so that one fork
tree stays together. Revisions given to writing primitives are those of the
write under way: the branch's revision + 1.

Unless it says otherwise, a primitive costs index look-ups in step with its
arguments and its result, whatever the branch's length.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

from antiphon_client.edge.metrics import Published
from history_service.storage.exchange_port import ExchangeReads, ExchangeWrites

T = TypeVar("T")


class AnchorNotFoundError(LookupError):
    """The message a scan should continue after is not in the selection scanned."""


class BranchKey(NamedTuple):
    """Leading part of the key of every row of a branch."""

    tenant_id: str
    """Owner of the branch; empty until authentication is configured."""
    lineage_id: str
    """Root of the branch's fork tree."""
    branch_id: str
    """The branch."""


class ForkOrigin(NamedTuple):
    """Where a branch was forked from."""

    branch_id: str
    revision: int
    up_to_message_id: str | None


@dataclass(slots=True)
class BranchRow:
    """A branch: its fixed facts and its head. Transactions hand out copies."""

    key: BranchKey
    incarnation: str
    """Random UUID set at creation."""
    created_at: int
    """Nanoseconds since the epoch."""
    external_key: str | None = None
    """The caller's key; unique among the tenant's branches that are not deleted."""
    parent_branch_id: str | None = None

    revision: int = 1
    """The head's first field. Everything from here on changes with writes."""
    message_count: int = 0
    """Live members."""
    last_key: int = 0
    """Greatest order key any member row of the branch ever had."""
    system_id: str | None = None
    """Id of the live system record."""
    view_epoch: int | None = None
    """Epoch of the selected view; None while no view is selected."""
    view_count: int = 0
    """Live rows of the selected view."""
    view_last_key: int = 0
    """Greatest order key of the selected view's rows."""
    deleted: bool = False

    forked_from: ForkOrigin | None = None
    """Where it was forked from; a fixed fact."""
    oldest_revision: int = 1
    """The oldest revision that can be read. With ``sweep_after``, stored by ``save_retention`` alone."""
    sweep_after: int | None = None
    """From when on ``sweep`` may erase what is dropped, in nanoseconds since the epoch; None: nothing is."""

    def copied(self) -> BranchRow:
        """Return a copy; quicker than the general means, as every write makes some."""
        return BranchRow(
            self.key,
            self.incarnation,
            self.created_at,
            self.external_key,
            self.parent_branch_id,
            self.revision,
            self.message_count,
            self.last_key,
            self.system_id,
            self.view_epoch,
            self.view_count,
            self.view_last_key,
            self.deleted,
            self.forked_from,
            self.oldest_revision,
            self.sweep_after,
        )


class Member(NamedTuple):
    """One live member row."""

    message_id: str
    order_key: int
    kind: int
    """A value of ``antiphon.history.v1.MessageKind``."""
    added_revision: int
    link_id: str | None
    """A response's action request, or a request's final response."""
    interim: bool
    """Whether this is an action response that does not answer."""
    body: int
    """Number of its body."""


class NewMember(NamedTuple):
    """One member row to insert."""

    message_id: str
    order_key: int
    kind: int
    link_id: str | None
    interim: bool
    body: bytes | int
    """An encoded message to store, or the number of a body stored before."""


class Place(NamedTuple):
    """Where a message stands at a revision, and with which content."""

    order_key: int
    """In the selection asked about, the members or a view."""
    body: int
    """Number of its body."""


class CutMember(NamedTuple):
    """A member on one side of a cut whose link names a member on the other side."""

    message_id: str
    kind: int
    linked_kind: int
    """The kind of the member its link names."""
    body: int


class CopiedRows(NamedTuple):
    """What a copy of rows to another branch came to."""

    rows: int
    last_key: int
    """The greatest order key among them; 0 without any."""


class MessagePage(NamedTuple):
    """Messages read in order."""

    bodies: list[bytes]
    """Encoded messages."""
    complete: bool
    """Whether the selection ends with the last of them."""


class RecordedResponse(NamedTuple):
    """What a request id was used for."""

    request_hash: bytes
    response: bytes
    """The encoded first response."""


class ChangeRow(NamedTuple):
    """One typed record of a branch's change log."""

    revision: int
    kind: int
    """A value of ``history_service.domain.changes.ChangeKind``."""
    ignorable: bool
    """Whether a reader that does not know the kind may skip the record."""
    payload: bytes
    writer_id: str
    """The commit position: which writer, and how many records it wrote before."""
    counter: int


class BranchAnchor(NamedTuple):
    """Where a list of branches goes on: after this branch."""

    external_key: str
    """Decides where the list goes by external key."""
    created_at: int
    """With ``branch_id`` decides where the list goes by age."""
    branch_id: str


class ReadTransaction(Protocol):
    """A consistent view of the store, for the time of one work function."""

    @property
    def exchange(self) -> ExchangeReads:
        """The exchange's part of it."""

    # Directory

    def branch(self, tenant_id: str, branch_id: str) -> BranchRow | None:
        """Find a branch, deleted ones included. The result is the caller's own copy."""

    def revisions(self, branches: Collection[tuple[str, str]]) -> dict[tuple[str, str], int]:
        """Return the revision of each branch, given by tenant and id; unknown ones are left out."""

    def branch_id_of_external_key(self, tenant_id: str, external_key: str) -> str | None:
        """Find the branch, not deleted, that has an external key."""

    def list_branches(
        self,
        tenant_id: str,
        *,
        external_key_prefix: str | None,
        parent_branch_id: str | None,
        after: BranchAnchor | None,
        limit: int,
    ) -> list[BranchRow]:
        """Read up to ``limit`` branches that are not deleted, after ``after``.

        Without a prefix: all, ordered by (created_at, branch_id). With one, even
        empty: those whose external key starts with it, ordered by the external
        key's UTF-8 bytes. ``parent_branch_id`` narrows either list. The anchor
        need not exist any more.
        """

    def metadata(self, key: BranchKey, at: int) -> str:
        """Return the branch metadata written by the last revision up to ``at``."""

    def recorded_response(self, tenant_id: str, request_id: str) -> RecordedResponse | None:
        """Find what a request id was used for."""

    # Live members

    def members(self, key: BranchKey, message_ids: Collection[str]) -> dict[str, Member]:
        """Find the live members among the given ids; absent ids are left out."""

    def linked_members(self, key: BranchKey, message_ids: Collection[str]) -> list[Member]:
        """Find the live members whose ``link_id`` is one of the given ids, by order key."""

    def body(self, key: BranchKey, message_id: str, number: int) -> bytes:
        """Return the body of a member row of the branch, ended or not.

        Raises:
            StoreCorruptError: There is none of that number.
        """

    def index_of(self, key: BranchKey, order_key: int) -> int:
        """Count the live members with a smaller order key. May scan the index."""

    def order_keys_at(self, key: BranchKey, index: int, count: int) -> list[int]:
        """Return the order keys of up to ``count`` live members from ``index`` on. May scan the index."""

    def view_members(self, key: BranchKey, epoch: int, message_ids: Collection[str]) -> set[str]:
        """Find which of the given ids have a live row in a view."""

    # Any revision

    def view_at(self, key: BranchKey, at: int) -> int | None:
        """Return the epoch of the view that was selected at a revision, or None."""

    def count(self, key: BranchKey, at: int, view: int | None) -> int:
        """Count the members, or a view's, at a revision. May scan the branch."""

    def message_sizes(self, key: BranchKey, at: int, message_ids: Collection[str]) -> dict[str, int]:
        """Return the encoded size of each given message at a revision; absent ids are left out."""

    def read_selected(
        self, key: BranchKey, at: int, message_ids: Sequence[str], max_bytes: int
    ) -> list[bytes]:
        """Read messages in the given order at a revision.

        Every id is a member at that revision (the caller has checked). Returns
        the longest prefix that stays within ``max_bytes``, and at least one
        message if any is asked. An id given twice is returned twice.
        """

    def read_ids(
        self, key: BranchKey, at: int, *, view: int | None, after: str | None, limit: int
    ) -> list[str]:
        """Read up to ``limit`` ids, in order, of the members or of a view at a revision.

        Raises:
            AnchorNotFoundError: ``after`` is given and not in the selection at ``at``.
        """

    def read_messages(
        self,
        key: BranchKey,
        at: int,
        *,
        view: int | None,
        after: str | None,
        limit: int,
        max_bytes: int,
        kinds: Collection[int] = (),
        descending: bool = False,
    ) -> MessagePage:
        """Read encoded messages, in order, of the members or of a view at a revision.

        Stops after ``limit`` messages or before ``max_bytes`` is passed, but
        reads one message at least. ``kinds`` (none: all kinds) narrows the
        members; it is never given with a view. ``after`` is found by its id, as
        order keys may change between two pages; with ``kinds`` too it is any
        member. Reading the first or last of one kind at the current revision
        costs one index look-up.

        Raises:
            AnchorNotFoundError: ``after`` is given and not in the selection at ``at``.
        """

    def places(
        self, key: BranchKey, at: int, view: int | None, message_ids: Collection[str]
    ) -> dict[str, Place]:
        """Find where messages stand in the members, or in a view, at a revision; absent ids are left out."""

    def count_between(self, key: BranchKey, at: int, view: int | None, low: int, high: int | None) -> int:
        """Count the members, or a view's, at a revision, strictly between two order keys.

        ``high`` is None for no bound. Cost: that of the rows between.
        """

    def changes(self, key: BranchKey, after_revision: int, limit: int) -> list[ChangeRow]:
        """Read up to ``limit`` change records of revisions over ``after_revision``, by revision."""

    # Forks and retention

    def order_key(self, key: BranchKey, at: int, message_id: str) -> int | None:
        """Return the order key of a message at a revision; None if the branch did not hold it."""

    def held_since(self, key: BranchKey, revision: int, message_ids: Collection[str]) -> set[str]:
        """Find which of the given ids are members at a revision or became so later; removed ones count."""

    def cut_members(self, key: BranchKey, at: int, up_to: int) -> list[CutMember]:
        """Find the members at a revision, up to an order key, whose link names one beyond it.

        By order key. Cost: that of the members up to the order key.
        """

    def branches_to_sweep(self, due: int, limit: int) -> list[BranchRow]:
        """Find up to ``limit`` branches whose ``sweep_after`` is ``due`` or earlier, earliest first."""


class WriteTransaction(ReadTransaction, Protocol):
    """A transaction that also writes. It sees its own writes."""

    @property
    def exchange(self) -> ExchangeWrites:
        """The exchange's part of it."""

    # Directory

    def insert_branch(self, branch: BranchRow, metadata_json: str) -> None:
        """Store a new branch with its metadata as of ``branch.revision``."""

    def save_head(self, branch: BranchRow) -> None:
        """Store a branch's head: the fields from ``revision`` on. The others do not change."""

    def put_metadata(self, key: BranchKey, revision: int, metadata_json: str) -> None:
        """Store the branch metadata that holds from a revision on; former versions stay."""

    def record_response(
        self, tenant_id: str, request_id: str, recorded: RecordedResponse, recorded_at: int
    ) -> None:
        """Store what a request id was used for; ``recorded_at`` in nanoseconds since the epoch."""

    def forget_responses(self, tenant_id: str, request_ids: Sequence[str]) -> None:
        """Drop what some request ids were used for."""

    def expire_responses(self, recorded_before: int, limit: int) -> int:
        """Drop up to ``limit`` recorded responses older than a time, oldest first; return how many."""

    def append_change(
        self, key: BranchKey, revision: int, kind: int, ignorable: bool, payload: bytes
    ) -> None:
        """Store a change record and stamp it with the writer's next commit position."""

    # Members

    def insert_members(self, key: BranchKey, revision: int, rows: Sequence[NewMember]) -> None:
        """Insert live rows that live from ``revision`` on, storing the bodies given as bytes.

        No id among them has a live row by then: the domain removes the former
        version first, in the same revision.
        """

    def remove_members(self, key: BranchKey, revision: int, message_ids: Collection[str]) -> None:
        """End the live rows of the given ids at ``revision``. None of them began at it."""

    def remove_all_members(self, key: BranchKey, revision: int, keep: str | None) -> None:
        """End every live row at ``revision``, except the one of ``keep``. Cost: that of the rows."""

    def order_keys_between(self, key: BranchKey, low: int, high: int) -> list[int]:
        """Return the distinct order keys in ``[low, high]`` of all rows, ended ones too, ascending."""

    def relabel(self, key: BranchKey, new_keys: Mapping[int, int]) -> None:
        """Give every row, ended ones too, whose order key is in the mapping its new key.

        As if all at once: a new key may be another's old one. Rows of equal keys
        keep equal keys.
        """

    # Views

    def begin_view(self, key: BranchKey, epoch: int) -> None:
        """Store that a view is selected from the revision ``epoch`` on."""

    def end_view(self, key: BranchKey, epoch: int, revision: int) -> None:
        """Store that the view of that epoch is not selected any more from ``revision`` on. Constant cost."""

    def insert_view_rows(
        self, key: BranchKey, epoch: int, revision: int, rows: Sequence[tuple[int, str]]
    ) -> None:
        """Insert rows (order key, message id) that live in a view from ``revision`` on."""

    def remove_view_rows(
        self, key: BranchKey, epoch: int, revision: int, message_ids: Collection[str]
    ) -> int:
        """End a view's live rows of the given ids at ``revision``; return how many there were."""

    def remove_all_view_rows(self, key: BranchKey, epoch: int, revision: int, keep: str | None) -> None:
        """End every live row of a view at ``revision``, except the one of ``keep``."""

    # Forks and retention

    def copy_members(
        self, source: BranchKey, at: int, up_to: int | None, target: BranchKey, revision: int
    ) -> CopiedRows:
        """Give a branch without members those that another of its fork tree held at a revision.

        Order keys, links and bodies stay; no body is copied. ``up_to`` is the
        greatest order key copied, None copies all. The rows live from
        ``revision`` on. Cost: that of the rows.
        """

    def copy_view(
        self, source: BranchKey, at: int, epoch: int, target: BranchKey, revision: int
    ) -> CopiedRows:
        """Begin a view in a branch, with those rows of another's view at a revision that name its members.

        The new view's epoch is ``revision``. Cost: that of the rows.
        """

    def rewrite_members(self, key: BranchKey, rows: Sequence[NewMember]) -> None:
        """Give live rows just made by ``copy_members`` another link and another body; the rest stays."""

    def save_retention(self, branch: BranchRow) -> None:
        """Store a branch's ``oldest_revision`` and ``sweep_after``."""

    def sweep(self, branch: BranchRow, limit: int) -> bool:
        """Erase some of what a branch has dropped; return whether nothing is left to erase.

        Of a deleted branch everything goes but its own row and the change
        record of its last revision. Of a living one goes what only revisions
        before its oldest show: rows ended and views let go by then, metadata
        versions replaced by then, change records of earlier revisions. Bodies
        go with the last row of the fork tree that refers to them, and their
        bytes do not stay behind in the store's files. Erases about ``limit``
        rows at most; a store without threads may erase all at once.
        """


class HistoryStore(Protocol):
    """A store of branches."""

    @property
    def shared(self) -> bool:
        """Whether other processes may write to it while this one has it open."""

    async def start(self) -> None:
        """Open the store, make or migrate its schema, start its threads.

        Raises:
            StoreCorruptError: The store cannot be read, or its schema is newer
                than this code.
        """

    async def close(self) -> None:
        """Refuse new work, finish what is queued, leave the store clean. Safe to call twice."""

    async def write(self, work: Callable[[WriteTransaction], T], *, starts_commit: bool = False) -> T:
        """Run ``work`` alone in the store and commit what it did.

        Works run one after another; a store may commit several at once. Returns
        only after the commit is on stable storage. An exception of ``work``
        undoes what that work did, leaves the others of its commit in place, and
        is raised here. A store may run a work again from the start when its
        commit conflicts with another's, so ``work`` has no effect but through
        its transaction. A caller that is cancelled does not cancel the work.
        ``starts_commit`` says that it is a large work: what came before it is
        not committed with it but answered before.

        Raises:
            OverloadedError: Too many works are queued.
            StoreBusyError: The store could not commit; nothing was done, or it
                is not known whether it was.
            ShuttingDownError: The store is closing.
        """

    async def read(self, work: Callable[[ReadTransaction], T]) -> T:
        """Run ``work`` over a consistent view that has every write answered before.

        Meant to be short; it may run beside others, in another thread.

        Raises:
            StoreBusyError: The store could not read just now.
            ShuttingDownError: The store is closing.
        """


@runtime_checkable
class MeasuredStore(Protocol):
    """A store that has figures of its own to publish."""

    def figures(self) -> Sequence[Published]:
        """Return them; they can be read from any thread, while the store is open or not."""

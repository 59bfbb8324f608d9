"""ImportBranch: a branch made whole, in one revision."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from antiphon.history.v1 import history_service_pb2 as history_pb
from history_service.domain import branches, changes, views
from history_service.domain.order_keys import GAP, SYSTEM_KEY
from history_service.domain.prepared import SYSTEM, Stamper
from history_service.storage.port import BranchKey, BranchRow, NewMember, WriteTransaction


class ImportedMessage(Protocol):
    """One message ready to be stored."""

    @property
    def message_id(self) -> str:
        """Its id."""

    @property
    def kind(self) -> int:
        """Its ``MessageKind``."""

    @property
    def link_id(self) -> str | None:
        """The other side of its action link."""

    @property
    def interim(self) -> bool:
        """Whether it is a response that does not answer."""

    @property
    def body(self) -> bytes:
        """Its encoding."""


class ImportedMessages(Protocol):
    """Messages in order, kept outside of memory; a work may be run again, so they can be read again."""

    def __len__(self) -> int:
        """Count them."""

    def batches(self) -> Iterable[Sequence[ImportedMessage]]:
        """Yield all of them, some at a time."""


class Imported(NamedTuple):
    """What a branch is made of; all rules on it have been checked."""

    metadata_json: str
    messages: ImportedMessages
    system_id: str | None
    """The first message, if that is a system record."""
    view: Sequence[str] | None
    """The selected view; None without one."""


def import_branch(
    tx: WriteTransaction, tenant_id: str, head: history_pb.ImportHead, imported: Imported, stamper: Stamper
) -> history_pb.ImportBranchResponse:
    """Make a branch at revision 1 that holds everything already.

    Raises:
        BranchExistsError: The id or the external key is taken.
        BranchDeletedError: The id was a deleted branch's.
    """
    branch_id = head.branch_id or stamper.new_id()
    external_key = head.external_key if head.HasField("external_key") else None
    branches.check_free(tx, tenant_id, branch_id, external_key)
    count = len(imported.messages)
    branch = BranchRow(
        key=BranchKey(tenant_id, branch_id, branch_id),
        incarnation=stamper.new_id(),
        created_at=stamper.clock(),
        external_key=external_key,
        message_count=count,
        last_key=GAP * (count if imported.system_id is None else count - 1),
        system_id=imported.system_id,
    )
    tx.insert_branch(branch, imported.metadata_json)
    _insert_messages(tx, branch, imported.messages)
    if imported.view is not None:
        views.begin_view(tx, branch, imported.view)
        tx.save_head(branch)
    changes.record(tx, branch, changes.ChangeKind.BRANCH_CREATED)
    return history_pb.ImportBranchResponse(branch=branches.describe(tx, branch, branch.revision))


def _insert_messages(tx: WriteTransaction, branch: BranchRow, messages: ImportedMessages) -> None:
    order_key = SYSTEM_KEY
    for batch in messages.batches():
        rows = []
        for message in batch:
            if message.kind != SYSTEM:
                order_key += GAP
            rows.append(
                NewMember(
                    message.message_id,
                    SYSTEM_KEY if message.kind == SYSTEM else order_key,
                    message.kind,
                    message.link_id,
                    message.interim,
                    message.body,
                )
            )
        tx.insert_members(branch.key, branch.revision, rows)
